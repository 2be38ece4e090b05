/*
 * The part of a session's output that reaches a user's terminal. Input: a byte that determines whether the clipboard
 * may be set, and the pieces; then the output.
 *
 * Pieces must not matter. The result must be UTF-8 without queries and C1 controls, and pass unchanged a second time.
 * Limited terminals must get it without sequences that they would print, in any pieces.
 */
#include "tests/fuzz/pieces.h"
#include "tests/lib/scanned.h"
#include "ws/client/attach/guard.h"
#include "ws/client/attach/downgrade.h"

#include <string.h>

#define OUTPUT_MAX ((size_t)24 << 10)

static size_t filter_pieces(
	bool clipboard, const char *bytes, size_t length, struct random *r, char *out)
{
	struct guard g = {.clipboard = clipboard};
	size_t n = 0;
	for (size_t at = 0, piece; at < length; at += piece) {
		piece = pieces_next(r, 64, length - at);
		char *filtered = (char *)fuzz_alloc(GUARD_OUTPUT_MAX(piece));
		size_t got = guard_filter(&g, bytes + at, piece, filtered);
		memcpy(out + n, filtered, got);
		free(filtered);
		n += got;
	}
	return n;
}

static void check_quiet(const char *bytes, size_t length)
{
	struct scanned s;
	scanned_init(&s, 0);
	scanned_feed(&s, bytes, length);
	FUZZ_CHECK(s.count == 0);
	scanned_finish(&s);
}

struct sum {
	uint64_t hash, length;
	char last; /* byte */
	bool any;  /* sequence */
	bool strange;
};

static bool add(void *user, const void *bytes, size_t length)
{
	struct sum *sum = user;
	const char *p = bytes;
	sum->hash = hash_bytes(sum->hash, bytes, length);
	for (size_t i = 0; i < length; i++) {
		sum->any = sum->any || p[i] == '\033';
		sum->strange = sum->strange || (sum->last == '\033' && memchr("]P_^X", p[i], 5));
		sum->last = p[i];
	}
	sum->length += length;
	return true;
}

static void check_downgrade(const char *term, const char *bytes, size_t length, struct random *r)
{
	struct sum whole = {0}, pieces = {0};
	struct downgrade m;
	downgrade_init(&m, term, add, &whole);
	FUZZ_CHECK(downgrade_write(&m, bytes, length));
	downgrade_init(&m, term, add, &pieces);
	for (size_t at = 0, piece; at < length; at += piece) {
		piece = pieces_next(r, 64, length - at);
		FUZZ_CHECK(downgrade_write(&m, bytes + at, piece));
	}
	FUZZ_CHECK(whole.hash == pieces.hash && whole.length == pieces.length);
	FUZZ_CHECK(!whole.strange || strcmp(term, "screen") == 0);
	FUZZ_CHECK(!whole.any || strcmp(term, "dumb") != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t output[OUTPUT_MAX];
	static char whole[2 * GUARD_OUTPUT_MAX(OUTPUT_MAX)],
		again[2 * GUARD_OUTPUT_MAX(2 * OUTPUT_MAX)];
	struct fuzz_input in = {data, size};
	uint8_t seed = fuzz_byte(&in);
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + seed};
	bool clipboard = seed & 1;
	size_t length = fuzz_unfold(&in, output, sizeof output);
	struct guard g = {.clipboard = clipboard};
	size_t n = guard_filter(&g, (const char *)output, length, whole);
	FUZZ_CHECK(n <= GUARD_OUTPUT_MAX(length));
	FUZZ_CHECK(filter_pieces(clipboard, (const char *)output, length, &r, again) == n &&
		memcmp(whole, again, n) == 0);
	g = (struct guard){.clipboard = clipboard};
	FUZZ_CHECK(guard_filter(&g, whole, n, again) == n && memcmp(whole, again, n) == 0);
	check_quiet(whole, n);
	static const char *const terms[] = {"linux", "vt220", "screen", "dumb"};
	check_downgrade(terms[seed >> 1 & 3], whole, n, &r);
	check_downgrade(terms[seed >> 1 & 3], (const char *)output, length, &r);
	return 0;
}
