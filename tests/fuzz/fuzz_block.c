/*
 * Blocks of lines. Input: a byte that chooses what follows. 0: uncompressed bytes, with possibly false counts of lines
 * and bytes: decoding must return -EBADMSG or lines within the memory. Otherwise steps of a scrollback that is
 * sometimes frozen, beside one that never is: both must have the same lines.
 */
#include "ring/screen/grid/scrollback.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <limits.h>

static unsigned number(struct fuzz_input *in)
{
	unsigned high = fuzz_byte(in);
	return high << 8 | fuzz_byte(in);
}

static void decode(struct fuzz_input *in)
{
	unsigned entries = number(in), stored = number(in) + number(in);
	struct block_lines *lines;
	int rc = block_decode(in->at, in->left, entries, stored, &lines);
	FUZZ_CHECK(rc == 0 || rc == -EBADMSG);
	if (rc < 0)
		return;
	uint32_t end = 0;
	FUZZ_CHECK(lines->count == entries);
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct packed *p = (struct packed *)(void *)(lines->bytes + lines->line[i].at);
		FUZZ_CHECK(lines->line[i].at + packed_size(p) <= stored);
		FUZZ_CHECK(lines->line[i].end > end);
		end = lines->line[i].end;
	}
	free(lines);
}

/* Make a line of the input: its length, whether it is wrapped, and cells of one byte, some of which change the style. */
static struct line *make_line(struct fuzz_input *in)
{
	unsigned length = number(in) % PACKED_CELLS_MAX + 1, style = 0;
	struct line *line = line_create(length);
	FUZZ_CHECK(line != NULL);
	line->wrapped = fuzz_byte(in) & 1;
	line->offset = (uint64_t)number(in) << (fuzz_byte(in) % 48);
	for (unsigned i = 0; i < length && in->left > 0; i++) {
		uint8_t c = fuzz_byte(in);
		if (c >= 0xf0)
			style = (uint32_t)c * 0x01010101;
		else if (c >= 0xe0)
			line_put(line, i, cell_make(CELL_CLUSTER | c, 1, style));
		else
			line_put(line, i, cell_make(c, 1, style));
	}
	return line;
}

static void expect_same(const struct scrollback *a, const struct scrollback *b)
{
	FUZZ_CHECK(a->count == b->count && a->dropped == b->dropped && a->number == b->number);
	for (unsigned i = 0; i < a->count; i++) {
		const struct packed *x = scrollback_get(a, i), *y = scrollback_get(b, i);
		FUZZ_CHECK(packed_size(x) == packed_size(y) && x->offset == y->offset);
		FUZZ_CHECK(x->runs == y->runs && x->extent == y->extent);
		FUZZ_CHECK(x->trimmed == y->trimmed && x->wrapped == y->wrapped && x->odd == y->odd);
		FUZZ_CHECK(memcmp(x->run, y->run, x->runs * sizeof *x->run) == 0);
		FUZZ_CHECK(memcmp(packed_text(x), packed_text(y), x->bytes) == 0);
	}
	FUZZ_CHECK(scrollback_is_whole(b));
}

static void step(struct fuzz_input *in, struct scrollback *plain, struct scrollback *frozen)
{
	unsigned what = fuzz_byte(in), n = number(in);
	struct line *line;
	switch (what % 6) {
	case 0:
	case 1:
		line = make_line(in);
		n = what % 6 == 0 ? 1 : n;
		FUZZ_CHECK(scrollback_push_many(plain, line, n));
		FUZZ_CHECK(scrollback_push_many(frozen, line, n));
		free(line);
		break;
	case 2:
		scrollback_drop(plain, n % 300);
		scrollback_drop(frozen, n % 300);
		break;
	case 3:
		if (n >= plain->count)
			return;
		scrollback_unwrap(plain, n);
		scrollback_unwrap(frozen, n);
		break;
	case 4:
		scrollback_freeze(frozen, n >> 8 & 7, n & 0xff ? (n & 0xff) * 256 : 1, UINT_MAX);
		break;
	default:
		FUZZ_CHECK(scrollback_thaw(frozen));
		FUZZ_CHECK(plain->bytes == frozen->bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {.at = data, .left = size};
	unsigned max = fuzz_byte(&in);
	if (max == 0) {
		decode(&in);
		return 0;
	}
	struct scrollback plain, frozen;
	scrollback_init(&plain, max * 4);
	scrollback_init(&frozen, max * 4);
	for (unsigned steps = 0; in.left > 0 && steps < 400; steps++)
		step(&in, &plain, &frozen);
	expect_same(&plain, &frozen);
	FUZZ_CHECK(scrollback_thaw(&frozen));
	expect_same(&plain, &frozen);
	FUZZ_CHECK(plain.bytes == frozen.bytes);
	scrollback_finish(&plain);
	scrollback_finish(&frozen);
	return 0;
}
