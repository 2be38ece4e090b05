/*
 * Packed lines lie one behind the other in chunks, which go with their last line; a circular table of entries finds
 * them, each of which may stand for many lines.
 * A line for which there is no memory counts as dropped.
 */
#include "ring/screen/grid/scrollback.h"

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

/* How many lines there are up to the end of an entry. */
static uint32_t lines_until(const struct scrollback *b, const struct scrollback_entry *entry)
{
	return entry->end - (uint32_t)b->number;
}

/* Index of the entry that line i is in. */
static size_t find(const struct scrollback *b, size_t i)
{
	if (b->used == b->count)
		return i;
	size_t low = 0, high = b->used;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;
		if (lines_until(b, slot(b, middle - 1)) > i)
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

/* The chunk that an entry lies in: for the oldest entry it is one of the two oldest. */
static struct scrollback_chunk *chunk_of(
	const struct scrollback *b, const struct scrollback_entry *entry)
{
	uintptr_t at = (uintptr_t)entry->line;
	struct scrollback_chunk *chunk = b->oldest;
	while (at - (uintptr_t)chunk->bytes >= chunk->used)
		chunk = chunk->next;
	return chunk;
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
		uint32_t lines = lines_until(b, oldest), gone = lines > n ? n : lines;
		b->bytes -= (size_t)gone * oldest->size;
		if (gone == lines) {
			b->stored -= oldest->size;
			release(b, chunk_of(b, oldest));
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
	if (!chunk || chunk->single || chunk->used + size > CHUNK_BYTES) {
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
		uint64_t lines = lines_until(b, slot(b, 0)), gone = (excess + each - 1) / each;
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
		.line = p, .end = (uint32_t)b->number + b->count, .size = (uint32_t)size};
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
	struct scrollback_chunk *chunk = malloc(sizeof *chunk + entry->size),
				*next = chunk_of(b, entry);
	if (!chunk)
		return NULL;
	*chunk = (struct scrollback_chunk){.previous = next->previous,
		.next = next,
		.entries = 1,
		.single = true,
		.used = entry->size};
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
	uint32_t number = (uint32_t)(b->number + i),
		 start = at > 0 ? slot(b, at - 1)->end : (uint32_t)b->number;
	if (!old.line->wrapped)
		return;
	if (old.end - start == 1) {
		old.line->wrapped = false;
		return;
	}
	unsigned more = (number != start ? 1u : 0u) + (number + 1 != old.end ? 1u : 0u);
	struct scrollback_chunk *chunk = copy_apart(b, &old);
	if (!chunk)
		return;
	if (!open_gap(b, at, more)) {
		release(b, chunk);
		return;
	}
	if (number != start) {
		*slot(b, at) = old;
		slot(b, at++)->end = number;
	}
	*slot(b, at) = (struct scrollback_entry){
		.line = (struct packed *)(void *)chunk->bytes, .end = number + 1, .size = old.size};
	slot(b, at)->line->wrapped = false;
	if (number + 1 != old.end)
		*slot(b, at + 1) = old;
	chunk->next->entries += more - 1;
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
	struct packed *copy = append(b, packed_size(p), 1);
	if (copy) {
		memcpy(copy, p, packed_size(p));
		use_styles(b, p);
		use_clusters(b, p);
	}
	return copy || b->max == 0;
}

/* Append what has been packed n times. Returns the line; NULL when it is dropped. */
static struct packed *put(struct scrollback *b, const struct packing *from, uint64_t n)
{
	struct packed *p = n > 0 ? append(b, packing_size(from), n) : NULL;
	if (!p)
		return NULL;
	packing_copy(from, p);
	use_styles(b, p);
	for (unsigned i = 0; i < from->raws; i++)
		use_cluster(b, from->raw[i]);
	return p;
}

bool scrollback_put_packing(struct scrollback *b, const struct packing *from)
{
	return put(b, from, 1) || b->max == 0;
}

bool scrollback_push_many(struct scrollback *b, const struct line *line, uint64_t n)
{
	return put(b, packing_line(line), n) || n == 0 || b->max == 0;
}

bool scrollback_push(struct scrollback *b, const struct line *line)
{
	return scrollback_push_many(b, line, 1);
}

void scrollback_pass(struct scrollback *b, uint64_t n)
{
	scrollback_drop(b, b->count);
	b->dropped += n;
}
