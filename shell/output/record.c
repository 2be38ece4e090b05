/*
 * See record.h. Bytes are collected up to an RS; a record that is too long is dropped. Anything
 * that is not a record with the nonce is counted and ignored.
 */
#include "shell/output/record.h"

#include "shell/output/marks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_SEPARATOR '\x1f'
#define RECORD_SEPARATOR '\x1e'
#define FIELDS_MAX 9u
#define SEAL_FIELD ";q="

static bool parse_number(const char *text, long max, long *ret_number)
{
	char *end;
	long n = strtol(text, &end, 10);
	if (end == text || *end || text[0] < '0' || text[0] > '9' || n > max)
		return false;
	*ret_number = n;
	return true;
}

static bool parse_statuses(struct record *record, char *text)
{
	char *rest = text;
	record->statuses_count = 0;
	if (text[0] == '\0')
		return true; /* unknown */
	for (char *word; (word = strsep(&rest, " "));) {
		long n;
		if (!parse_number(word, 255, &n) || record->statuses_count == RECORD_STATUSES_MAX)
			return false;
		record->statuses[record->statuses_count++] = (uint8_t)n;
	}
	return true;
}

static bool parse_id(struct record *record, const char *text)
{
	const char *seal = strstr(text, SEAL_FIELD);
	size_t length = seal ? (size_t)(seal - text) : strlen(text);
	if (length > RECORD_ID_MAX || (seal && strlen(seal) - strlen(SEAL_FIELD) > RECORD_SEAL_MAX))
		return false;
	memcpy(record->id, text, length);
	record->id[length] = '\0';
	if (seal)
		snprintf(record->seal, sizeof record->seal, "%s", seal + strlen(SEAL_FIELD));
	return true;
}

static size_t split(char *text, char *fields[FIELDS_MAX])
{
	size_t count = 0;
	for (char *rest = text; rest && count < FIELDS_MAX;) {
		char *end = strchr(rest, UNIT_SEPARATOR);
		fields[count++] = rest;
		if (end)
			*end++ = '\0';
		rest = end;
	}
	return count;
}

static enum record_outlet parse_outlet(const char *text)
{
	if (strcmp(text, "late") == 0)
		return RECORD_OUTLET_PENDING;
	return strcmp(text, "away") == 0 ? RECORD_OUTLET_REDIRECTED : RECORD_OUTLET_TERMINAL;
}

static bool parse(char *text, const char *nonce, struct record *record)
{
	char *fields[FIELDS_MAX];
	long n;
	size_t count = split(text, fields);
	if (count < 4 || fields[0][0] == '\0' || fields[0][1] != '\0' ||
		strcmp(fields[1], nonce) != 0)
		return false;
	*record = (struct record){.cwd = "", .line = "", .editor = ""};
	switch (fields[0][0]) {
	case 'P':
		record->kind = RECORD_PROMPT;
		/* fish sends neither the time nor what follows it. */
		if (count < 5 || !parse_number(fields[2], 255, &n) || !parse_id(record, fields[3]))
			return false;
		if (count >= 6 && !parse_statuses(record, fields[5]))
			record->statuses_count = 0; /* the pipeline is too long */
		if (count >= 7)
			record->time_us = marks_time(fields[6]);
		if (count >= 8)
			record->editor = fields[7];
		if (count == 9)
			record->outlet = parse_outlet(fields[8]);
		record->cwd = fields[4];
		record->status = (int)n;
		return true;
	case 'C':
		record->kind = RECORD_START;
		if (count != 4 || !parse_id(record, fields[2]) ||
			!parse_number(fields[3], INT_MAX, &n))
			return false;
		record->half_typed = (size_t)n;
		return true;
	case 'L':
		record->kind = RECORD_LINE;
		record->line = count == 4 ? fields[3] : "";
		return count == 4 && !strchr(record->line, UNIT_SEPARATOR);
	case 'S':
		record->kind = RECORD_STATE;
		return count == 4 && parse_id(record, fields[2]);
	case 'X':
		record->kind = RECORD_EXIT;
		if (count != 5 || !parse_number(fields[2], 255, &n) || !parse_id(record, fields[3]))
			return false;
		record->time_us = marks_time(fields[4]);
		record->status = (int)n;
		return true;
	case 'D':
		record->kind = RECORD_END;
		record->cwd = count >= 6 ? fields[5] : "";
		record->outlet = count == 7 ? parse_outlet(fields[6]) : RECORD_OUTLET_TERMINAL;
		if (count < 6 || count > 7 || !parse_id(record, fields[2]) ||
			!parse_number(fields[3], 255, &n) || !parse_statuses(record, fields[4]))
			return false;
		record->status = (int)n;
		return true;
	default:
		return false;
	}
}

static void end_record(struct record_reader *r, const char *nonce,
	void (*found)(void *user, const struct record *record), void *user)
{
	struct record record;
	r->text[r->length] = '\0';
	bool is_complete = !r->overflow && strlen(r->text) == r->length;
	r->length = 0;
	r->overflow = false;
	if (is_complete && parse(r->text, nonce, &record))
		found(user, &record);
	else
		r->invalid_records++;
}

void record_feed(struct record_reader *r, const char *nonce, const void *bytes, size_t length,
	void (*found)(void *user, const struct record *record), void *user)
{
	const char *text = bytes;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == RECORD_SEPARATOR)
			end_record(r, nonce, found, user);
		else if (r->length < RECORD_MAX)
			r->text[r->length++] = text[i];
		else
			r->overflow = true;
	}
}
