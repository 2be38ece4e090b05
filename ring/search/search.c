/*
 * Searches the screen line by line, and the ring in pieces that are read into lines and searched
 * backwards. Stops early when the work or the limit of matches is used up, or with -ENOMEM.
 */
#include "ring/search/search.h"

#include "ring/screen/view/lines.h"
#include "ring/search/line_reader.h"
#include "ring/utf8.h"
#include "ring/screen/grid/width.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RING_CODES (SEARCH_PIECE * 2) /* per piece; tabs and cursor moves expand to blanks */
#define RING_LINES SEARCH_PIECE

/* The cell of a searched character. */
struct place {
	unsigned row; /* relative to the first of the joined lines */
	unsigned column;
	unsigned width;
};

/* Characters of a line, or of several joined ones. */
struct text {
	uint32_t codes[SEARCH_LINE_MAX];
	struct place places[SEARCH_LINE_MAX];
	size_t count;
};

/* Matches */

static char *encode(const uint32_t *codes, size_t count, size_t *ret_length)
{
	char *text = malloc(count * 4 + 1);
	size_t length = 0;
	for (size_t i = 0; text && i < count; i++)
		length += utf8_encode(codes[i], (uint8_t *)text + length);
	*ret_length = length;
	return text;
}

static int add_match(struct search *search, struct search_match match, const uint32_t *codes,
	size_t count, struct pattern_match at)
{
	size_t from = at.start > SEARCH_TEXT_BEFORE ? at.start - SEARCH_TEXT_BEFORE : 0;
	size_t to = count - from > SEARCH_TEXT_MAX ? from + SEARCH_TEXT_MAX : count;
	size_t length = at.end - at.start < SEARCH_MATCH_MAX ? at.end - at.start : SEARCH_MATCH_MAX;
	struct search_match *grown = realloc(
		search->matches, (search->count + 1) * sizeof *search->matches);
	if (!grown)
		return -ENOMEM;
	search->matches = grown;
	match.text = encode(codes + from, to - from, &match.text_length);
	match.match = encode(codes + at.start, length, &match.match_length);
	if (!match.text || !match.match) {
		free(match.text);
		free(match.match);
		return -ENOMEM;
	}
	search->matches[search->count++] = match;
	return 0;
}

void search_finish(struct search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		free(search->matches[i].text);
		free(search->matches[i].match);
	}
	free(search->matches);
	search->matches = NULL;
	search->count = 0;
}

static bool is_over(const struct search *search)
{
	return search->work == 0 || search->count >= search->limit;
}

/* Lines */

static void add_codes(struct text *t, const uint32_t *codes, size_t count, struct place place)
{
	for (size_t i = 0; i < count && t->count < SEARCH_LINE_MAX; i++) {
		t->codes[t->count] = codes[i];
		t->places[t->count++] = place;
	}
}

static void add_line(
	struct text *t, const struct screen *s, uint64_t number, unsigned row, bool joined)
{
	struct cell cells[SCREEN_SIDE_MAX];
	struct place place = {.row = row};
	unsigned extent = lines_cells(s, number, joined, cells);
	for (; place.column < extent; place.column += place.width) {
		struct cell cell = cells[place.column];
		uint32_t code = cell_has_content(cell) ? cell.text & CELL_CODE : ' ';
		place.width = cell_width(cell) == 2 && place.column + 1 < extent ? 2 : 1;
		if (cell.text & CELL_CLUSTER) {
			size_t bytes = 0;
			const uint32_t *codes = intern_get(
				&s->clusters, cell.text & CELL_CODE, &bytes);
			add_codes(t, codes, bytes / sizeof *codes, place);
		} else {
			add_codes(t, &code, 1, place);
		}
	}
}

static unsigned width_of_match(const struct text *t, struct pattern_match at)
{
	unsigned width = 0;
	for (size_t i = at.start; i < at.end; i++)
		if (i == at.start || t->places[i].row != t->places[i - 1].row ||
			t->places[i].column != t->places[i - 1].column)
			width += t->places[i].width;
	return width;
}

/* Find all matches in a text that begins with line `first`. */
static int search_text(
	struct search *search, const struct screen *s, const struct text *t, uint64_t first)
{
	struct pattern_match at = {0};
	int rc = 0;
	while (rc == 0 && !is_over(search) &&
		pattern_find(search->pattern, t->codes, t->count, at.end, &search->work, &at)) {
		uint64_t number = first + t->places[at.start].row;
		struct search_match match = {.line = number,
			.offset = lines_offset(s, number),
			.column = t->places[at.start].column,
			.columns = width_of_match(t, at)};
		rc = add_match(search, match, t->codes, t->count, at);
	}
	return rc;
}

int search_screen(struct search *search, const struct screen *s, uint64_t before)
{
	struct text *t = calloc(1, sizeof *t);
	uint64_t end = before < lines_end(s) ? before : lines_end(s);
	uint64_t oldest = search->from > lines_first(s) ? search->from : lines_first(s);
	unsigned most = SEARCH_LINE_MAX / s->cols;
	int rc = t ? 0 : -ENOMEM;
	while (rc == 0 && end > oldest && !is_over(search)) {
		uint64_t first = end - 1;
		while (end - first < most && first > oldest && lines_wrapped(s, first))
			first--;
		t->count = 0;
		for (uint64_t n = first; n < end; n++)
			add_line(t, s, n, (unsigned)(n - first), n + 1 < end);
		while (t->count > 0 && t->codes[t->count - 1] == ' ')
			t->count--;
		uint64_t cost = end - first + t->count;
		search->work -= search->work < cost ? search->work : cost;
		/* Always finish a line: the next request would have as little work to spend. */
		search->work += search->work == 0;
		rc = search_text(search, s, t, first);
		end = first;
	}
	free(t);
	search->next_line = end > oldest ? end : 0;
	if (rc == 0 && !scrollback_is_whole(&s->scrollback))
		rc = -ENOMEM;
	scrollback_drop_cache(&s->scrollback);
	return rc;
}

uint64_t search_border(const struct screen *s)
{
	return lines_offset(s, lines_first(s));
}

/* Ring */

struct ring_line {
	uint64_t offset; /* offset of its first byte */
	size_t first, count;
};

/* The lines of a piece of output, from the line reader. */
struct piece {
	struct line_reader reader;
	uint32_t codes[RING_CODES];
	size_t count;
	struct ring_line lines[RING_LINES];
	size_t lines_count; /* complete lines; the next one is being read */
	unsigned column;
	uint8_t bytes[SEARCH_PIECE];
};

static struct ring_line *current_line(struct piece *p)
{
	return &p->lines[p->lines_count];
}

static void end_line(struct piece *p)
{
	struct ring_line *line = current_line(p);
	while (line->count > 0 && p->codes[line->first + line->count - 1] == ' ')
		line->count--;
	if (line->count > 0 && p->lines_count + 1 < RING_LINES)
		p->lines_count++;
	*current_line(p) = (struct ring_line){.first = p->count};
	p->column = 0;
}

static void put_code(struct piece *p, uint32_t code, uint64_t offset)
{
	if (current_line(p)->count == SEARCH_LINE_MAX)
		end_line(p);
	if (p->count == RING_CODES)
		return;
	if (current_line(p)->count == 0)
		current_line(p)->offset = offset;
	p->codes[p->count++] = code;
	current_line(p)->count++;
	p->column += width_of(code);
}

static void on_text(void *user, const uint8_t *ascii, size_t length, uint64_t start)
{
	struct piece *p = user;
	for (size_t i = 0; i < length; i++)
		put_code(p, ascii[i], start + i);
}

static void on_character(void *user, uint32_t code, uint64_t start, uint64_t end)
{
	(void)end;
	put_code(user, code, start);
}

static void on_blanks(void *user, unsigned count, uint64_t start, uint64_t end)
{
	struct piece *p = user;
	(void)end;
	for (unsigned i = 0; i < count; i++)
		put_code(p, ' ', start);
}

static void on_back(void *user)
{
	struct piece *p = user;
	struct ring_line *line = current_line(p);
	if (line->count == 0)
		return;
	line->count--;
	p->column -= width_of(p->codes[--p->count]);
}

static void on_end(void *user)
{
	end_line(user);
}

static unsigned column_of(const void *user)
{
	const struct piece *p = user;
	return p->column;
}

static bool is_begun(const void *user)
{
	const struct piece *p = user;
	return p->lines[p->lines_count].count > 0;
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

/*
 * Where to start in bytes[0, length) without cutting a line or sequence: after the first newline,
 * else at the first ESC, else at the first character.
 */
static size_t find_start(const uint8_t *bytes, size_t length)
{
	const uint8_t *at = memchr(bytes, '\n', length);
	if (at && at + 1 < bytes + length)
		return (size_t)(at + 1 - bytes);
	at = memchr(bytes, 0x1b, length);
	if (at)
		return (size_t)(at - bytes);
	size_t orphaned = utf8_leading_continuations(bytes, length, UTF8_MAX);
	return orphaned < UTF8_MAX && orphaned < length ? orphaned : 0;
}

/* Read the piece that ends at `end`. Returns where it begins; `end` if it has been overwritten. */
static uint64_t read_piece(struct piece *p, const struct stream *bytes, uint64_t end)
{
	uint64_t oldest = stream_oldest(bytes);
	if (end <= oldest)
		return end;
	uint64_t from = end - oldest > SEARCH_PIECE ? end - SEARCH_PIECE : oldest;
	size_t length = (size_t)(end - from);
	if (!stream_copy(bytes, from, p->bytes, length))
		return end;
	size_t skipped = from > oldest ? find_start(p->bytes, length) : 0;
	p->count = p->lines_count = 0;
	p->lines[0] = (struct ring_line){0};
	p->column = 0;
	line_reader_init(&p->reader, &ops, p, from + skipped);
	line_reader_feed(&p->reader, p->bytes + skipped, length - skipped, NULL);
	line_reader_finish(&p->reader);
	end_line(p);
	return from + skipped;
}

static int search_line(struct search *search, const struct piece *p, const struct ring_line *line)
{
	const uint32_t *codes = p->codes + line->first;
	struct pattern_match at = {0};
	int rc = 0;
	while (rc == 0 && !is_over(search) &&
		pattern_find(search->pattern, codes, line->count, at.end, &search->work, &at)) {
		struct search_match match = {.line = SEARCH_NO_LINE, .offset = line->offset};
		for (size_t i = 0; i < at.end; i++)
			*(i < at.start ? &match.column : &match.columns) += width_of(codes[i]);
		rc = add_match(search, match, codes, line->count, at);
	}
	return rc;
}

/* Search the lines of a piece, newest first. *end: where to continue. */
static int search_piece(struct search *search, const struct piece *p, uint64_t begin, uint64_t *end)
{
	size_t left = p->lines_count;
	int rc = 0;
	/* Always search one line: the next request would have as little work to spend. */
	search->work += search->work == 0;
	while (rc == 0 && left > 0 && !is_over(search)) {
		rc = search_line(search, p, &p->lines[--left]);
		*end = p->lines[left].offset;
	}
	if (left == 0)
		*end = begin;
	return rc;
}

int search_ring(struct search *search, const struct stream *bytes, uint64_t before)
{
	struct piece *p = malloc(sizeof *p);
	uint64_t end = before < stream_head(bytes) ? before : stream_head(bytes);
	int rc = p ? 0 : -ENOMEM;
	while (rc == 0 && !is_over(search)) {
		uint64_t begin = read_piece(p, bytes, end);
		if (begin == end)
			break;
		search->work -= search->work < end - begin ? search->work : end - begin;
		rc = search_piece(search, p, begin, &end);
	}
	free(p);
	search->next_offset = end > stream_oldest(bytes) ? end : 0;
	return rc;
}
