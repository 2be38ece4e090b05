/*
 * Input that the server has not confirmed yet. The server counts the bytes of a client over all its
 * connections to a session, so on a new connection the missing ones are sent again, and none
 * arrives twice (ws/README.md, the terminal socket). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DELIVERY_MAX 65536u /* bytes kept; older ones are not sent again */

/* Zeroed: no input yet. */
struct delivery {
	uint64_t taken; /* bytes of this session's input that have arrived */
	uint64_t from;  /* offset of bytes[0] in the input; at least taken */
	size_t length;  /* bytes kept */
	char bytes[DELIVERY_MAX];
};

/* Start anew, for another session. */
void delivery_clear(struct delivery *d);

/* Keep bytes that are sent now or after delivery_resume(). */
void delivery_add(struct delivery *d, const char *bytes, size_t length);

/* The server has confirmed that this many bytes have arrived. */
void delivery_receipt(struct delivery *d, uint64_t taken);

/*
 * On a new connection: taken bytes have arrived by earlier ones; known: false if the server cannot
 * say that. The bytes kept afterwards must be sent again; none are if they could arrive twice or
 * out of order. Returns whether input is lost, or may be.
 */
bool delivery_resume(struct delivery *d, bool known, uint64_t taken);

/* Drop the kept bytes. Returns whether there were any. */
bool delivery_forget(struct delivery *d);
