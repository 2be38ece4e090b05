/*
 * Scan, and the use of its ranges. Input: a byte that determines the pieces, then the output, folded.
 *
 * Pieces must not matter. queries_apply() must blank the ranges and change nothing else; the result must contain no
 * query, and be between two sequences wherever the output was.
 */
#include "tests/fuzz/pieces.h"
#include "tests/lib/scanned.h"

#define OUTPUT_MAX ((size_t)24 << 10)

static void feed_in_pieces(const struct scanned *whole, const uint8_t *bytes, size_t length,
	struct random *r, uint64_t most)
{
	struct scanned cut;
	scanned_init(&cut, 0);
	for (size_t at = 0, n; at < length; at += n) {
		n = pieces_next(r, most, length - at);
		scanned_feed(&cut, bytes + at, n);
	}
	scanned_expect_same(whole, &cut);
	scanned_finish(&cut);
}

/* Only the ranges may change. */
static void expect_blanked(
	const struct scanned *s, const uint8_t *bytes, size_t length, const uint8_t *got)
{
	uint64_t at = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct scan_query *range = &s->ranges[i];
		FUZZ_CHECK(memcmp(got + at, bytes + at, (size_t)(range->start - at)) == 0);
		at = range->start + range->length;
		/* Adjacent muted ranges are blanked one by one. */
		FUZZ_CHECK(range->muted ||
			fuzz_is_blanked(got + range->start, bytes + range->start, range->length,
				range->string));
	}
	FUZZ_CHECK(memcmp(got + at, bytes + at, length - (size_t)at) == 0);
}

/* Apply in pieces, as readers do. */
static void apply(const struct queries *q, uint8_t *bytes, size_t length, size_t cap)
{
	uint8_t *piece = fuzz_alloc(cap);
	for (size_t at = 0; at < length;) {
		size_t n = cap < length - at ? cap : length - at;
		memcpy(piece, bytes + at, n);
		size_t used = queries_apply(q, at, piece, n);
		FUZZ_CHECK(used > 0 && used <= n);
		memcpy(bytes + at, piece, used);
		at += used;
	}
	free(piece);
}

/* A terminal that gets the result must not reply, and must end between two sequences. */
static void expect_quiet(const struct scanned *s, const uint8_t *bytes, const uint8_t *got)
{
	struct scanned before;
	struct scan after;
	size_t length = (size_t)s->scan.ground;
	scanned_init(&before, 0);
	scanned_feed(&before, bytes, length);
	scan_init(&after, 0);
	scan_feed(&after, got, length, scanned_refuse_query, NULL);
	const struct tokenizer *a = &after.tokenizer, *b = &before.scan.tokenizer;
	FUZZ_CHECK(b->state == TOKENIZER_GROUND && a->state == TOKENIZER_GROUND);
	FUZZ_CHECK(a->utf8_left == 0 || a->utf8_left == b->utf8_left);
	scanned_finish(&before);
}

static void check_apply(const struct scanned *s, const uint8_t *bytes, size_t length, uint8_t seed)
{
	struct queries q;
	uint8_t *got = fuzz_alloc(length);
	size_t cap = SCAN_STRING_MAX + 1 + (size_t)seed * 16;
	scanned_queries(&q, bytes, length);
	memcpy(got, bytes, length);
	apply(&q, got, length, cap);
	expect_blanked(s, bytes, length, got);
	expect_quiet(s, bytes, got);
	queries_trim(&q, length);
	FUZZ_CHECK(q.count == 0 && q.floor == 0);
	queries_finish(&q);
	free(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[OUTPUT_MAX];
	struct fuzz_input in = {data, size};
	struct scanned whole;
	uint8_t seed = fuzz_byte(&in);
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + seed};
	size_t length = fuzz_unfold(&in, bytes, sizeof bytes);
	scanned_init(&whole, 0);
	scanned_feed(&whole, bytes, length);
	/* Byte by byte, unless that is too slow. */
	feed_in_pieces(&whole, bytes, length, &r, length < 4096 ? 1 : 48);
	feed_in_pieces(&whole, bytes, length, &r, length < 4096 ? 4 : 512);
	feed_in_pieces(&whole, bytes, length, &r, length / 2 + 1);
	check_apply(&whole, bytes, length, seed);
	scanned_finish(&whole);
	return 0;
}
