/*
 * Lines are frozen and thawed as copies that replace the originals once complete, so an allocation
 * failure changes nothing.
 */
#include "ring/screen/grid/scrollback_internal.h"

#include <stdlib.h>
#include <string.h>

/* Remove the oldest n entries, which have been copied to a block. */
static void forget_entries(struct scrollback *b, unsigned n)
{
	for (; n > 0; n--) {
		uint32_t lines = scrollback_until(b, scrollback_slot(b, 0));
		scrollback_forget(b);
		b->frozen_lines += lines;
	}
}

/* Freeze the oldest entries into a block of about `most` bytes. Returns false on failure. */
static bool freeze_block(struct scrollback *b, struct block_writer *w, unsigned keep, size_t most)
{
	unsigned n = 0;
	size_t stored = 0, bytes = 0;
	uint32_t lines = 0;
	for (; n + keep < b->used && (n == 0 || stored < most); n++) {
		const struct scrollback_entry *entry = scrollback_slot(b, n);
		uint32_t times = scrollback_until(b, entry) - lines;
		if (!block_writer_add(w, entry->line, times))
			break;
		stored += entry->size;
		bytes += (size_t)times * entry->size;
		lines += times;
	}
	struct block *block = block_writer_finish(w);
	uint64_t first = scrollback_first_unfrozen(b);
	if (!block || !frozen_append(b->frozen, block, first, first + lines, bytes)) {
		free(block);
		return false;
	}
	b->stored += sizeof *block + block->size;
	forget_entries(b, n);
	return true;
}

bool scrollback_can_freeze(const struct scrollback *b, unsigned keep, size_t bytes)
{
	size_t stored = b->stored - (b->frozen ? frozen_stored(b->frozen) : 0);
	return b->used > keep && stored / b->used * (b->used - keep) >= bytes;
}

unsigned scrollback_freeze(struct scrollback *b, unsigned keep, size_t bytes, unsigned most)
{
	unsigned made = 0;
	struct block_writer *w = NULL;
	if (!scrollback_can_freeze(b, keep, bytes))
		return 0;
	if (!b->frozen)
		b->frozen = frozen_create();
	if (b->frozen)
		w = block_writer_create();
	while (w && made < most && scrollback_can_freeze(b, keep, bytes) &&
		freeze_block(b, w, keep, bytes))
		made++;
	block_writer_destroy(w);
	if (b->frozen && b->frozen_lines == 0) {
		frozen_destroy(b->frozen);
		b->frozen = NULL;
	}
	if (made > 0)
		scrollback_shrink(b);
	return made;
}

/* Append copies of the frozen lines of another scrollback with the same limits. */
static bool copy_frozen(struct scrollback *to, const struct scrollback *from)
{
	uint64_t number = from->number, end = scrollback_first_unfrozen(from), next;
	for (; number < end; number = next) {
		const struct packed *p = frozen_peek(from->frozen, number, &next);
		struct packed *copy = p ? scrollback_append(to, packed_size(p), next - number)
					: NULL;
		if (!copy)
			return false;
		memcpy(copy, p, packed_size(p));
	}
	return true;
}

static bool copy_entries(struct scrollback *to, const struct scrollback *from)
{
	uint32_t start = 0;
	for (unsigned i = 0; i < from->used; i++) {
		const struct scrollback_entry *entry = scrollback_slot(from, i);
		uint32_t end = scrollback_until(from, entry);
		struct packed *copy = scrollback_append(to, entry->size, end - start);
		if (!copy)
			return false;
		memcpy(copy, entry->line, entry->size);
		start = end;
	}
	return true;
}

bool scrollback_thaw(struct scrollback *b)
{
	if (!b->frozen)
		return true;
	b->bytes -= frozen_count_dropped(b->frozen, b->number);
	struct scrollback to = {.max = b->max,
		.number = b->number,
		.dropped = b->dropped,
		.styles = b->styles,
		.clusters = b->clusters};
	if (!copy_frozen(&to, b) || !copy_entries(&to, b)) {
		scrollback_drop_cache(b);
		scrollback_finish(&to);
		return false;
	}
	scrollback_finish(b);
	*b = to;
	return true;
}
