/*
 * Filters header fields between the client of a preview and the program, in both directions. Pure.
 *
 * Ringside's cookies and tokens never reach the program, and the program's fields must not affect Ringside's origin: in the
 * path form, which has that origin, only fields that describe the body pass.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PASS_TEXT_MAX ((size_t)192 << 10)

/* A growing text of at most PASS_TEXT_MAX bytes. Zeroed: empty. */
struct pass_text {
	char *bytes; /* owned by the caller */
	size_t length, size;
	bool failed; /* something did not fit, or memory was short */
};

/* Append a string. */
void pass_add(struct pass_text *t, const char *text);

/* Append bytes. */
void pass_add_bytes(struct pass_text *t, const char *bytes, size_t length);

/* Append "name: value\r\n". */
void pass_field(struct pass_text *t, const char *name, const char *value);

/* The request that is forwarded. All texts are borrowed. */
struct pass {
	unsigned port;
	bool by_path;           /* "/proxy/PORT/…" */
	const char *scheme;     /* "http" or "https", as the browser sees it */
	const char *host;       /* host and port, as the browser sees them */
	const char *connection; /* all values of Connection, separated by commas */
};

/* Write a field of a request, changed or not, or drop it. name: lower case. */
void pass_request_field(
	struct pass_text *t, const struct pass *p, const char *name, const char *value);

/* Write a field of an answer, changed or not, or drop it. name: lower case. */
void pass_answer_field(
	struct pass_text *t, const struct pass *p, const char *name, const char *value);

/* Write the additional fields of an answer. has_policy: the program sent a Referrer-Policy. */
void pass_answer_extra(struct pass_text *t, const struct pass *p, bool has_policy);
