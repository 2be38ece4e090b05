/*
 * Bodies in chunks: in any pieces they give the same result; an accepted body, written in chunks of other sizes, is the
 * same; and an invalid one stays invalid.
 */
#include "tests/fuzz/fuzz.h"
#include "ws/net/chunked.h"

#include <stdio.h>

#define BODY_MAX 4096u

struct outcome {
	int rc;
	size_t used, size;
	bool over;
	char *body;
};

/* Parse a body in pieces of step bytes. */
static struct outcome parse(const char *bytes, size_t length, size_t step)
{
	struct chunked c = {0};
	struct outcome o = {.body = fuzz_alloc(length + 1)};
	while (o.rc == 0 && o.used < length && !chunked_is_complete(&c)) {
		size_t size = length - o.used < step ? length - o.used : step, used, n;
		char *piece = fuzz_alloc(size);
		memcpy(piece, bytes + o.used, size);
		o.rc = chunked_decode(&c, piece, size, &used, &n);
		FUZZ_CHECK(n <= used && used <= size);
		FUZZ_CHECK(o.rc < 0 || used == size || chunked_is_complete(&c));
		FUZZ_CHECK(chunked_left(&c) == 0 || (o.rc == 0 && used == size));
		memcpy(o.body + o.size, piece, n);
		o.size += n;
		o.used += used;
		free(piece);
	}
	o.over = o.rc == 0 && chunked_is_complete(&c);
	FUZZ_CHECK(c.trailers <= CHUNKED_TRAILERS_MAX + 1 &&
		c.extensions <= CHUNKED_EXTENSIONS_MAX + 1);
	return o;
}

/* Write a body in chunks of up to `each` bytes and parse it. */
static void check_again(const struct outcome *o, size_t each)
{
	char *text = fuzz_alloc(o->size * 8 + 16);
	size_t n = 0;
	for (size_t at = 0; at < o->size; at += each) {
		size_t size = o->size - at < each ? o->size - at : each;
		n += (size_t)sprintf(text + n, "%zX\r\n", size);
		memcpy(text + n, o->body + at, size);
		n += size;
		n += (size_t)sprintf(text + n, "\r\n");
	}
	n += (size_t)sprintf(text + n, "0\r\n\r\n");
	struct outcome again = parse(text, n, 13);
	FUZZ_CHECK(again.over && again.used == n && again.size == o->size);
	FUZZ_CHECK(memcmp(again.body, o->body, o->size) == 0);
	free(again.body);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > BODY_MAX)
		return 0;
	const char *bytes = (const char *)data;
	struct outcome whole = parse(bytes, size, size ? size : 1);
	for (size_t step = 1; step < 40; step = step * 2 + 1) {
		struct outcome cut = parse(bytes, size, step);
		FUZZ_CHECK(cut.rc == whole.rc && cut.over == whole.over && cut.used == whole.used);
		FUZZ_CHECK(cut.size == whole.size && memcmp(cut.body, whole.body, cut.size) == 0);
		free(cut.body);
	}
	if (whole.over)
		check_again(&whole, 1 + whole.size % 7);
	free(whole.body);
	return 0;
}
