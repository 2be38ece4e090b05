/* Formats log lines, and escapes values so that they cannot forge another line. */
#include "ws/log.h"

#include "ring/utf8.h"
#include "shell/clock.h"
#include "shell/id.h"
#include "ws/log_sink.h"
#include "ws/text.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048
#define DIGEST_BYTES 8u /* shown */

static enum log_level lowest = LOG_INFO;
static struct log_sink sink = {.fd = STDERR_FILENO};
static uint64_t dropped_reported; /* dropped lines that a later line has reported */
static bool commands_shown;
static unsigned char digest_key[16];
static bool has_key;

void log_set_level(enum log_level level)
{
	lowest = level;
}

struct line {
	char text[LINE_MAX_BYTES];
	size_t length;
};

static void put_char(struct line *l, char c)
{
	if (l->length < sizeof l->text - 1)
		l->text[l->length++] = c;
}

static void put_text(struct line *l, const char *text)
{
	while (*text)
		put_char(l, *text++);
}

/* Length of the character at p if it is visible and neither a control nor reordering text; otherwise 0. */
static size_t printable(const unsigned char *p)
{
	uint32_t code = 0;
	size_t size = utf8_decode(p, UTF8_MAX, &code);
	return code < 0x20 || utf8_is_hidden(code) ? 0 : size;
}

/* Write a value, quoted unless it is a plain word. */
static void put_value(struct line *l, const char *value)
{
	static const char hex[] = "0123456789abcdef";
	bool plain = *value && strcspn(value, " \"=\\\t\r\n") == strlen(value);
	const unsigned char *p = (const unsigned char *)value;
	if (!plain)
		put_char(l, '"');
	while (*p) {
		size_t size = printable(p);
		if (*p == '"' || *p == '\\')
			put_char(l, '\\');
		if (size == 0) {
			put_text(l, "\\x");
			put_char(l, hex[*p >> 4]);
			put_char(l, hex[*p & 15]);
			p++;
		}
		for (; size > 0; size--)
			put_char(l, (char)*p++);
	}
	if (!plain)
		put_char(l, '"');
}

void log_open(void)
{
	log_sink_open(&sink, STDERR_FILENO);
}

void log_flush(void)
{
	log_sink_flush(&sink);
}

uint64_t log_dropped(void)
{
	return sink.dropped;
}

void log_set_commands(bool shown)
{
	commands_shown = shown;
}

void log_command(const char *command, char ret_text[LOG_COMMAND_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned size = 0;
	size_t length = strlen(command);
	if (commands_shown) {
		size_t most = LOG_COMMAND_SIZE - 1;
		size_t shown = length <= most ? length : most - utf8_incomplete(command, most);
		snprintf(ret_text, LOG_COMMAND_SIZE, "%.*s", (int)shown, command);
		return;
	}
	has_key = has_key || id_random(digest_key, sizeof digest_key) == 0;
	int n = snprintf(ret_text, LOG_COMMAND_SIZE, "%zu bytes", length);
	if (!has_key ||
		!HMAC(EVP_sha256(), digest_key, sizeof digest_key, (const unsigned char *)command,
			length, digest, &size))
		return;
	n += snprintf(ret_text + n, LOG_COMMAND_SIZE - (size_t)n, " digest ");
	for (unsigned i = 0; i < DIGEST_BYTES; i++)
		n += snprintf(ret_text + n, LOG_COMMAND_SIZE - (size_t)n, "%02x", digest[i]);
}

static void begin_line(struct line *l, enum log_level level, const char *module, const char *message)
{
	static const char *const names[] = {"debug", "info", "warn", "error"};
	char now[CLOCK_TEXT_SIZE];
	clock_format(clock_wall_ms(), now);
	l->length = 0;
	put_text(l, "ts=");
	put_text(l, now);
	put_text(l, " level=");
	put_text(l, names[level]);
	put_text(l, " module=");
	put_text(l, module);
	put_text(l, " msg=");
	put_value(l, message);
}

static bool end_line(struct line *l)
{
	l->text[l->length++] = '\n';
	return log_sink_write(&sink, l->text, l->length);
}

/* Report dropped lines once the sink accepts lines again. */
static void report_dropped(void)
{
	struct line l;
	char number[24];
	uint64_t dropped = sink.dropped;
	log_sink_flush(&sink);
	if (dropped == dropped_reported || sink.count > 0)
		return;
	begin_line(&l, LOG_WARN, "log", "lines were dropped because standard error was not read");
	snprintf(number, sizeof number, "%" PRIu64, dropped - dropped_reported);
	put_text(&l, " lines=");
	put_text(&l, number);
	if (end_line(&l))
		dropped_reported = dropped;
	else
		sink.dropped = dropped; /* do not count this line itself */
}

void log_write(enum log_level level, const char *module, const char *message, ...)
{
	struct line l;
	va_list pairs;
	if (level < lowest)
		return;
	report_dropped();
	begin_line(&l, level, module, message);
	va_start(pairs, message);
	for (const char *key; (key = va_arg(pairs, const char *));) {
		put_char(&l, ' ');
		put_text(&l, key);
		put_char(&l, '=');
		put_value(&l, va_arg(pairs, const char *));
	}
	va_end(pairs);
	end_line(&l); /* a line that cannot be written is counted as dropped */
}
