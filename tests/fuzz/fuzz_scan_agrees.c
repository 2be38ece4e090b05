/*
 * Scan and the screen must agree on where output may be cut, and on what a query is. Input: an unused byte, then the
 * output, folded.
 *
 * The bytes that make the screen reply must be in a range of scan. If these are blanked, the screen must not reply, and
 * must have the same state.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/drawn_same.h"
#include "tests/lib/scanned.h"

#define OUTPUT_MAX ((size_t)24 << 10)
#define ROWS 6u
#define COLS 20u
#define ANSWERS_MAX 65536u

/* The offsets of the bytes after which the screen replied. */
static uint64_t answers[ANSWERS_MAX];
static size_t answers_count;

static void on_answer(struct drawn *d)
{
	FUZZ_CHECK(answers_count < ANSWERS_MAX);
	answers[answers_count++] = d->reply_at;
}

/* Feed both byte by byte. */
static void feed(struct drawn *d, struct scanned *s, const uint8_t *bytes, size_t length)
{
	for (size_t at = 0; at < length; at++) {
		drawn_feed(d, bytes + at, 1, SIZE_MAX);
		scanned_feed(s, bytes + at, 1);
		FUZZ_CHECK((s->scan.ground == at + 1) == parser_is_ground(&d->screen->parser));
	}
}

static bool is_reported(const struct scanned *s, uint64_t at)
{
	/* No client has seen it yet. */
	if (at > s->scan.settled)
		return true;
	for (size_t i = 0; i < s->count; i++) {
		const struct scan_query *range = &s->ranges[i];
		/* A string takes effect at the ESC of its terminator, or at an ESC of another sequence. */
		if (at > range->start && at <= range->start + range->length + range->string)
			return true;
	}
	return false;
}

static uint8_t *blanked(const uint8_t *bytes, size_t length)
{
	struct queries q;
	uint8_t *copy = fuzz_alloc(length);
	if (length > 0)
		memcpy(copy, bytes, length);
	scanned_queries(&q, bytes, length);
	FUZZ_CHECK(queries_apply(&q, 0, copy, length) == length);
	queries_finish(&q);
	return copy;
}

/*
 * Whether the hidden ranges are nothing but queries. Not if a string is too long to be judged; if a control follows the
 * ESC of a string, which takes effect only outside of a string; or if a C1 control aborts a string, which then has no
 * effect, while its NULs end REP's repetition.
 */
static bool is_pure(const struct scanned *s, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct scan_query *range = &s->ranges[i];
		if (range->muted)
			return false;
		if (range->string && range->length > 1 && bytes[range->start] == 0x1b &&
			bytes[range->start + 1] < 0x20)
			return false;
		uint64_t end = range->start + range->length;
		if (range->string && end < length && bytes[end] == 0xc2)
			return false;
	}
	return true;
}

static void expect_quiet(const struct scanned *s, const uint8_t *bytes)
{
	size_t length = (size_t)s->scan.ground;
	struct drawn whole, quiet;
	uint8_t *copy = blanked(bytes, length);
	drawn_init(&whole, ROWS, COLS, 20);
	drawn_init(&quiet, ROWS, COLS, 20);
	drawn_feed(&whole, bytes, length, SIZE_MAX);
	drawn_feed(&quiet, copy, length, SIZE_MAX);
	FUZZ_CHECK(quiet.replies.length == 0);
	if (is_pure(s, bytes, length) && parser_is_ground(&whole.screen->parser)) {
		/* A sequence may both query colours and set others. */
		palette_restore(&whole.screen->palette, -1);
		palette_restore(&quiet.screen->palette, -1);
		memset(whole.screen->palette.dynamic, 0, sizeof whole.screen->palette.dynamic);
		memset(quiet.screen->palette.dynamic, 0, sizeof quiet.screen->palette.dynamic);
		/* A range may have set the clipboard. */
		drawn_clear(&whole.events);
		drawn_clear(&quiet.events);
		drawn_expect_same(&whole, &quiet);
	}
	drawn_finish(&whole);
	drawn_finish(&quiet);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[OUTPUT_MAX];
	struct fuzz_input in = {data, size};
	struct drawn d;
	struct scanned s;
	fuzz_byte(&in);
	size_t length = fuzz_unfold(&in, bytes, sizeof bytes);
	drawn_init(&d, ROWS, COLS, 20);
	d.on_reply = on_answer;
	answers_count = 0;
	scanned_init(&s, 0);
	feed(&d, &s, bytes, length);
	for (size_t i = 0; i < answers_count; i++)
		FUZZ_CHECK(is_reported(&s, answers[i]));
	expect_quiet(&s, bytes);
	scanned_finish(&s);
	drawn_finish(&d);
	return 0;
}
