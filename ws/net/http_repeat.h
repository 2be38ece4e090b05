/* Heads of requests that are asked again, of another server or in another form. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What is different in the new head. */
struct http_repeat {
	const char *method, *target; /* NULL: the same */
	bool has_body;               /* a body of body_length bytes follows */
	size_t body_length;
};

/*
 * Copy a valid head, without fields about the body's framing (Content-Length, Transfer-Encoding, Expect), and with a
 * Content-Length if there is a body. Returns *ret_length bytes, owned by the caller; NULL when memory is short or the head is
 * not valid.
 */
char *http_repeat_head(
	const char *head, size_t length, const struct http_repeat *change, size_t *ret_length);
