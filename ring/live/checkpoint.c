/*
 * A slot's number is 0 while it is written, and a checksum covers its contents, so a slot torn by a
 * crash is never read.
 */
#include "ring/live/checkpoint.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PAGE ((size_t)4096)
#define SLOTS 2u
#define MAGIC UINT64_C(0x31544b4843535352) /* "RSSCHKT1", little endian */

/* Header of a slot, followed by the bytes. The layout is frozen with this magic. */
struct slot {
	uint64_t magic;
	_Atomic uint64_t number; /* counts up; 0 while it is being written */
	uint64_t offset;
	uint32_t rows, cols;
	uint64_t length;
	uint64_t sum;
};

_Static_assert(sizeof(struct slot) == 48, "the layout is frozen");

static size_t slot_size(const struct control *c)
{
	return c->size > PAGE ? (c->size - PAGE) / SLOTS / PAGE * PAGE : 0;
}

static struct slot *slot_at(const struct control *c, unsigned i)
{
	return (struct slot *)(void *)((char *)c->page + PAGE + i * slot_size(c));
}

size_t checkpoint_capacity(const struct control *c)
{
	size_t size = slot_size(c);
	return size > sizeof(struct slot) ? size - sizeof(struct slot) : 0;
}

/* Checksum of a slot and its bytes. It detects torn writes, not tampering. */
static uint64_t sum_of(const struct slot *slot, const void *bytes)
{
	const char *at = bytes;
	uint64_t sum = slot->offset ^ slot->length ^ (uint64_t)slot->rows << 32 ^ slot->cols, word;
	size_t left = slot->length;
	for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
		memcpy(&word, at, sizeof word);
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 29;
	}
	word = 0;
	memcpy(&word, at, left);
	return (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t number_of(const struct slot *slot)
{
	return slot->magic == MAGIC ? atomic_load_explicit(&slot->number, memory_order_acquire) : 0;
}

bool checkpoint_write(const struct control *c, const struct checkpoint *checkpoint)
{
	size_t space = checkpoint_capacity(c);
	if (space == 0 || checkpoint->length > space)
		return false;
	uint64_t a = number_of(slot_at(c, 0)), b = number_of(slot_at(c, 1));
	struct slot *slot = slot_at(c, a <= b ? 0 : 1);
	const struct slot header = {.offset = checkpoint->offset,
		.rows = checkpoint->rows,
		.cols = checkpoint->cols,
		.length = checkpoint->length};
	atomic_store(&slot->number, 0);
	slot->magic = MAGIC;
	slot->offset = header.offset;
	slot->rows = header.rows;
	slot->cols = header.cols;
	slot->length = header.length;
	memcpy(slot + 1, checkpoint->bytes, checkpoint->length);
	slot->sum = sum_of(&header, checkpoint->bytes);
	atomic_store(&slot->number, (a > b ? a : b) + 1);
	return true;
}

/* Copy the i-th slot. Returns false if it is torn or memory is short. *ret_bytes is owned. */
static bool read_slot(const struct control *c, unsigned i, struct slot *ret_slot, void **ret_bytes)
{
	const struct slot *slot = slot_at(c, i);
	memcpy(ret_slot, slot, sizeof *ret_slot);
	atomic_thread_fence(memory_order_acquire); /* check and use the same copy */
	if (ret_slot->length > checkpoint_capacity(c))
		return false;
	void *bytes = malloc(ret_slot->length > 0 ? ret_slot->length : 1);
	if (!bytes)
		return false;
	memcpy(bytes, slot + 1, ret_slot->length);
	atomic_thread_fence(memory_order_acquire);
	if (ret_slot->sum != sum_of(ret_slot, bytes)) {
		free(bytes);
		return false;
	}
	*ret_bytes = bytes;
	return true;
}

bool checkpoint_find(const struct control *c, struct checkpoint *ret_checkpoint, void **ret_bytes)
{
	uint64_t newest = 0;
	void *found = NULL, *bytes;
	for (unsigned i = 0; i < SLOTS && checkpoint_capacity(c) > 0; i++) {
		struct slot slot;
		uint64_t number = number_of(slot_at(c, i));
		if (number <= newest || !read_slot(c, i, &slot, &bytes))
			continue;
		free(found);
		found = bytes;
		newest = number;
		*ret_checkpoint = (struct checkpoint){.offset = slot.offset,
			.rows = slot.rows,
			.cols = slot.cols,
			.bytes = bytes,
			.length = slot.length};
	}
	if (found)
		*ret_bytes = found;
	return found != NULL;
}
