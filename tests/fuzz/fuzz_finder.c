/*
 * The finder. Input: a byte that determines the pieces, one that chooses a pattern, then the output.
 *
 * For a pattern that includes the end of a line, pieces must not matter. For others it may find less at first, but
 * never anything else. Every match must be where it is reported.
 */
#include "ring/search/finder.h"
#include "tests/fuzz/fuzz.h"

#define BEGIN 1000u

static const char *const patterns[] = {
	"a+$", "^.$", " +x", "[^a]b", "(a?){9}c", "\xc3\xa4|\\b.\\b", ".+$", "\\s$"};

struct found {
	bool is;
	uint64_t start, end;
};

/* Without bytes: search the current line. */
static bool feed(struct finder *f, const uint8_t *bytes, size_t length)
{
	uint64_t most = f->done + finder_max_work(f, length);
	bool is = length > 0 ? finder_feed(f, bytes, length) : finder_flush(f);
	FUZZ_CHECK(f->done <= most);
	return is;
}

static struct found find(unsigned choice, const uint8_t *bytes, size_t length, size_t cut)
{
	static struct finder f;
	const char *text = patterns[choice], *problem;
	char match[64];
	struct pattern *p;
	FUZZ_CHECK(pattern_create(&p, text, strlen(text), PATTERN_REGEX, &problem) == 0);
	finder_init(&f, p, BEGIN, BEGIN, text[strlen(text) - 1] == '$');
	bool is = feed(&f, bytes, cut) || feed(&f, bytes + cut, length - cut) || feed(&f, bytes, 0);
	FUZZ_CHECK(is == f.found && f.count <= FINDER_LINE);
	FUZZ_CHECK(finder_offset(&f) <= BEGIN + length);
	struct found found = {.is = is};
	if (is) {
		found.start = f.start;
		found.end = f.end;
		FUZZ_CHECK(f.start >= BEGIN && f.start < f.end && f.end <= BEGIN + length);
		FUZZ_CHECK(finder_text(&f, match, sizeof match) > 0);
	}
	finder_finish(&f);
	pattern_destroy(p);
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {.at = data, .left = size};
	unsigned cut = fuzz_byte(&in),
		 choice = fuzz_byte(&in) % (sizeof patterns / sizeof *patterns);
	struct found whole = find(choice, in.at, in.left, 0);
	struct found parts = find(choice, in.at, in.left, cut < in.left ? cut : in.left);
	FUZZ_CHECK(whole.is ? parts.is : true);
	if (patterns[choice][strlen(patterns[choice]) - 1] == '$') {
		FUZZ_CHECK(parts.is == whole.is);
		FUZZ_CHECK(parts.start == whole.start && parts.end == whole.end);
	}
	return 0;
}
