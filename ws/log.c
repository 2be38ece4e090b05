#include "ws/log.h"

#include "shell/clock.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048

static enum log_level lowest = LOG_INFO;

void log_set_level(enum log_level level)
{
	lowest = level;
}

struct line {
	char text[LINE_MAX_BYTES];
	size_t length;
};

static void put(struct line *l, char c)
{
	if (l->length < sizeof l->text - 1)
		l->text[l->length++] = c;
}

static void put_text(struct line *l, const char *text)
{
	while (*text)
		put(l, *text++);
}

/* Bytes at p that may be written as they are: one character of UTF-8 that is no control; 0 if it is none. */
static size_t printable(const unsigned char *p)
{
	size_t size = p[0] < 0x80 ? 1
		: p[0] < 0xc2     ? 0
		: p[0] < 0xe0     ? 2
		: p[0] < 0xf0     ? 3
		: p[0] < 0xf5     ? 4
				  : 0;
	for (size_t i = 1; i < size; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* C0, DEL, and C1, which terminals obey too. */
	bool control = p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
	return control ? 0 : size;
}

/* A value, quoted unless it is a plain word. */
static void put_value(struct line *l, const char *value)
{
	static const char hex[] = "0123456789abcdef";
	bool plain = *value && strcspn(value, " \"=\\\t\r\n") == strlen(value);
	const unsigned char *p = (const unsigned char *)value;
	if (!plain)
		put(l, '"');
	while (*p) {
		size_t size = printable(p);
		if (*p == '"' || *p == '\\')
			put(l, '\\');
		if (size == 0) {
			put_text(l, "\\x");
			put(l, hex[*p >> 4]);
			put(l, hex[*p & 15]);
			p++;
		}
		for (; size > 0; size--)
			put(l, (char)*p++);
	}
	if (!plain)
		put(l, '"');
}

void log_write(enum log_level level, const char *module, const char *message, ...)
{
	static const char *const names[] = {"debug", "info", "warn", "error"};
	struct line l = {.length = 0};
	char now[CLOCK_TEXT_SIZE];
	va_list pairs;
	if (level < lowest)
		return;
	clock_format(clock_wall_ms(), now);
	put_text(&l, "ts=");
	put_text(&l, now);
	put_text(&l, " level=");
	put_text(&l, names[level]);
	put_text(&l, " module=");
	put_text(&l, module);
	put_text(&l, " msg=");
	put_value(&l, message);
	va_start(pairs, message);
	for (const char *key; (key = va_arg(pairs, const char *));) {
		put(&l, ' ');
		put_text(&l, key);
		put(&l, '=');
		put_value(&l, va_arg(pairs, const char *));
	}
	va_end(pairs);
	l.text[l.length++] = '\n';
	(void)!write(
		STDERR_FILENO, l.text, l.length); /* there is nowhere to say that logging failed */
}
