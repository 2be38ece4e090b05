/* Conditional requests and ranges (RFC 9110 13 and 14). Pure. */
#pragma once

#include "ws/request.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define CONDITION_ETAG_SIZE 80u
#define CONDITION_DATE_SIZE 32u

/* The strong ETag of a file, in quotes: inode, size and time of modification. */
void condition_etag(const struct stat *st, char ret_tag[CONDITION_ETAG_SIZE]);

/* The Last-Modified date of a file; "" if it cannot be formatted. */
void condition_date(const struct stat *st, char ret_date[CONDITION_DATE_SIZE]);

/* The result of the If-* headers. */
enum condition {
	CONDITION_MET,
	CONDITION_FAILED,       /* 412 */
	CONDITION_NOT_MODIFIED, /* 304: the client has the current content */
};

/* Evaluate the If-* headers. st: of the file; NULL: no file. reads: GET or HEAD. */
enum condition condition_check(const struct request *r, const struct stat *st, bool reads);

/* The result of a Range header. */
enum condition_range {
	CONDITION_WHOLE,         /* no range, an invalid one, several, or If-Range does not match */
	CONDITION_PART,          /* 206 */
	CONDITION_UNSATISFIABLE, /* 416: it begins at or after the end */
};

/* Evaluate Range and If-Range for a file of size bytes. CONDITION_PART: [*ret_first, *ret_end). */
enum condition_range condition_find_range(const struct request *r, const struct stat *st,
	uint64_t size, uint64_t *ret_first, uint64_t *ret_end);

/* The same for the value of a Range header alone. */
enum condition_range condition_parse_range(
	const char *text, uint64_t size, uint64_t *ret_first, uint64_t *ret_end);
