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

/* Read once. Returns the body when the answer has come whole, otherwise NULL. */
const char *web_read(struct web *w);

/* Wait for the answer, for a minute at most. Returns its body. */
const char *web_wait(struct web *w);

/* Ask and wait; the body has to contain a text. Returns how long it took, microseconds. */
double web_ask_us(struct web *w, const char *path, const char *body, const char *expected);
