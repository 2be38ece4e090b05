/*
 * Marks in terminal output. Input: a byte that determines the pieces, then the output, folded. Pieces must not matter.
 * Text, marks and held back bytes together must be the output. Marks of the shell must be found, those with another
 * nonce must not.
 */
#include "shell/output/marks.h"
#include "tests/fuzz/pieces.h"

#define NONCE "n"
#define OUTPUT_MAX ((size_t)24 << 10)
#define BASE (UINT64_C(1) << 33) /* offset of the first byte */
#define MARKS_MAX (OUTPUT_MAX / 8)

struct seen {
	const uint8_t *bytes;
	uint64_t at; /* offset of the end of what has come */
	uint64_t hash;
	uint64_t starts[MARKS_MAX];
	size_t count;
};

static const uint8_t *byte_at(const struct seen *s, uint64_t offset)
{
	return s->bytes + (offset - BASE);
}

static void on_text(void *user, uint64_t offset, const void *bytes, size_t length)
{
	struct seen *s = user;
	FUZZ_CHECK(length > 0 && offset == s->at);
	FUZZ_CHECK(memcmp(bytes, byte_at(s, offset), length) == 0);
	s->at += length;
}

static void on_mark(void *user, const struct mark *mark)
{
	struct seen *s = user;
	size_t length = (size_t)(mark->end - mark->start);
	FUZZ_CHECK(mark->start == s->at && mark->end > mark->start && length <= MARK_MAX + 1);
	const uint8_t *text = byte_at(s, mark->start);
	FUZZ_CHECK(memcmp(text, "\033]133;", 6) == 0 && text[length - 1] == '\a');
	FUZZ_CHECK(memmem(text, length, ";aid=" NONCE, 6) != NULL);
	FUZZ_CHECK(mark->time_us < (UINT64_C(1) << 32) * 1000000);
	FUZZ_CHECK(mark->kind <= MARK_CONTINUED && memchr(mark->id, '\0', sizeof mark->id));
	FUZZ_CHECK(mark->status >= -1 && mark->status <= 255);
	FUZZ_CHECK(mark->kind == MARK_END || mark->status == -1);
	s->at = mark->end;
	s->hash = pieces_hash_number(s->hash, mark->start);
	s->hash = pieces_hash_number(s->hash, mark->kind);
	s->hash = pieces_hash_number(s->hash, mark->time_us);
	s->hash = pieces_hash_number(s->hash, (uint64_t)mark->status);
	s->hash = hash_bytes(s->hash, mark->id, strlen(mark->id) + 1);
	s->starts[s->count++] = mark->start;
}

static void feed(struct seen *s, struct marks *m, size_t length, struct random *r, size_t most)
{
	const struct marks_callbacks callbacks = {.text = on_text, .mark = on_mark, .user = s};
	*m = (struct marks){0};
	s->at = BASE;
	s->hash = HASH_START;
	s->count = 0;
	for (size_t at = 0, n; at < length; at += n) {
		n = most > 0 ? pieces_next(r, most, length - at) : length;
		/* Of its exact size, so that ASan finds reads beyond it. */
		uint8_t *piece = fuzz_alloc(n);
		memcpy(piece, s->bytes + at, n);
		marks_feed(m, NONCE, BASE + at, piece, n, &callbacks);
		free(piece);
	}
	FUZZ_CHECK(m->length <= MARK_MAX && s->at + m->length == BASE + length);
	FUZZ_CHECK(m->length == 0 || m->start == s->at);
	FUZZ_CHECK(memcmp(m->text, byte_at(s, s->at), m->length) == 0);
}

static bool has_start(const struct seen *s, uint64_t start)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->starts[i] == start)
			return true;
	return false;
}

/* A mark of the shell is found at any position. */
static void expect_found(const struct seen *s, size_t length, const char *mark)
{
	const uint8_t *at = s->bytes, *end = s->bytes + length;
	size_t size = strlen(mark);
	for (; (at = memmem(at, (size_t)(end - at), mark, size)); at += size)
		FUZZ_CHECK(has_start(s, BASE + (uint64_t)(at - s->bytes)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[OUTPUT_MAX];
	static struct seen whole, cut;
	struct marks m, same;
	struct fuzz_input in = {data, size};
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + fuzz_byte(&in)};
	size_t length = fuzz_unfold(&in, bytes, sizeof bytes);
	const size_t most[] = {length < 4096 ? 1 : 16, 8, MARK_MAX};
	whole.bytes = cut.bytes = bytes;
	feed(&whole, &m, length, &r, 0);
	for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
		feed(&cut, &same, length, &r, most[i]);
		FUZZ_CHECK(cut.hash == whole.hash && cut.count == whole.count);
		FUZZ_CHECK(same.length == m.length);
	}
	expect_found(&whole, length, "\033]133;A;aid=" NONCE "\a");
	expect_found(&whole, length, "\033]133;B;aid=" NONCE "\a");
	expect_found(&whole, length, "\033]133;P;k=s;aid=" NONCE "\a");
	expect_found(&whole, length, "\033]133;P;k=e;aid=" NONCE "\a");
	expect_found(&whole, length, "\033]133;C;aid=" NONCE ";id=e\a");
	expect_found(&whole, length, "\033]133;D;7;aid=" NONCE ";id=\a");
	return 0;
}
