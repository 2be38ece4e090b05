/*
 * Packed lines are stored consecutively in chunks, which are freed with their last line. A circular
 * table of entries locates them; an entry may stand for many equal lines. Frozen lines precede them
 * and have neither chunks nor entries. A line for which memory is short counts as dropped.
 */
#include "ring/screen/grid/scrollback_internal.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64u
#define CHUNK_BYTES ((size_t)16 << 10) /* larger than any line */

/* A chunk of consecutive lines. */
struct scrollback_chunk {
	struct scrollback_chunk *previous, *next; /* older, newer */
	unsigned entries;                         /* remaining entries in it */
	bool single;                              /* holds a single line */
	uint32_t used;
	_Alignas(struct packed) uint8_t bytes[];
};

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

/* Index of the entry of line i, both counted from the first line that is not frozen. */
static size_t find(const struct scrollback *b, size_t i)
{
	if (b->used == b->count - b->frozen_lines)
		return i;
	size_t low = 0, high = b->used;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;
		if (scrollback_until(b, scrollback_slot(b, middle - 1)) > i)
			high = middle;
		else
			low = middle;
	}
	return low;
}

struct packed *scrollback_get(const struct scrollback *b, size_t i)
{
	/* stands for a line that cannot be read; never written */
	static _Thread_local struct packed none;
	if (i >= b->frozen_lines)
		return scrollback_slot(b, find(b, i - b->frozen_lines))->line;
	struct packed *p = frozen_get(b->frozen, b->number + i, NULL);
	return p ? p : &none;
}

bool scrollback_is_whole(const struct scrollback *b)
{
	return !b->frozen || !frozen_failed(b->frozen);
}

void scrollback_drop_cache(const struct scrollback *b)
{
	if (b->frozen)
		frozen_drop_cache(b->frozen);
}

void scrollback_finish(struct scrollback *b)
{
	frozen_destroy(b->frozen);
	while (b->oldest) {
		struct scrollback_chunk *chunk = b->oldest;
		b->oldest = chunk->next;
		free(chunk);
	}
	free(b->spare);
	free(b->entries);
	*b = (struct scrollback){0};
}

/* The chunk of an entry. For the oldest entry it is one of the two oldest chunks. */
static struct scrollback_chunk *chunk_of(
	const struct scrollback *b, const struct scrollback_entry *entry)
{
	uintptr_t at = (uintptr_t)entry->line;
	struct scrollback_chunk *chunk = b->oldest;
	while (at - (uintptr_t)chunk->bytes >= chunk->used)
		chunk = chunk->next;
	return chunk;
}

/* Drop an entry of a chunk. The chunk is freed or kept as the spare one with its last entry. */
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

void scrollback_forget(struct scrollback *b)
{
	const struct scrollback_entry *oldest = scrollback_slot(b, 0);
	b->stored -= oldest->size;
	release(b, chunk_of(b, oldest));
	b->first++;
	b->used--;
}

static void count_dropped(struct scrollback *b, unsigned n)
{
	b->number += n;
	b->dropped += n;
	b->count -= n;
}

/* A block's bytes are subtracted with its last line: counting earlier means decompressing. */
static void drop_frozen(struct scrollback *b, unsigned n)
{
	count_dropped(b, n);
	b->frozen_lines -= n;
	struct frozen_weight gone = frozen_drop(b->frozen, b->number);
	b->bytes -= gone.bytes;
	b->stored -= gone.memory;
	if (b->frozen_lines > 0)
		return;
	frozen_destroy(b->frozen);
	b->frozen = NULL;
}

void scrollback_drop(struct scrollback *b, unsigned n)
{
	unsigned frozen = n < b->frozen_lines ? n : b->frozen_lines;
	if (frozen > 0)
		drop_frozen(b, frozen);
	n -= frozen;
	while (n > 0 && b->count > 0) {
		struct scrollback_entry *oldest = scrollback_slot(b, 0);
		uint32_t lines = scrollback_until(b, oldest), gone = lines > n ? n : lines;
		b->bytes -= (size_t)gone * oldest->size;
		if (gone == lines)
			scrollback_forget(b);
		count_dropped(b, gone);
		n -= gone;
	}
}

/* Drop frozen lines of about `excess` bytes, or the oldest block if it cannot be read. */
static void drop_frozen_bytes(struct scrollback *b, size_t excess)
{
	size_t counted = frozen_count_dropped(b->frozen, b->number);
	b->bytes -= counted;
	if (counted >= excess)
		return;
	uint64_t end, lines = frozen_first_end(b->frozen) - b->number;
	const struct packed *p = frozen_peek(b->frozen, b->number, &end);
	if (p) {
		size_t each = packed_size(p), gone = (excess - counted + each - 1) / each;
		lines = gone < end - b->number ? gone : end - b->number;
	}
	drop_frozen(b, (unsigned)lines);
}

/* Drop some of the oldest lines, frozen or not, of at most about `excess` bytes. */
static void drop_bytes(struct scrollback *b, size_t excess)
{
	if (b->frozen_lines > 0) {
		drop_frozen_bytes(b, excess);
		return;
	}
	size_t each = scrollback_slot(b, 0)->size;
	uint64_t lines = scrollback_until(b, scrollback_slot(b, 0)),
		 gone = (excess + each - 1) / each;
	scrollback_drop(b, (unsigned)(gone < lines ? gone : lines));
}

/* Resize the table of entries. capacity: a power of two that holds all entries. */
static bool set_capacity(struct scrollback *b, size_t capacity)
{
	struct scrollback_entry *entries = malloc(capacity * sizeof *entries);
	if (!entries)
		return false;
	for (unsigned i = 0; i < b->used; i++)
		entries[i] = *scrollback_slot(b, i);
	free(b->entries);
	b->entries = entries;
	b->capacity = capacity;
	b->first = 0;
	return true;
}

static bool grow(struct scrollback *b)
{
	return set_capacity(b, b->capacity ? b->capacity * 2 : CAPACITY_MIN);
}

size_t scrollback_memory(const struct scrollback *b)
{
	size_t blocks = b->frozen ? frozen_overhead(b->frozen) : 0;
	return b->stored + b->capacity * sizeof *b->entries + blocks;
}

void scrollback_shrink(struct scrollback *b)
{
	size_t capacity = CAPACITY_MIN;
	while (capacity < b->used)
		capacity *= 2;
	if (capacity < b->capacity)
		(void)set_capacity(b, capacity); /* a table that is too large does no harm */
	free(b->spare);
	b->spare = NULL;
}

/* Allocate space after the newest line; NULL if memory is short. */
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
	chunk->used += (uint32_t)packed_align(size);
	chunk->entries++;
	return p;
}

struct packed *scrollback_append(struct scrollback *b, size_t size, uint64_t n)
{
	unsigned more = n < b->max ? (unsigned)n : b->max;
	size_t limit = (size_t)b->max * SCROLLBACK_LINE_BYTES;
	if (more > 1 && size * more > limit)
		more = (unsigned)(limit / size);
	if (b->count + more > b->max)
		scrollback_drop(b, b->count + more - b->max);
	while (b->count > 0 && b->bytes + size * more > limit)
		drop_bytes(b, b->bytes + size * more - limit);
	struct packed *p = NULL;
	if (b->max > 0 && (b->used < b->capacity || grow(b)))
		p = allocate(b, size);
	if (!p) {
		b->dropped += n;
		return NULL;
	}
	b->dropped += n - more;
	b->count += more;
	*scrollback_slot(b, b->used++) = (struct scrollback_entry){
		.line = p, .end = (uint32_t)b->number + b->count, .size = (uint32_t)size};
	b->bytes += size * more;
	b->stored += size;
	return p;
}

/* Insert space for n entries before the one at `at`, which is near the oldest. */
static bool open_gap(struct scrollback *b, size_t at, unsigned n)
{
	while (b->used + n > b->capacity)
		if (!grow(b))
			return false;
	b->first = (b->first + b->capacity - n) & (b->capacity - 1);
	b->used += n;
	for (size_t i = 0; i < at; i++)
		*scrollback_slot(b, i) = *scrollback_slot(b, i + n);
	return true;
}

/* Copy an entry's line into a chunk of its own. */
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

static void unwrap_frozen(struct scrollback *b, size_t i)
{
	struct frozen_weight more = frozen_unwrap(b->frozen, b->number + i);
	b->bytes += more.bytes;
	b->stored += more.memory;
}

void scrollback_unwrap(struct scrollback *b, size_t i)
{
	if (i < b->frozen_lines) {
		unwrap_frozen(b, i);
		return;
	}
	size_t at = find(b, i - b->frozen_lines);
	struct scrollback_entry old = *scrollback_slot(b, at);
	uint32_t number = (uint32_t)(b->number + i),
		 start = at > 0 ? scrollback_slot(b, at - 1)->end
				: (uint32_t)scrollback_first_unfrozen(b);
	if (!old.line->wrapped)
		return;
	/* Other entries may share the line, if it was split from them. */
	if (old.end - start == 1 && chunk_of(b, &old)->single) {
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
		*scrollback_slot(b, at) = old;
		scrollback_slot(b, at++)->end = number;
	}
	*scrollback_slot(b, at) = (struct scrollback_entry){
		.line = (struct packed *)(void *)chunk->bytes, .end = number + 1, .size = old.size};
	scrollback_slot(b, at)->line->wrapped = false;
	if (number + 1 != old.end)
		*scrollback_slot(b, at + 1) = old;
	if (more == 0)
		release(b, chunk->next);
	else
		chunk->next->entries += more - 1;
	b->stored += (size_t)more * old.size;
}

/* Record that the newest line uses the styles of its runs. */
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
	struct packed *copy = scrollback_append(b, packed_size(p), 1);
	if (copy) {
		memcpy(copy, p, packed_size(p));
		use_styles(b, p);
		use_clusters(b, p);
	}
	return copy || b->max == 0;
}

/* Append n copies of a packed line. Returns the line; NULL if it is dropped. */
static struct packed *put(struct scrollback *b, const struct packing *from, uint64_t n)
{
	struct packed *p = n > 0 ? scrollback_append(b, packing_size(from), n) : NULL;
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

void scrollback_skip(struct scrollback *b, uint64_t n)
{
	scrollback_drop(b, b->count);
	b->dropped += n;
}
