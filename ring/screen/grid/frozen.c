/* A table of blocks, oldest first, and a cache of decompressed blocks. */
#include "ring/screen/grid/frozen.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct item {
	struct block *block;
	uint64_t first, end; /* its lines [first, end) */
	uint64_t counted;    /* lines before this one are dropped and subtracted from `bytes` */
	size_t bytes;
};

struct cached {
	struct block_lines *lines; /* NULL: unused */
	uint64_t first, end;
};

struct frozen {
	struct item *items; /* valid from index `oldest` on */
	size_t oldest, count, capacity;
	size_t memory, bytes; /* totals of all blocks */
	struct block_reader *reader;
	struct cached cached[FROZEN_CACHED];
	unsigned last; /* index of the last used one */
	bool failed;
};

struct frozen *frozen_create(void)
{
	return calloc(1, sizeof(struct frozen));
}

void frozen_drop_cache(struct frozen *f)
{
	for (unsigned i = 0; i < FROZEN_CACHED; i++) {
		free(f->cached[i].lines);
		f->cached[i] = (struct cached){0};
	}
	block_reader_destroy(f->reader);
	f->reader = NULL;
	f->failed = false;
}

void frozen_destroy(struct frozen *f)
{
	if (!f)
		return;
	frozen_drop_cache(f);
	for (size_t i = 0; i < f->count; i++)
		free(f->items[f->oldest + i].block);
	free(f->items);
	free(f);
}

static size_t weight_of(const struct block *b)
{
	return sizeof *b + b->size;
}

/* Make space for n more items. */
static bool reserve(struct frozen *f, size_t n)
{
	if (f->oldest + f->count + n <= f->capacity)
		return true;
	if (f->oldest > 0)
		memmove(f->items, f->items + f->oldest, f->count * sizeof *f->items);
	f->oldest = 0;
	if (f->count + n <= f->capacity)
		return true;
	size_t capacity = f->capacity * 2 + 8;
	struct item *items = realloc(f->items, capacity * sizeof *items);
	if (!items)
		return false;
	f->items = items;
	f->capacity = capacity;
	return true;
}

bool frozen_append(struct frozen *f, struct block *block, uint64_t first, uint64_t end, size_t bytes)
{
	if (!reserve(f, 1))
		return false;
	f->items[f->oldest + f->count++] = (struct item){
		.block = block, .first = first, .end = end, .counted = first, .bytes = bytes};
	f->memory += weight_of(block);
	f->bytes += bytes;
	return true;
}

static struct item *find(const struct frozen *f, uint64_t number)
{
	size_t low = f->oldest, high = f->oldest + f->count;
	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;
		if (f->items[middle].first <= number)
			low = middle;
		else
			high = middle;
	}
	return &f->items[low];
}

/* Decompress a line's block into the least recently used entry. Returns NULL on failure. */
static struct cached *read_block(struct frozen *f, uint64_t number)
{
	const struct item *item = find(f, number);
	struct block_lines *lines;
	if (!f->reader)
		f->reader = block_reader_create();
	if (!f->reader || block_read(f->reader, item->block, &lines) < 0)
		return NULL;
	f->last = (f->last + 1) % FROZEN_CACHED;
	struct cached *cached = &f->cached[f->last];
	free(cached->lines);
	*cached = (struct cached){lines, item->first, item->end};
	return cached;
}

static struct cached *find_cached(struct frozen *f, uint64_t number)
{
	for (unsigned i = 0; i < FROZEN_CACHED; i++) {
		struct cached *cached = &f->cached[i];
		if (!cached->lines || number < cached->first || number >= cached->end)
			continue;
		f->last = i;
		return cached;
	}
	return read_block(f, number);
}

_Static_assert(FROZEN_CACHED == 2, "with two entries, the next one is the least recently used");

/* Index of the distinct line that is the i-th line of a block. */
static uint32_t index_of(const struct block_lines *lines, uint64_t i)
{
	if (i < lines->count && lines->line[i].end == i + 1)
		return (uint32_t)i;
	uint32_t low = 0, high = lines->count - 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (lines->line[middle].end > i)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static struct packed *line_at(struct block_lines *lines, uint32_t i)
{
	return (struct packed *)(void *)(lines->bytes + lines->line[i].at);
}

struct packed *frozen_peek(struct frozen *f, uint64_t number, uint64_t *ret_end)
{
	struct cached *cached = find_cached(f, number);
	if (!cached)
		return NULL;
	uint32_t i = index_of(cached->lines, number - cached->first);
	if (ret_end)
		*ret_end = cached->first + cached->lines->line[i].end;
	return line_at(cached->lines, i);
}

struct packed *frozen_get(struct frozen *f, uint64_t number, uint64_t *ret_end)
{
	struct packed *p = frozen_peek(f, number, ret_end);
	f->failed = f->failed || !p;
	return p;
}

bool frozen_failed(const struct frozen *f)
{
	return f->failed;
}

/* Drop a changed or removed block from the cache. */
static void forget(struct frozen *f, uint64_t first)
{
	for (unsigned i = 0; i < FROZEN_CACHED; i++)
		if (f->cached[i].lines && f->cached[i].first == first) {
			free(f->cached[i].lines);
			f->cached[i] = (struct cached){0};
		}
}

struct frozen_weight frozen_drop(struct frozen *f, uint64_t oldest)
{
	struct frozen_weight gone = {0};
	while (f->count > 0 && f->items[f->oldest].end <= oldest) {
		struct item *item = &f->items[f->oldest];
		forget(f, item->first);
		gone.memory += weight_of(item->block);
		gone.bytes += item->bytes;
		free(item->block);
		f->oldest++;
		f->count--;
	}
	f->memory -= gone.memory;
	f->bytes -= gone.bytes;
	return gone;
}

uint64_t frozen_first_end(const struct frozen *f)
{
	assert(f->count > 0);
	return f->items[f->oldest].end;
}

size_t frozen_count_dropped(struct frozen *f, uint64_t oldest)
{
	struct item *item = &f->items[f->oldest];
	size_t gone = 0;
	while (f->count > 0 && item->counted < oldest) {
		uint64_t end;
		const struct packed *p = frozen_peek(f, item->counted, &end);
		if (!p)
			break;
		end = end < oldest ? end : oldest;
		gone += (size_t)(end - item->counted) * packed_size(p);
		item->counted = end;
	}
	item->bytes -= gone;
	f->bytes -= gone;
	return gone;
}

/* A block that is being rebuilt, as one block or two. */
struct remade {
	struct block_writer *writer;
	struct item items[2];
	unsigned count;
	uint64_t next;
};

static bool finish_block(struct remade *to)
{
	struct item *item = &to->items[to->count];
	item->end = to->next;
	item->block = to->next > item->first ? block_writer_finish(to->writer) : NULL;
	to->count += item->block != NULL;
	return item->block != NULL;
}

/* Add a line, repeated up to number `end`. */
static bool add_lines(struct remade *to, const struct packed *p, uint64_t end)
{
	uint32_t times = (uint32_t)(end - to->next);
	if (times == 0)
		return true;
	if (!block_writer_add(to->writer, p, times)) {
		if (to->count > 0 || !finish_block(to) || !block_writer_add(to->writer, p, times))
			return false;
		to->items[1].first = to->next;
	}
	to->items[to->count].bytes += times * packed_size(p);
	to->next = end;
	return true;
}

/* Rebuild a block with one line unwrapped. */
static bool remake(struct remade *to, struct block_lines *lines, uint64_t first, uint64_t number)
{
	to->next = to->items[0].first = first;
	for (uint32_t i = 0; i < lines->count; i++) {
		struct packed *p = line_at(lines, i);
		uint64_t end = first + lines->line[i].end;
		if (number < to->next || number >= end) {
			if (!add_lines(to, p, end))
				return false;
			continue;
		}
		bool added = add_lines(to, p, number);
		p->wrapped = false;
		added = added && add_lines(to, p, number + 1);
		p->wrapped = true;
		if (!added || !add_lines(to, p, end))
			return false;
	}
	return finish_block(to);
}

/* Replace an item by one or two blocks. Dropped lines in it count again until frozen_count_dropped(). */
static void replace(struct frozen *f, struct item *item, const struct remade *with)
{
	f->memory -= weight_of(item->block);
	f->bytes -= item->bytes;
	free(item->block);
	if (with->count == 2) {
		size_t behind = (size_t)(f->items + f->oldest + f->count - item - 1);
		memmove(item + 2, item + 1, behind * sizeof *item);
		f->count++;
	}
	for (unsigned i = 0; i < with->count; i++) {
		item[i] = with->items[i];
		item[i].counted = item[i].first;
		f->memory += weight_of(item[i].block);
		f->bytes += item[i].bytes;
	}
}

struct frozen_weight frozen_unwrap(struct frozen *f, uint64_t number)
{
	struct frozen_weight before = {f->memory, f->bytes}, more = {0};
	struct cached *cached = find_cached(f, number);
	if (!cached ||
		!line_at(cached->lines, index_of(cached->lines, number - cached->first))->wrapped ||
		!reserve(f, 1))
		return more;
	struct remade to = {.writer = block_writer_create()};
	struct item *item = find(f, number);
	if (to.writer && remake(&to, cached->lines, item->first, number)) {
		forget(f, item->first);
		replace(f, item, &to);
		more = (struct frozen_weight){f->memory - before.memory, f->bytes - before.bytes};
	} else {
		for (unsigned i = 0; i < to.count; i++)
			free(to.items[i].block);
	}
	block_writer_destroy(to.writer);
	return more;
}

size_t frozen_stored(const struct frozen *f)
{
	return f->memory;
}

size_t frozen_bytes(const struct frozen *f)
{
	return f->bytes;
}

size_t frozen_overhead(const struct frozen *f)
{
	size_t cached = 0;
	for (unsigned i = 0; i < FROZEN_CACHED; i++)
		cached += f->cached[i].lines ? f->cached[i].lines->memory : 0;
	return sizeof *f + f->capacity * sizeof *f->items + cached;
}
