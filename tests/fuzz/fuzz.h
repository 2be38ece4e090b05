/*
 * Shared by the fuzz targets. Each is one function of one input, in memory of its exact size, so that ASan finds reads
 * beyond it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer calls this. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                     \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

/* The rest of the input. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* The next byte, or 0 at the end. */
static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

static inline void *fuzz_alloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);
	FUZZ_CHECK(p != NULL);
	return p;
}

/* A copy as a string, with any NULs in it. The caller frees it. */
static inline char *fuzz_copy(const uint8_t *data, size_t size)
{
	char *text = fuzz_alloc(size + 1);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* The bytes up to the next separator, or the rest, as a string. The caller frees it. */
static inline char *fuzz_text(struct fuzz_input *in, char separator)
{
	const uint8_t *end = in->left > 0 ? memchr(in->at, separator, in->left) : NULL;
	size_t length = end ? (size_t)(end - in->at) : in->left;
	const uint8_t *nul = length > 0 ? memchr(in->at, 0, length) : NULL;
	size_t kept = nul ? (size_t)(nul - in->at) : length;
	char *text = fuzz_copy(in->at, kept);
	in->at += length + (end ? 1 : 0);
	in->left -= length + (end ? 1 : 0);
	return text;
}

/*
 * Terminal output with long runs in a short form, because a fuzzer would not find limits of thousands of bytes: FE c n
 * stands for 16 n times c. Returns the length, at most cap.
 */
static inline size_t fuzz_unfold(struct fuzz_input *in, uint8_t *bytes, size_t cap)
{
	size_t length = 0;
	while (in->left > 0 && length < cap) {
		uint8_t c = fuzz_byte(in);
		size_t times = 1;
		if (c == 0xfe) {
			c = fuzz_byte(in);
			times = (size_t)fuzz_byte(in) * 16;
		}
		for (; times > 0 && length < cap; times--)
			bytes[length++] = c;
	}
	return length;
}

/*
 * Whether got may replace original, a hidden query: by NULs; by its C0 controls except ENQ, which have had their
 * effect, unless it is a string; and by one terminator of the sequence before.
 */
static inline bool fuzz_is_blanked(
	const uint8_t *got, const uint8_t *original, size_t length, bool string)
{
	uint8_t left[2] = {0};
	size_t count = 0;
	for (size_t i = 0; i < length; i++) {
		bool control = original[i] < 0x20 && original[i] != 0x1b && original[i] != 0x05;
		if (got[i] == 0 && (string || !control))
			continue;
		if (control && got[i] == original[i])
			continue;
		if (count == sizeof left)
			return false;
		left[count++] = got[i];
	}
	return count == 0 || (count == 1 && left[0] == 0x18) ||
		(count == 2 && memcmp(left, "\033\\", 2) == 0);
}
