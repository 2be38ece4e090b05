/*
 * The screen. Input: see screen_input.h.
 *
 * After each step all invariants must hold. A second screen, fed byte by byte or in pieces, must have the same state;
 * so must one that is muted, and it must not reply.
 */
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/screen_input.h"

/* Memory for each screen: the input is too short to need more. */
#define MEMORY_MAX ((size_t)64 << 20)

static void feed_in_pieces(
	struct drawn *d, const uint8_t *bytes, size_t length, struct random *r, uint64_t most)
{
	for (size_t at = 0, n; at < length; at += n) {
		n = pieces_next(r, most, length - at);
		drawn_feed(d, bytes + at, n, SIZE_MAX);
	}
}

static void run(struct fuzz_input *in, struct drawn drawn[3], struct random *r, size_t work)
{
	static struct screen_step step;
	size_t total = 0;
	uint64_t most = random_below(r, 2) == 0 ? 1 : 64;
	while (in->left > 0 && total < SCREEN_OUTPUT_MAX) {
		screen_step(in, &step);
		if (step.type == STEP_RESIZE) {
			for (int i = 0; i < 3; i++)
				FUZZ_CHECK(
					screen_resize(drawn[i].screen, step.rows, step.cols) == 0);
			total += 512;
		} else {
			drawn_feed(&drawn[0], step.bytes, step.length, work);
			feed_in_pieces(&drawn[1], step.bytes, step.length, r, most);
			drawn_feed(&drawn[2], step.bytes, step.length, SIZE_MAX);
			total += step.length + 64;
		}
		drawn_check(&drawn[0]);
		FUZZ_CHECK(screen_memory(drawn[0].screen) < MEMORY_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct drawn drawn[3];
	unsigned rows, cols;
	screen_sides(&in, &rows, &cols);
	unsigned scrollback = fuzz_byte(&in);
	uint8_t seed = fuzz_byte(&in);
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + seed};
	for (int i = 0; i < 3; i++)
		drawn_init(&drawn[i], rows, cols, scrollback);
	screen_mute(drawn[2].screen, true);
	run(&in, drawn, &r, seed < 128 ? seed : (size_t)seed * 256);
	drawn_expect_same(&drawn[0], &drawn[1]);
	drawn_expect_same_replies(&drawn[0], &drawn[1]);
	FUZZ_CHECK(drawn[2].replies.length == 0 && drawn[2].events.length == 0);
	drawn_clear(&drawn[0].events);
	drawn_expect_same(&drawn[0], &drawn[2]);
	for (int i = 0; i < 3; i++)
		drawn_finish(&drawn[i]);
	return 0;
}
