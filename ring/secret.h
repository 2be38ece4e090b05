/*
 * Secret: hides a secret text, such as the nonce in the shell's marks, from readers of the output. It keeps
 * the ranges of the output that contain the text, and overwrites them in copies.
 */
#pragma once

#include "ring/queries.h"
#include "ring/stream.h"

#include <stddef.h>
#include <stdint.h>

/* Length of a secret in bytes. */
#define SECRET_MIN 16u
#define SECRET_MAX 64u
/* The byte that replaces each of its bytes. */
#define SECRET_REDACTED '*'

/* A secret and where it is. Zeroed: there is none, and nothing is hidden. */
struct secret {
	const char *text; /* borrowed; NULL: none */
	size_t length;
	struct queries ranges; /* that contain it */
};

/* Free the ranges. */
void secret_finish(struct secret *s);

/* Set the text: borrowed, SECRET_MIN to SECRET_MAX characters. */
void secret_set(struct secret *s, const char *text);

/*
 * Forget all ranges, because the output is read again from offset on. If the output begins inside the secret there, hide
 * the rest of the secret. A very short rest is harmless.
 */
void secret_restart(struct secret *s, const struct stream *output, uint64_t offset);

/*
 * Find the secret in length bytes of output that begin at offset, and hide it from `from` on: earlier bytes were served
 * already. To find a secret that begins before `from`, start the bytes up to s->length - 1 before it.
 */
void secret_find(
	struct secret *s, uint64_t offset, const uint8_t *bytes, size_t length, uint64_t from);

/* Forget the ranges before offset. */
void secret_trim(struct secret *s, uint64_t offset);

/* Overwrite the secret in a copy of length bytes that begin at offset. */
void secret_redact(const struct secret *s, uint64_t offset, uint8_t *bytes, size_t length);
