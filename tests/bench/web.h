/* A kept HTTP connection, and the answers that come on it, one at a time. A failure ends the benchmark. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct web {
	int fd;
	unsigned port;
	char *answer; /* what has come of it, and a NUL; head and body */
	size_t length;
};

void web_open(struct web *w, unsigned port);
void web_close(struct web *w);

/* Send a POST. headers: further ones, each with its CR LF, or "". body: JSON. */
void web_ask(struct web *w, const char *path, const char *headers, const char *body);

/* The same by another method; body: of the request, any text. */
void web_send(
	struct web *w, const char *method, const char *path, const char *headers, const char *body);

/* Read until a text has come after the request, in what has not been looked at yet. */
void web_wait_text(struct web *w, const char *text);

/* Read until the answer's head has come, which has to be 200. Returns how long its body is; *ret_body: how much of that has come. */
size_t web_head(struct web *w, size_t *ret_body);

/* Read once. Returns the body when the answer has come whole, otherwise NULL. */
const char *web_read(struct web *w);

/* Wait for the answer, for a minute at most. Returns its body. */
const char *web_wait(struct web *w);

/* Ask and wait; the body has to contain a text. Returns how long it took, microseconds. */
double web_ask_us(struct web *w, const char *path, const char *body, const char *expected);

/* The same by another method. */
double web_request_us(struct web *w, const char *method, const char *path, const char *body,
	const char *expected);
