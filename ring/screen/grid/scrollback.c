/*
 * Packed lines lie one behind the other in chunks, which go with their last line; a circular table of entries finds
 * them, each of which may stand for many lines.
 * A line for which there is no memory counts as dropped, and one of more than 1024 cells is cut.
 */
#include "ring/screen/grid/scrollback.h"

#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64u
#define CHUNK_BYTES ((size_t)16 << 10) /* more than any line takes */

/* Lines one behind the other, in the order in which they come and go. */
struct scrollback_chunk {
	struct scrollback_chunk *previous, *next; /* older, newer */
	unsigned entries;                         /* in it that have not gone */
	bool single;                              /* it has room for one line alone */
	uint32_t used;
	_Alignas(struct packed) uint8_t bytes[];
};

static size_t size_of(const struct packed *p)
{
	return sizeof *p + p->runs * sizeof *p->run + p->bytes;
}

static size_t aligned(size_t size)
{
	return (size + _Alignof(struct packed) - 1) & ~(_Alignof(struct packed) - 1);
}

void scrollback_init(struct scrollback *b, unsigned max)
{
	*b = (struct scrollback){.max = max};
}

void scrollback_init_behind(struct scrollback *b, const struct scrollback *old)
{
	*b = (struct scrollback){.max = old->max,
		.number = old->number + old->count,
		.dropped = old->dropped,
		.styles = old->styles,
		.clusters = old->clusters};
}

static struct scrollback_entry *slot(const struct scrollback *b, size_t i)
{
	return &b->entries[(b->first + i) & (b->capacity - 1)];
}

/* Index of the entry that line i is in. */
static size_t find(const struct scrollback *b, size_t i)
{
	if (b->used == b->count)
		return i;
	size_t low = 0, high = b->used;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;
		if (slot(b, middle - 1)->end > b->number + i)
			high = middle;
		else
			low = middle;
	}
	return low;
}

struct packed *scrollback_get(const struct scrollback *b, size_t i)
{
	return slot(b, find(b, i))->line;
}

void scrollback_finish(struct scrollback *b)
{
	while (b->oldest) {
		struct scrollback_chunk *chunk = b->oldest;
		b->oldest = chunk->next;
		free(chunk);
	}
	free(b->spare);
	free(b->entries);
	*b = (struct scrollback){0};
}

/* An entry of this chunk has gone; the chunk goes with its last. */
static void release(struct scrollback *b, struct scrollback_chunk *chunk)
{
	if (--chunk->entries > 0)
		return;
	if (chunk->previous)
		chunk->previous->next = chunk->next;
	else
		b->oldest = chunk->next;
	if (chunk->next)
		chunk->next->previous = chunk->previous;
	else
		b->newest = chunk->previous;
	if (chunk->single) {
		free(chunk);
		return;
	}
	free(b->spare);
	b->spare = chunk;
}

void scrollback_drop(struct scrollback *b, unsigned n)
{
	while (n > 0 && b->count > 0) {
		struct scrollback_entry *oldest = slot(b, 0);
		uint64_t lines = oldest->end - b->number;
		unsigned gone = lines > n ? n : (unsigned)lines;
		b->bytes -= (size_t)gone * oldest->size;
		if (gone == lines) {
			b->stored -= oldest->size;
			release(b, oldest->chunk);
			b->first++;
			b->used--;
		}
		b->number += gone;
		b->dropped += gone;
		b->count -= gone;
		n -= gone;
	}
}

static bool grow(struct scrollback *b)
{
	size_t capacity = b->capacity ? b->capacity * 2 : CAPACITY_MIN;
	struct scrollback_entry *entries = malloc(capacity * sizeof *entries);
	if (!entries)
		return false;
	for (unsigned i = 0; i < b->used; i++)
		entries[i] = *slot(b, i);
	free(b->entries);
	b->entries = entries;
	b->capacity = capacity;
	b->first = 0;
	return true;
}

/* Room behind the newest line; NULL when memory is short. */
static struct packed *allocate(struct scrollback *b, size_t size)
{
	struct scrollback_chunk *chunk = b->newest;
	if (!chunk || chunk->used + size > CHUNK_BYTES) {
		chunk = b->spare ? b->spare : malloc(sizeof *chunk + CHUNK_BYTES);
		if (!chunk)
			return NULL;
		b->spare = NULL;
		*chunk = (struct scrollback_chunk){.previous = b->newest};
		if (b->newest)
			b->newest->next = chunk;
		else
			b->oldest = chunk;
		b->newest = chunk;
	}
	struct packed *p = (struct packed *)(void *)(chunk->bytes + chunk->used);
	chunk->used += (uint32_t)aligned(size);
	chunk->entries++;
	return p;
}

/* Append n lines of this size, to be filled in. The oldest give way. NULL: they are dropped. */
static struct packed *append(struct scrollback *b, size_t size, uint64_t n)
{
	unsigned more = n < b->max ? (unsigned)n : b->max;
	size_t limit = (size_t)b->max * SCROLLBACK_LINE_BYTES;
	if (more > 1 && size * more > limit)
		more = (unsigned)(limit / size);
	if (b->count + more > b->max)
		scrollback_drop(b, b->count + more - b->max);
	while (b->count > 0 && b->bytes + size * more > limit) {
		size_t excess = b->bytes + size * more - limit, each = slot(b, 0)->size;
		uint64_t lines = slot(b, 0)->end - b->number, gone = (excess + each - 1) / each;
		scrollback_drop(b, (unsigned)(gone < lines ? gone : lines));
	}
	struct packed *p = NULL;
	if (b->max > 0 && (b->used < b->capacity || grow(b)))
		p = allocate(b, size);
	if (!p) {
		b->dropped += n;
		return NULL;
	}
	b->dropped += n - more;
	b->count += more;
	*slot(b, b->used++) = (struct scrollback_entry){
		.line = p, .chunk = b->newest, .end = b->number + b->count, .size = (uint32_t)size};
	b->bytes += size * more;
	b->stored += size;
	return p;
}

/* Make room for n entries before the one at `at`, which is near the oldest. */
static bool open_gap(struct scrollback *b, size_t at, unsigned n)
{
	while (b->used + n > b->capacity)
		if (!grow(b))
			return false;
	b->first = (b->first + b->capacity - n) & (b->capacity - 1);
	b->used += n;
	for (size_t i = 0; i < at; i++)
		*slot(b, i) = *slot(b, i + n);
	return true;
}

/* A copy of an entry's line in a chunk of its own. */
static struct scrollback_chunk *copy_apart(
	struct scrollback *b, const struct scrollback_entry *entry)
{
	struct scrollback_chunk *chunk = malloc(sizeof *chunk + entry->size), *next = entry->chunk;
	if (!chunk)
		return NULL;
	*chunk = (struct scrollback_chunk){.previous = next->previous,
		.next = next,
		.entries = 1,
		.single = true,
		.used = CHUNK_BYTES};
	memcpy(chunk->bytes, entry->line, entry->size);
	if (next->previous)
		next->previous->next = chunk;
	else
		b->oldest = chunk;
	next->previous = chunk;
	return chunk;
}

void scrollback_unwrap(struct scrollback *b, size_t i)
{
	size_t at = find(b, i);
	struct scrollback_entry old = *slot(b, at);
	uint64_t number = b->number + i, start = at > 0 ? slot(b, at - 1)->end : b->number;
	if (!old.line->wrapped)
		return;
	if (old.end - start == 1) {
		old.line->wrapped = false;
		return;
	}
	unsigned more = (number > start ? 1u : 0u) + (number + 1 < old.end ? 1u : 0u);
	struct scrollback_chunk *chunk = copy_apart(b, &old);
	if (!chunk)
		return;
	if (!open_gap(b, at, more)) {
		release(b, chunk);
		return;
	}
	if (number > start) {
		*slot(b, at) = old;
		slot(b, at++)->end = number;
	}
	*slot(b, at) = (struct scrollback_entry){.line = (struct packed *)(void *)chunk->bytes,
		.chunk = chunk,
		.end = number + 1,
		.size = old.size};
	slot(b, at)->line->wrapped = false;
	if (number + 1 < old.end)
		*slot(b, at + 1) = old;
	old.chunk->entries += more - 1;
	b->stored += (size_t)more * old.size;
}

/* The newest line uses the styles of its runs. */
static void use_styles(struct scrollback *b, const struct packed *p)
{
	for (unsigned i = 0; b->styles && i < p->runs; i++)
		intern_use(b->styles, p->run[i].style, b->number + b->count - 1);
}

static void use_cluster(struct scrollback *b, uint32_t text)
{
	if (b->clusters && (text & CELL_CLUSTER))
		intern_use(b->clusters, text & CELL_CODE, b->number + b->count - 1);
}

static void use_clusters(struct scrollback *b, const struct packed *p)
{
	const uint8_t *at = packed_text(p), *end = at + p->bytes;
	unsigned cells;
	if (!p->odd || !memchr(at, PACKED_RAW, p->bytes))
		return;
	while (at < end)
		use_cluster(b, packed_next(&at, &cells).text);
}

bool scrollback_put(struct scrollback *b, const struct packed *p)
{
	struct packed *copy = append(b, size_of(p), 1);
	if (copy) {
		memcpy(copy, p, size_of(p));
		use_styles(b, p);
		use_clusters(b, p);
	}
	return copy || b->max == 0;
}

/* Where a line is packed before its size is known: the most that a line can take. */
struct packing {
	struct packed_run *run;
	unsigned runs;
	uint8_t *text;
	size_t bytes;
	uint32_t *raw; /* texts that are no characters */
	unsigned raws;
	bool odd;
};

static void pack_raw(struct packing *to, struct cell cell)
{
	to->raw[to->raws++] = cell.text;
	to->text[to->bytes++] = PACKED_RAW;
	memcpy(to->text + to->bytes, &cell.text, sizeof cell.text);
	to->bytes += sizeof cell.text;
	to->odd = true;
}

/* Pack the cell at i. Returns how many cells that were. */
static unsigned pack_cell(struct packing *to, const struct line *line, unsigned i, unsigned extent)
{
	struct cell cell = line->cells[i];
	uint32_t code = cell.text & CELL_CODE;
	bool pair = cell_width(cell) == 2 && i + 1 < extent && cell_is_tail(line->cells[i + 1]) &&
		line->cells[i + 1].style == cell.style;
	if ((cell.text & CELL_CLUSTER) || code < 0x20 || (cell_width(cell) != 1 && !pair)) {
		pack_raw(to, cell);
		return 1;
	}
	if (pair) {
		to->text[to->bytes++] = PACKED_WIDE;
		to->odd = true;
	}
	to->bytes += utf8_encode(code, to->text + to->bytes);
	return pair ? 2 : 1;
}

static void pack_style(struct packing *to, uint32_t style, unsigned cells)
{
	if (to->runs > 0 && to->run[to->runs - 1].style == style)
		to->run[to->runs - 1].cells += cells;
	else
		to->run[to->runs++] = (struct packed_run){.style = style, .cells = cells};
}

/* How many cells are ASCII without controls and in the style of the first, which most of most lines are. */
static unsigned ascii_run(const struct cell *cells, unsigned count)
{
	typedef uint32_t pair __attribute__((vector_size(16))); /* of cells */
	const pair space = {0x20, 0, 0x20, 0}, text = {~0x7fu, 0, ~0x7fu, 0},
		   styles = {0, ~0u, 0, ~0u}, style = {0, cells[0].style, 0, cells[0].style};
	unsigned i = 0;
	for (; count - i >= 4; i += 4) {
		pair a, b;
		uint64_t other[2];
		memcpy(&a, cells + i, sizeof a);
		memcpy(&b, cells + i + 2, sizeof b);
		/* Bits that ASCII has not, also when a space is taken away; styles that differ. */
		pair wrong = (((a | (a - space)) | (b | (b - space))) & text) |
			(((a ^ style) | (b ^ style)) & styles);
		memcpy(other, &wrong, sizeof other);
		if ((other[0] | other[1]) != 0)
			break;
	}
	while (i < count && cells[i].style == cells[0].style && cells[i].text >= 0x20 &&
		cells[i].text < 0x80)
		i++;
	return i;
}

static unsigned blank_run(const struct cell *cells, unsigned count)
{
	unsigned i = 1;
	while (i < count && cells[i].style == cells[0].style && cells[i].text == 0)
		i++;
	return i;
}

static void pack_ascii(uint8_t *restrict text, const struct cell *restrict cells, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		text[i] = (uint8_t)cells[i].text;
}

static void pack_line(struct packing *to, const struct line *line, unsigned extent)
{
	unsigned i = 0;
	while (i < extent) {
		unsigned cells = ascii_run(line->cells + i, extent - i);
		if (cells > 0) {
			pack_ascii(to->text + to->bytes, line->cells + i, cells);
			to->bytes += cells;
		} else if (line->cells[i].text == 0) {
			cells = blank_run(line->cells + i, extent - i);
			memset(to->text + to->bytes, PACKED_BLANK, cells);
			to->bytes += cells;
			to->odd = true;
		} else {
			cells = pack_cell(to, line, i, extent);
		}
		pack_style(to, line->cells[i].style, cells);
		i += cells;
	}
	if (to->runs == 1 && to->run[0].style == 0)
		to->runs = 0;
}

/* Where lines are packed, from one to the next: packing must not cost more than the copy. */
static _Thread_local struct packed_run packed_runs[1024];
static _Thread_local uint8_t packed_bytes[1024 * 6];
static _Thread_local uint32_t packed_raw[1024]; /* texts that are no characters */
static _Thread_local unsigned packed_raws;

/* Pack a line there. ret_head: what is to go before it. */
static void pack(const struct line *line, struct packed *ret_head)
{
	unsigned extent = line_extent(line), trimmed = extent;
	if (extent > 0 &&
		(!cell_has_content(line->cells[extent - 1]) ||
			cell_width(line->cells[extent - 1]) != 1))
		trimmed = line_trimmed(line);
	if (extent > 1024)
		extent = 1024;
	struct packing to = {.run = packed_runs, .text = packed_bytes, .raw = packed_raw};
	pack_line(&to, line, extent);
	packed_raws = to.raws;
	*ret_head = (struct packed){.offset = line->offset,
		.bytes = (uint32_t)to.bytes,
		.runs = (uint16_t)to.runs,
		.extent = (uint16_t)extent,
		.trimmed = (uint16_t)trimmed,
		.wrapped = line->wrapped,
		.odd = to.odd};
}

/* Put together what has been packed. */
static void put_packed(struct packed *to, const struct packed *head)
{
	if (!to)
		return;
	*to = *head;
	memcpy(to->run, packed_runs, head->runs * sizeof *packed_runs);
	memcpy(to->run + head->runs, packed_bytes, head->bytes);
}

bool scrollback_push_many(struct scrollback *b, const struct line *line, uint64_t n)
{
	struct packed head;
	pack(line, &head);
	struct packed *p = n > 0 ? append(b, size_of(&head), n) : NULL;
	put_packed(p, &head);
	if (p)
		use_styles(b, p);
	for (unsigned i = 0; p && i < packed_raws; i++)
		use_cluster(b, packed_raw[i]);
	return p || n == 0 || b->max == 0;
}

bool scrollback_push(struct scrollback *b, const struct line *line)
{
	return scrollback_push_many(b, line, 1);
}

struct packed *scrollback_pack(const struct line *line)
{
	struct packed head;
	pack(line, &head);
	struct packed *p = malloc(size_of(&head));
	put_packed(p, &head);
	return p;
}
