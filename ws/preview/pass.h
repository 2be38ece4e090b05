/*
 * What goes on of the headers between who asks for a preview and the program that answers, in both directions. Pure.
 *
 * Nothing of Ringside's own goes to the program: not its cookies, not its tokens. Nothing of the program's may work on
 * Ringside: by the path form, whose origin is Ringside's, only headers that describe the body pass.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A text that grows, up to PASS_TEXT_MAX; what did not fit, or had no memory, is remembered. Zero is an empty one. */
#define PASS_TEXT_MAX ((size_t)192 << 10)
struct pass_text {
	char *bytes; /* owned by who has it */
	size_t length, size;
	bool failed;
};
void pass_add(struct pass_text *t, const char *text);
void pass_add_bytes(struct pass_text *t, const char *bytes, size_t length);
/* "name: value\r\n" */
void pass_field(struct pass_text *t, const char *name, const char *value);

/* Of one request. All texts are borrowed. */
struct pass {
	unsigned port;
	bool by_path;           /* "/proxy/PORT/…" */
	const char *scheme;     /* "http" or "https": as the browser has it */
	const char *host;       /* what it has for a host, with a port */
	const char *connection; /* what Connection lists, of all its fields: a comma between them */
};

/* Write a field of a request, or nothing of it. name: small letters. */
void pass_request_field(
	struct pass_text *t, const struct pass *p, const char *name, const char *value);

/* The same of an answer. */
void pass_answer_field(
	struct pass_text *t, const struct pass *p, const char *name, const char *value);

/* What an answer has besides; has_policy: the program says itself what a Referer may tell. */
void pass_answer_more(struct pass_text *t, const struct pass *p, bool has_policy);
