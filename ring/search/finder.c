/*
 * A line is searched when it ends, or earlier. After a match nothing more is consumed. A line that
 * is too long loses its beginning. Cannot fail.
 */
#include "ring/search/finder.h"

#include "ring/utf8.h"
#include "ring/screen/grid/width.h"

#include <string.h>

#define KEPT (FINDER_LINE / 2) /* code points kept of a line that is too long */
#define NOT_LOOKED SIZE_MAX    /* the line has become shorter since */

static bool search_line(struct finder *f)
{
	if (f->found || f->count == f->looked)
		return f->found;
	uint64_t work = FINDER_WORK;
	f->looked = f->count;
	f->found = pattern_find(f->pattern, f->codes, f->count, 0, &work, &f->match);
	f->done += FINDER_WORK - work;
	if (f->found) {
		f->start = f->base + f->starts[f->match.start];
		f->end = f->base + f->ends[f->match.end - 1];
	}
	return f->found;
}

static void begin_line(struct finder *f)
{
	f->count = f->looked = 0;
	f->column = 0;
}

static void end_line(struct finder *f)
{
	if (!search_line(f))
		begin_line(f);
}

/* Make space for a character: keep the end of a long line. */
static void shorten_line(struct finder *f)
{
	if (!f->settled_only && search_line(f))
		return; /* the line does not end here */
	size_t gone = f->count - KEPT;
	memmove(f->codes, f->codes + gone, KEPT * sizeof *f->codes);
	memmove(f->starts, f->starts + gone, KEPT * sizeof *f->starts);
	memmove(f->ends, f->ends + gone, KEPT * sizeof *f->ends);
	f->count = KEPT;
	f->looked = KEPT;
}

/* Append a character that is encoded in bytes [start, end). */
static void put_code(struct finder *f, uint32_t code, uint64_t start, uint64_t end)
{
	if (f->found || start < f->from)
		return;
	if (f->count > 0 && end - f->base > UINT32_MAX)
		end_line(f); /* 4 GiB of control sequences */
	if (f->count == FINDER_LINE)
		shorten_line(f);
	if (f->found)
		return;
	if (f->count == 0)
		f->base = start;
	f->codes[f->count] = code;
	f->starts[f->count] = (uint32_t)(start - f->base);
	f->ends[f->count++] = (uint32_t)(end - f->base);
	f->column += width_of(code);
}

static void on_text(void *user, const uint8_t *ascii, size_t length, uint64_t start)
{
	struct finder *f = user;
	for (size_t i = 0; i < length; i++)
		put_code(f, ascii[i], start + i, start + i + 1);
}

static void on_character(void *user, uint32_t code, uint64_t start, uint64_t end)
{
	put_code(user, code, start, end);
}

static void on_blanks(void *user, unsigned count, uint64_t start, uint64_t end)
{
	struct finder *f = user;
	for (unsigned i = 0; i < count && i < FINDER_BLANKS; i++)
		put_code(f, ' ', start, end);
}

static void on_back(void *user)
{
	struct finder *f = user;
	if (f->found)
		return;
	if (f->count > 0)
		f->column -= width_of(f->codes[--f->count]);
	f->looked = NOT_LOOKED;
}

static void on_end(void *user)
{
	end_line(user);
}

static unsigned column_of(const void *user)
{
	const struct finder *f = user;
	return f->column;
}

static bool is_begun(const void *user)
{
	const struct finder *f = user;
	return f->count > 0;
}

static const struct line_reader_ops ops = {
	.text = on_text,
	.character = on_character,
	.blanks = on_blanks,
	.back = on_back,
	.end = on_end,
	.column = column_of,
	.is_begun = is_begun,
};

void finder_init(struct finder *f, struct pattern *pattern, uint64_t offset, uint64_t from,
	bool settled_only)
{
	line_reader_init(&f->reader, &ops, f, offset);
	f->pattern = pattern;
	f->from = from;
	f->settled_only = settled_only;
	f->found = false;
	f->done = 0;
	begin_line(f);
}

void finder_finish(struct finder *f)
{
	line_reader_finish(&f->reader);
}

void finder_dismiss(struct finder *f)
{
	f->found = false;
	begin_line(f);
}

uint64_t finder_offset(const struct finder *f)
{
	return f->reader.parser.offset;
}

bool finder_consume(struct finder *f, const uint8_t *bytes, size_t length)
{
	if (!f->found)
		line_reader_feed(&f->reader, bytes, length, &f->found);
	return f->found;
}

bool finder_search_line(struct finder *f)
{
	return f->found || (!f->settled_only && search_line(f));
}

bool finder_feed(struct finder *f, const uint8_t *bytes, size_t length)
{
	(void)finder_consume(f, bytes, length);
	return finder_search_line(f);
}

/*
 * A code point is searched up to three times: when its line is shortened, when the line ends, and
 * when there are no more bytes. The first byte may complete a sequence.
 */
uint64_t finder_max_work(const struct finder *f, size_t length)
{
	/* shortest sequence that moves over blanks, in bytes */
	const uint64_t looks = 3, sequence = 3;
	uint64_t blanks = (length / sequence + 1) * FINDER_BLANKS;
	return length + looks * (f->count + length + blanks) * pattern_cost(f->pattern);
}

void finder_skip(struct finder *f, uint64_t offset)
{
	line_reader_skip(&f->reader, offset);
	begin_line(f);
}

bool finder_flush(struct finder *f)
{
	return search_line(f);
}

bool finder_has_unsearched(const struct finder *f)
{
	return !f->found && f->count != f->looked;
}

size_t finder_text(const struct finder *f, char *dst, size_t size)
{
	return finder_text_from(f, 0, dst, size);
}

size_t finder_text_from(const struct finder *f, uint64_t offset, char *dst, size_t size)
{
	size_t length = 0;
	for (size_t i = f->match.start; i < f->match.end; i++) {
		uint8_t bytes[4];
		if (f->base + f->starts[i] < offset)
			continue;
		unsigned n = utf8_encode(f->codes[i], bytes);
		if (length + n > size)
			break;
		memcpy(dst + length, bytes, n);
		length += n;
	}
	return length;
}
