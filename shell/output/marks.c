/*
 * See marks.h. Bytes from an ESC on are held back as long as they may become a mark; otherwise they
 * are passed on as text. An invalid field of a mark is ignored.
 */
#include "shell/output/marks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTRODUCER "\033]133;"
#define INTRODUCER_LENGTH (sizeof INTRODUCER - 1)

/* Whether text begins with the given field, up to a ';' or the end. */
static bool is_field(const char *text, const char *field)
{
	size_t length = strlen(field);
	return strncmp(text, field, length) == 0 && (text[length] == ';' || text[length] == '\0');
}

static const char *next_field(const char *text)
{
	text = strchr(text, ';');
	return text ? text + 1 : NULL;
}

static bool parse_kind(const char *text, struct mark *mark)
{
	static const struct {
		const char *name;
		enum mark_kind kind;
	} kinds[] = {{"A", MARK_PROMPT}, {"B", MARK_INPUT}, {"C", MARK_START}, {"D", MARK_END},
		{"P;k=s", MARK_CONTINUATION}, {"P;k=e", MARK_CONTINUED}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (!is_field(text, kinds[i].name))
			continue;
		mark->kind = kinds[i].kind;
		return true;
	}
	return false;
}

/* Parse an exit status. Returns -1 if it is invalid. */
static int parse_status(const char *field, size_t length)
{
	unsigned status = 0;
	if (length == 0 || length > 3)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (field[i] < '0' || field[i] > '9')
			return -1;
		status = 10 * status + (unsigned)(field[i] - '0');
	}
	return status <= 255 ? (int)status : -1;
}

uint64_t marks_time(const char *text)
{
	static const char digits[] = "0123456789";
	size_t length = strspn(text, digits);
	if (length == 0 || length > 10 || (text[length] != '.' && text[length] != ','))
		return 0;
	const char *fraction = text + length + 1;
	uint64_t seconds = strtoull(text, NULL, 10);
	if (seconds > UINT32_MAX || strspn(fraction, digits) != 6)
		return 0;
	return seconds * 1000000 + strtoull(fraction, NULL, 10);
}

/* Parse the text between the introducer and BEL. Returns whether it is a mark with this nonce. */
static bool parse(const char *text, const char *nonce, struct mark *mark)
{
	bool is_ours = false;
	mark->status = -1;
	mark->time_us = 0;
	mark->id[0] = mark->seal[0] = '\0';
	if (!parse_kind(text, mark))
		return false;
	for (const char *field = next_field(text); field; field = next_field(field)) {
		size_t length = strcspn(field, ";");
		if (strncmp(field, "aid=", 4) == 0)
			is_ours = strlen(nonce) == length - 4 &&
				strncmp(field + 4, nonce, length - 4) == 0;
		else if (strncmp(field, "id=", 3) == 0 && length - 3 <= RECORD_ID_MAX)
			snprintf(mark->id, sizeof mark->id, "%.*s", (int)(length - 3), field + 3);
		else if (strncmp(field, "q=", 2) == 0 && length - 2 <= RECORD_SEAL_MAX)
			snprintf(mark->seal, sizeof mark->seal, "%.*s", (int)(length - 2),
				field + 2);
		else if (strncmp(field, "t=", 2) == 0)
			mark->time_us = marks_time(field + 2);
		else if (mark->kind == MARK_END && mark->status < 0)
			mark->status = parse_status(field, length);
	}
	return is_ours;
}

/* Add one byte. Returns 1 if the mark is complete, 0 if it goes on, -1 if it is not a mark. */
static int add_byte(struct marks *m, char byte, const char *nonce, struct mark *mark)
{
	if (m->length < INTRODUCER_LENGTH && byte != INTRODUCER[m->length])
		return -1;
	if (m->length >= INTRODUCER_LENGTH && byte == '\a') {
		m->text[m->length] = '\0';
		return parse(m->text + INTRODUCER_LENGTH, nonce, mark) ? 1 : -1;
	}
	if (m->length == MARK_MAX || (m->length > 0 && (byte < ' ' || byte > '~')))
		return -1;
	m->text[m->length++] = byte;
	return 0;
}

/* Handle one byte while bytes are held back. Returns false if the byte must be parsed again. */
static bool continue_mark(struct marks *m, const char *nonce, uint64_t offset, char byte,
	const struct marks_callbacks *callbacks)
{
	struct mark mark;
	int rc = add_byte(m, byte, nonce, &mark);
	if (rc == 0)
		return true;
	size_t held = m->length;
	m->length = 0;
	if (rc < 0) {
		callbacks->text(callbacks->user, m->start, m->text, held);
		return false; /* the byte may begin another mark */
	}
	mark.start = m->start;
	mark.end = offset + 1;
	callbacks->mark(callbacks->user, &mark);
	return true;
}

/* Pass on text up to the next ESC, which is held back. Returns the number of bytes consumed. */
static size_t pass_text(struct marks *m, uint64_t offset, const char *text, size_t length,
	const struct marks_callbacks *callbacks)
{
	const char *escape = memchr(text, '\033', length);
	size_t end = escape ? (size_t)(escape - text) : length;
	if (end > 0)
		callbacks->text(callbacks->user, offset, text, end);
	if (!escape)
		return end;
	m->start = offset + end;
	m->text[m->length++] = '\033';
	return end + 1;
}

void marks_feed(struct marks *m, const char *nonce, uint64_t offset, const void *bytes,
	size_t length, const struct marks_callbacks *callbacks)
{
	const char *text = bytes;
	for (size_t i = 0; i < length;) {
		if (m->length > 0)
			i += continue_mark(m, nonce, offset + i, text[i], callbacks);
		else
			i += pass_text(m, offset + i, text + i, length - i, callbacks);
	}
}
