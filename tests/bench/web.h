/* A persistent HTTP connection, with one request at a time. A failure ends the benchmark. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct web {
	int fd;
	unsigned port;
	char *answer; /* the part received: head and body, and a NUL */
	size_t length;
};

void web_open(struct web *w, unsigned port);
void web_close(struct web *w);

/* Send a POST. headers: further ones, each ends with CR LF, or "". body: JSON. */
void web_ask(struct web *w, const char *path, const char *headers, const char *body);

/* The same with another method. body: any text. */
void web_send(
	struct web *w, const char *method, const char *path, const char *headers, const char *body);

/* Read until a text comes after the request, beyond what earlier calls have read. */
void web_wait_text(struct web *w, const char *text);

/*
 * Read until the answer's head is complete; the status must be 200. Returns the length of the body; *ret_body: how much
 * of it has been received.
 */
size_t web_head(struct web *w, size_t *ret_body);

/* Read once. Returns the body if the answer is complete, otherwise NULL. */
const char *web_read(struct web *w);

/* Wait for the answer, at most a minute. Returns its body. */
const char *web_wait(struct web *w);

/* Send a request and wait; the body must contain a text. Returns the time in microseconds. */
double web_ask_us(struct web *w, const char *path, const char *body, const char *expected);

/* The same with another method. */
double web_request_us(struct web *w, const char *method, const char *path, const char *body,
	const char *expected);
