/* Conditions and parts of a file that a request asks for (RFC 9110 13, 14). Pure. */
#pragma once

#include "ws/request.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define CONDITION_TAG_SIZE 80u
#define CONDITION_DATE_SIZE 32u

/* What tells one content of a file from another: its ETag, strong, in quotes; and when it was changed, as HTTP writes it. */
void condition_tag(const struct stat *st, char ret_tag[CONDITION_TAG_SIZE]);
void condition_date(const struct stat *st, char ret_date[CONDITION_DATE_SIZE]);

enum condition {
	CONDITION_MET,
	CONDITION_FAILED, /* 412 */
	CONDITION_SAME,   /* 304: what they have is what there is */
};

/* st: of the file; NULL: there is none. reads: GET or HEAD. */
enum condition condition_check(const struct request *r, const struct stat *st, bool reads);

enum condition_range {
	CONDITION_WHOLE, /* no range, one that makes no sense, more than one, or of another content */
	CONDITION_PART,
	CONDITION_NO_PART, /* 416: it begins behind the end */
};

/* Which part of a file of so many bytes is wanted: [*ret_first, *ret_end). */
enum condition_range condition_part(const struct request *r, const struct stat *st, uint64_t size,
	uint64_t *ret_first, uint64_t *ret_end);

/* The same of the text of a Range header. */
enum condition_range condition_parse_range(
	const char *text, uint64_t size, uint64_t *ret_first, uint64_t *ret_end);
