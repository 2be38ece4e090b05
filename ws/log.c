#include "ws/log.h"

#include "shell/clock.h"
#include "shell/name.h"

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

/* Bytes at p that may be written as they are: a character that is no control (C0, DEL, C1), else 0. */
static size_t printable(const unsigned char *p)
{
	uint32_t code = 0;
	size_t size = name_decode(p, &code);
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ? 0 : size;
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
