/* Random bytes from the kernel, and the ids made of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ID_STAMPED_SIZE 64u /* result of id_stamped() with a word of 16 characters */

/* Fill bytes with random ones. Returns 0, or a negative errno; the bytes must not be used then. */
int id_random(void *bytes, size_t size);

/* Write count random digits of a base (2 to 36) and NUL. Returns 0, or a negative errno with an empty text. */
int id_digits(char *ret_text, size_t count, unsigned base);

/* The same with hexadecimal digits that fill a text of size bytes. */
int id_hex(char *ret_text, size_t size);

/* Write <word>_<ms>_<count digits of base>, as the Sandbox container does. ret_id: ID_STAMPED_SIZE bytes. */
int id_stamped(char *ret_id, const char *word, uint64_t now_ms, size_t count, unsigned base);
