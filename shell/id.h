/* Random bytes, and the ids that are made of them: one source, the kernel's, and nobody goes on without. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ID_STAMPED_SIZE 64u /* of what id_stamped() writes, for a word of 16 characters */

/* Fill bytes with random ones. Returns 0 or a negative errno; then bytes are not to be used. */
int id_random(void *bytes, size_t size);

/*
 * Write count random digits of a base, 2 to 36, and NUL to text: 4 random bits for each hexadecimal one.
 * Returns 0 or a negative errno; text is empty then.
 */
int id_digits(char *ret_text, size_t count, unsigned base);

/* The same in hexadecimal, as many as fill a text of size bytes. */
int id_hex(char *ret_text, size_t size);

/* <word>_<ms>_<count digits of base>, as the Sandbox container names its things; ret_id has ID_STAMPED_SIZE. */
int id_stamped(char *ret_id, const char *word, uint64_t now_ms, size_t count, unsigned base);
