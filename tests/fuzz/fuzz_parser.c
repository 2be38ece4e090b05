/*
 * The parser. Input: a byte that determines the pieces, then the output, folded.
 *
 * Pieces and pauses must not matter; all results must be within the limits of parser.h.
 */
#include "ring/screen/parser.h"
#include "tests/fuzz/pieces.h"

#define OUTPUT_MAX ((size_t)48 << 10)

/* The results in a form that does not depend on the pieces: text is recorded character by character. */
struct record {
	struct parser parser;
	uint8_t *bytes;
	size_t length, capacity;
	size_t fed; /* bytes fed so far */
	bool pausing, pause;
};

static void put(struct record *r, const void *bytes, size_t length)
{
	if (r->length + length > r->capacity) {
		r->capacity = (r->length + length) * 2;
		r->bytes = realloc(r->bytes, r->capacity);
		FUZZ_CHECK(r->bytes != NULL);
	}
	if (length > 0)
		memcpy(r->bytes + r->length, bytes, length);
	r->length += length;
}

/* Record the kind and offset of a result, and check what holds for every result. */
static void put_kind(struct record *r, char kind)
{
	const struct parser *p = &r->parser;
	FUZZ_CHECK(p->offset <= r->fed && p->start <= p->offset);
	put(r, &kind, 1);
	put(r, &p->offset, sizeof p->offset);
	if (r->pausing)
		r->pause = true;
}

static void put_params(struct record *r, const struct params *a)
{
	FUZZ_CHECK(a->count >= 1 && a->count <= PARSER_PARAMS && a->sub_count <= PARSER_SUBPARAMS);
	put(r, &a->count, sizeof a->count);
	for (unsigned i = 0, sub = 0; i < a->count; i++) {
		FUZZ_CHECK(a->value[i] >= 0 && a->value[i] <= PARSER_VALUE_MAX);
		FUZZ_CHECK(a->sub_first[i] >= sub && a->sub_end[i] >= a->sub_first[i]);
		FUZZ_CHECK(a->sub_end[i] <= a->sub_count);
		sub = a->sub_end[i];
		put(r, &a->value[i], sizeof a->value[i]);
		put(r, &a->sub_first[i], 1);
		put(r, &a->sub_end[i], 1);
	}
	for (unsigned i = 0; i < a->sub_count; i++)
		FUZZ_CHECK(a->sub[i] >= -1 && a->sub[i] <= PARSER_VALUE_MAX);
	put(r, a->sub, a->sub_count * sizeof *a->sub);
}

/* controls: those that a string may contain. */
static void put_string(struct record *r, const char *data, size_t length, bool controls)
{
	FUZZ_CHECK(length < PARSER_STRING_MAX && data[length] == '\0');
	for (size_t i = 0; i < length && !controls; i++)
		FUZZ_CHECK((uint8_t)data[i] >= 0x20);
	put(r, &length, sizeof length);
	put(r, data, length);
}

static void on_text(void *user, const uint8_t *ascii, size_t length)
{
	struct record *r = user;
	FUZZ_CHECK(length > 0 && r->parser.offset <= r->fed);
	for (size_t i = 0; i < length; i++) {
		FUZZ_CHECK(ascii[i] >= 0x20 && ascii[i] < 0x7f);
		put(r, "t", 1);
		put(r, ascii + i, 1);
	}
	if (r->pausing)
		r->pause = true;
}

static void on_character(void *user, uint32_t code)
{
	FUZZ_CHECK(code >= 0xa0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff));
	put_kind(user, 'u');
	put(user, &code, sizeof code);
}

static void on_control(void *user, uint8_t code)
{
	FUZZ_CHECK(code < 0x20 || (code >= 0x80 && code < 0xa0));
	FUZZ_CHECK(code != 0x1b && code != 0x90 && code != 0x9b && code != 0x9c && code != 0x9d);
	put_kind(user, 'c');
	put(user, &code, sizeof code);
}

static void on_escape(void *user, uint32_t id)
{
	put_kind(user, 'e');
	put(user, &id, sizeof id);
}

static void on_csi(void *user, uint32_t id, const struct params *a)
{
	FUZZ_CHECK((id & 0xff) >= 0x40 && (id & 0xff) < 0x7f);
	put_kind(user, 's');
	put(user, &id, sizeof id);
	put_params(user, a);
}

static void on_osc(void *user, uint32_t number, const char *data, size_t length)
{
	put_kind(user, 'o');
	put(user, &number, sizeof number);
	put_string(user, data, length, false);
}

static void on_dcs(void *user, uint32_t id, const struct params *a, const char *data, size_t length)
{
	put_kind(user, 'd');
	put(user, &id, sizeof id);
	put_params(user, a);
	put_string(user, data, length, true);
}

static const struct parser_ops ops = {
	.text = on_text,
	.character = on_character,
	.control = on_control,
	.escape = on_escape,
	.csi = on_csi,
	.osc = on_osc,
	.dcs = on_dcs,
};

static void begin(struct record *r, bool pausing)
{
	*r = (struct record){.pausing = pausing};
	parser_init(&r->parser, &ops, r, 0);
}

static void finish(struct record *r)
{
	parser_finish(&r->parser);
	free(r->bytes);
}

/* Feed a copy, so that ASan finds reads beyond it. */
static void feed(struct record *r, const uint8_t *bytes, size_t length)
{
	uint8_t *copy = fuzz_alloc(length);
	memcpy(copy, bytes, length);
	r->fed += length;
	for (size_t at = 0; at < length;) {
		r->pause = false;
		size_t taken = parser_feed(&r->parser, copy + at, length - at, &r->pause);
		FUZZ_CHECK(taken > 0 && taken <= length - at);
		FUZZ_CHECK(taken == length - at || r->pause);
		at += taken;
		FUZZ_CHECK(r->parser.offset == r->fed - length + at);
	}
	FUZZ_CHECK(r->parser.string_capacity <= PARSER_STRING_MAX);
	FUZZ_CHECK(r->parser.tokenizer.utf8_left < 4 && r->parser.start <= r->parser.offset);
	free(copy);
}

static void feed_in_pieces(const struct record *whole, const uint8_t *bytes, size_t length,
	struct random *r, uint64_t most)
{
	struct record cut;
	begin(&cut, random_below(r, 2) == 0);
	for (size_t at = 0, n; at < length; at += n) {
		n = pieces_next(r, most, length - at);
		feed(&cut, bytes + at, n);
	}
	FUZZ_CHECK(cut.length == whole->length);
	FUZZ_CHECK(cut.length == 0 || memcmp(cut.bytes, whole->bytes, cut.length) == 0);
	FUZZ_CHECK(cut.parser.tokenizer.state == whole->parser.tokenizer.state);
	FUZZ_CHECK(cut.parser.start == whole->parser.start);
	FUZZ_CHECK(cut.parser.tokenizer.utf8_left == whole->parser.tokenizer.utf8_left);
	finish(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[OUTPUT_MAX];
	struct fuzz_input in = {data, size};
	struct record whole;
	uint8_t seed = fuzz_byte(&in);
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + seed};
	size_t length = fuzz_unfold(&in, bytes, sizeof bytes);
	begin(&whole, false);
	feed(&whole, bytes, length);
	/* Byte by byte, unless that is too slow. */
	feed_in_pieces(&whole, bytes, length, &r, length < 4096 ? 1 : 48);
	feed_in_pieces(&whole, bytes, length, &r, length < 4096 ? 4 : 512);
	feed_in_pieces(&whole, bytes, length, &r, length / 2 + 1);
	parser_reset(&whole.parser);
	FUZZ_CHECK(parser_is_ground(&whole.parser));
	finish(&whole);
	return 0;
}
