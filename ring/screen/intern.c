#include "ring/screen/intern.h"

#include <stdlib.h>
#include <string.h>

/* Out of memory is an answer here, not the end of the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define CAPACITY_MIN 16u
#define SWEEP_MIN 256u

struct intern_item {
	UT_hash_handle hh;
	uint32_t number;
	bool marked;
	size_t length;
	uint8_t bytes[];
};

void intern_init(struct intern *t, uint32_t max)
{
	*t = (struct intern){.next = 1, .sweep_at = SWEEP_MIN < max ? SWEEP_MIN : max, .max = max};
}

void intern_finish(struct intern *t)
{
	HASH_CLEAR(hh, t->table);
	for (uint32_t i = 0; i < t->capacity; i++)
		free(t->items[i]);
	free(t->items);
	*t = (struct intern){0};
}

static bool grow(struct intern *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : CAPACITY_MIN;
	struct intern_item **items = realloc(t->items, capacity * sizeof *items);
	if (!items)
		return false;
	memset(items + t->capacity, 0, (capacity - t->capacity) * sizeof *items);
	t->items = items;
	t->capacity = capacity;
	return true;
}

uint32_t intern_put(struct intern *t, const void *bytes, size_t length)
{
	struct intern_item *item;
	HASH_FIND(hh, t->table, bytes, length, item);
	if (item)
		return item->number;
	if (t->count >= t->max) {
		t->refused++;
		return 0;
	}
	while (t->next < t->capacity && t->items[t->next])
		t->next++;
	if (t->next >= t->capacity && !grow(t))
		return 0;
	item = malloc(sizeof *item + length);
	if (!item)
		return 0;
	item->number = t->next;
	item->marked = false;
	item->length = length;
	memcpy(item->bytes, bytes, length);
	unsigned before = HASH_COUNT(t->table);
	HASH_ADD_KEYPTR(hh, t->table, item->bytes, length, item);
	if (HASH_COUNT(t->table) == before) {
		free(item);
		return 0;
	}
	t->items[t->next++] = item;
	t->count++;
	return item->number;
}

const void *intern_get(const struct intern *t, uint32_t number, size_t *ret_length)
{
	const struct intern_item *item = number < t->capacity ? t->items[number] : NULL;
	if (!item)
		return NULL;
	if (ret_length)
		*ret_length = item->length;
	return item->bytes;
}

bool intern_wants_sweep(const struct intern *t)
{
	return t->count + t->refused >= t->sweep_at;
}

void intern_mark(struct intern *t, uint32_t number)
{
	if (number < t->capacity && t->items[number])
		t->items[number]->marked = true;
}

void intern_sweep(struct intern *t)
{
	for (uint32_t i = 0; i < t->capacity; i++) {
		struct intern_item *item = t->items[i];
		if (!item)
			continue;
		if (item->marked) {
			item->marked = false;
			continue;
		}
		HASH_DEL(t->table, item);
		free(item);
		t->items[i] = NULL;
		t->count--;
	}
	t->next = 1;
	/* Twice what is in use: a sweep costs as much as the screen is large, so it must be rare. */
	uint32_t wanted = t->count < SWEEP_MIN / 2 ? SWEEP_MIN : t->count * 2;
	uint32_t rare = t->count + t->max / 8 + 1;
	t->sweep_at = wanted < t->max ? wanted : rare > t->max ? rare : t->max;
	t->refused = 0;
}
