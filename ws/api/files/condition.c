/* ETags are compared as text, dates to the second. */
#include "ws/api/files/condition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void condition_etag(const struct stat *st, char ret_tag[CONDITION_ETAG_SIZE])
{
	snprintf(ret_tag, CONDITION_ETAG_SIZE, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"",
		(uint64_t)st->st_ino, (uint64_t)st->st_size,
		(uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec);
}

void condition_date(const struct stat *st, char ret_date[CONDITION_DATE_SIZE])
{
	struct tm tm;
	if (!gmtime_r(&st->st_mtim.tv_sec, &tm) ||
		strftime(ret_date, CONDITION_DATE_SIZE, "%a, %d %b %Y %H:%M:%S GMT", &tm) == 0)
		ret_date[0] = '\0';
}

/* Parse an IMF-fixdate (RFC 9110 5.6.7). The obsolete formats count as absent. */
static bool parse_date(const char *text, time_t *ret_time)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (!end || *end)
		return false;
	*ret_time = timegm(&tm);
	return true;
}

/* Whether a list of ETags has this one. weak: ignore W/; otherwise a weak tag never matches. */
static bool lists_tag(const char *list, const char *tag, bool weak)
{
	size_t length = strlen(tag);
	while (*list) {
		list += strspn(list, " \t,");
		bool is_weak = strncmp(list, "W/", 2) == 0;
		const char *quoted = list + (is_weak ? 2 : 0);
		const char *end = *quoted == '"' ? strchr(quoted + 1, '"') : NULL;
		if (!end)
			return false;
		if ((size_t)(end + 1 - quoted) == length && strncmp(quoted, tag, length) == 0 &&
			(weak || !is_weak))
			return true;
		list = end + 1;
	}
	return false;
}

static bool matches(const char *header, const struct stat *st, bool weak)
{
	char tag[CONDITION_ETAG_SIZE];
	if (strcmp(header, "*") == 0)
		return st != NULL;
	if (!st)
		return false;
	condition_etag(st, tag);
	return lists_tag(header, tag, weak);
}

enum condition condition_check(const struct request *r, const struct stat *st, bool reads)
{
	const char *match = r->headers[HEADER_IF_MATCH], *none = r->headers[HEADER_IF_NONE_MATCH];
	const char *since = r->headers[HEADER_IF_MODIFIED_SINCE];
	const char *before = r->headers[HEADER_IF_UNMODIFIED_SINCE];
	time_t date;
	/* The order of RFC 9110 13.2.2. */
	if (match && !matches(match, st, false))
		return CONDITION_FAILED;
	if (!match && before && parse_date(before, &date) && (!st || st->st_mtim.tv_sec > date))
		return CONDITION_FAILED;
	if (none && matches(none, st, true))
		return reads ? CONDITION_NOT_MODIFIED : CONDITION_FAILED;
	if (!none && since && reads && st && parse_date(since, &date) && st->st_mtim.tv_sec <= date)
		return CONDITION_NOT_MODIFIED;
	return CONDITION_MET;
}

/* Parse up to 18 digits. Returns the text after them, or NULL. */
static const char *parse_number(const char *text, uint64_t *ret)
{
	uint64_t n = 0;
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > 18)
		return NULL;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (uint64_t)(text[i] - '0');
	*ret = n;
	return text + digits;
}

enum condition_range condition_parse_range(
	const char *text, uint64_t size, uint64_t *ret_first, uint64_t *ret_end)
{
	uint64_t first, last;
	if (strncmp(text, "bytes=", 6) != 0)
		return CONDITION_WHOLE;
	text += 6;
	if (*text == '-') {
		text = parse_number(text + 1, &last);
		if (!text || *text)
			return CONDITION_WHOLE;
		if (last == 0 || size == 0)
			return CONDITION_UNSATISFIABLE;
		*ret_first = last < size ? size - last : 0;
		*ret_end = size;
		return CONDITION_PART;
	}
	text = parse_number(text, &first);
	if (!text || *text++ != '-')
		return CONDITION_WHOLE;
	last = UINT64_MAX - 1;
	if (*text && (!(text = parse_number(text, &last)) || *text || last < first))
		return CONDITION_WHOLE;
	if (first >= size)
		return CONDITION_UNSATISFIABLE;
	*ret_first = first;
	*ret_end = last < size ? last + 1 : size;
	return CONDITION_PART;
}

enum condition_range condition_find_range(const struct request *r, const struct stat *st,
	uint64_t size, uint64_t *ret_first, uint64_t *ret_end)
{
	const char *range = r->headers[HEADER_RANGE], *same = r->headers[HEADER_IF_RANGE];
	char tag[CONDITION_ETAG_SIZE], date[CONDITION_DATE_SIZE];
	condition_etag(st, tag);
	condition_date(st, date);
	if (!range || (same && strcmp(same, tag) != 0 && strcmp(same, date) != 0))
		return CONDITION_WHOLE;
	return condition_parse_range(range, size, ret_first, ret_end);
}
