/*
 * A hash table of small slots over an array of strings. A number is free or in use; a sweep frees
 * strings that are neither marked nor used by a remaining line. The data that a sweep reads is
 * compact, because there are hundreds of thousands of strings. A refused string changes nothing.
 */
#include "ring/screen/grid/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 16u
#define SLOTS_MIN 32u
#define ALLOCATION 16u /* approximate overhead of malloc() */
#define SWEEP_MIN 256u
#define SWEEP_BYTES 256u /* bytes that count as one string */
#define CELLS_PER_ITEM 16u

/* Slots are separate from items, so that a look-up does not load other items into the cache. */
struct intern_slot {
	uint32_t hash;
	uint32_t number; /* 0: free */
};

/* A value of `uses`: MARKED, and the number of the newest line that uses the string + 1, or 0. */
#define MARKED (UINT64_C(1) << 63)
#define SHARES 64u /* groups of lines in intern_oldest() */

struct intern_item {
	uint32_t hash;
	size_t length;
	uint8_t bytes[];
};

__extension__ typedef unsigned __int128 product;

static uint64_t mix(uint64_t a, uint64_t b)
{
	product p = (product)a * b;
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Seeded with the table's address, which differs from run to run, against crafted collisions. */
static uint32_t hash_of(const struct intern *t, const uint8_t *bytes, size_t length)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t word, hash = (uint64_t)(uintptr_t)t ^ length;
	for (; length >= sizeof word; length -= sizeof word, bytes += sizeof word) {
		memcpy(&word, bytes, sizeof word);
		hash = mix(hash ^ word, odd) + word;
	}
	word = 0;
	memcpy(&word, bytes, length);
	hash = mix(hash ^ word ^ odd, odd);
	return (uint32_t)(hash ^ hash >> 32);
}

/*
 * Size at which to sweep again. A sweep costs as much as the screen is large, so it must be rare:
 * at twice what is in use, or near the limit after a fixed share of growth.
 */
static size_t next_sweep(size_t used, size_t min, size_t max)
{
	size_t wanted = used < min / 2 ? min : used * 2, rare = used + max / 8 + 1;
	return wanted < max ? wanted : rare > max ? rare : max;
}

static void plan_sweep(struct intern *t)
{
	t->sweep_at = next_sweep(t->count, t->sweep_min, t->max);
	t->sweep_at_bytes = next_sweep(t->bytes, t->sweep_min * SWEEP_BYTES, t->max_bytes);
	t->refused = t->refused_bytes = 0;
}

void intern_init(struct intern *t, uint32_t max, size_t max_bytes)
{
	*t = (struct intern){.next = 1, .max = max, .max_bytes = max_bytes, .sweep_min = SWEEP_MIN};
	plan_sweep(t);
}

void intern_set_cells(struct intern *t, size_t cells)
{
	t->sweep_min = cells / CELLS_PER_ITEM > SWEEP_MIN ? cells / CELLS_PER_ITEM : SWEEP_MIN;
	if (t->sweep_at < t->sweep_min)
		plan_sweep(t);
}

void intern_finish(struct intern *t)
{
	for (uint32_t i = 0; i < t->capacity; i++)
		free(t->items[i]);
	free(t->items);
	free(t->uses);
	free(t->slots);
	*t = (struct intern){0};
}

/* Slot of a string, or the free slot for it. There is always a free slot. */
static struct intern_slot *find(
	const struct intern *t, uint32_t hash, const void *bytes, size_t length)
{
	for (uint32_t i = hash;; i++) {
		struct intern_slot *slot = &t->slots[i & (t->slot_count - 1)];
		if (slot->number == 0)
			return slot;
		const struct intern_item *item = slot->hash == hash ? t->items[slot->number] : NULL;
		if (item && item->length == length && memcmp(item->bytes, bytes, length) == 0)
			return slot;
	}
}

static struct intern_slot *find_free(const struct intern *t, uint32_t hash)
{
	uint32_t i = hash;
	while (t->slots[i & (t->slot_count - 1)].number != 0)
		i++;
	return &t->slots[i & (t->slot_count - 1)];
}

/* Rebuild the slots from the items. */
static void rehash(struct intern *t)
{
	if (!t->slots)
		return;
	memset(t->slots, 0, t->slot_count * sizeof *t->slots);
	for (uint32_t i = 1; i < t->capacity; i++)
		if (t->items[i])
			*find_free(t, t->items[i]->hash) = (struct intern_slot){
				.hash = t->items[i]->hash, .number = i};
}

static bool grow_slots(struct intern *t)
{
	uint32_t count = t->slot_count ? t->slot_count * 2 : SLOTS_MIN;
	struct intern_slot *slots = malloc(count * sizeof *slots);
	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	rehash(t);
	return true;
}

static bool grow(struct intern *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : CAPACITY_MIN;
	struct intern_item **items = realloc(t->items, capacity * sizeof *items);
	if (!items)
		return false;
	memset(items + t->capacity, 0, (capacity - t->capacity) * sizeof *items);
	t->items = items;
	uint64_t *uses = realloc(t->uses, capacity * sizeof *uses);
	if (!uses)
		return false;
	memset(uses + t->capacity, 0, (capacity - t->capacity) * sizeof *uses);
	t->uses = uses;
	t->capacity = capacity;
	return true;
}

uint32_t intern_put(struct intern *t, const void *bytes, size_t length)
{
	uint32_t hash = hash_of(t, bytes, length);
	if (t->slots) {
		const struct intern_slot *slot = find(t, hash, bytes, length);
		if (slot->number != 0)
			return slot->number;
	}
	size_t size = sizeof(struct intern_item) + length;
	if (t->count >= t->max || t->bytes + size > t->max_bytes) {
		t->refused++;
		t->refused_bytes += size;
		return 0;
	}
	while (t->next < t->capacity && t->items[t->next])
		t->next++;
	if ((t->next >= t->capacity && !grow(t)) ||
		((t->count + 1) * 2 > t->slot_count && !grow_slots(t)))
		return 0;
	struct intern_item *item = malloc(size);
	if (!item)
		return 0;
	*item = (struct intern_item){.hash = hash, .length = length};
	memcpy(item->bytes, bytes, length);
	*find_free(t, hash) = (struct intern_slot){.hash = hash, .number = t->next};
	t->items[t->next] = item;
	t->uses[t->next] = 0;
	t->count++;
	t->bytes += size;
	return t->next++;
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

bool intern_needs_sweep(const struct intern *t)
{
	return t->count + t->refused >= t->sweep_at ||
		t->bytes + t->refused_bytes >= t->sweep_at_bytes;
}

size_t intern_memory(const struct intern *t)
{
	return t->bytes + t->count * ALLOCATION +
		t->capacity * (sizeof *t->items + sizeof *t->uses) +
		t->slot_count * sizeof *t->slots;
}

void intern_use(struct intern *t, uint32_t number, uint64_t line)
{
	if (number < t->capacity)
		t->uses[number] = line + 1;
}

void intern_mark(struct intern *t, uint32_t number)
{
	if (number < t->capacity)
		t->uses[number] |= MARKED;
}

void intern_use_like(struct intern *t, uint32_t to, const struct intern *of, uint32_t from)
{
	if (to == 0 || to >= t->capacity || from >= of->capacity)
		return;
	uint64_t mine = t->uses[to] & ~MARKED, its = of->uses[from] & ~MARKED;
	t->uses[to] = ((t->uses[to] | of->uses[from]) & MARKED) | (mine > its ? mine : its);
}

/* Number of strings and their bytes. */
struct share {
	size_t count, bytes;
};

static bool is_more(const struct share *a, size_t count, size_t bytes)
{
	return a->count > count || a->bytes > bytes;
}

static void add(struct share *to, const struct share *more)
{
	to->count += more->count;
	to->bytes += more->bytes;
}

uint64_t intern_oldest(const struct intern *t, uint64_t oldest, uint64_t end)
{
	struct share shares[SHARES] = {0}, marked = {0}, all = {t->count, t->bytes};
	uint64_t lines = (end - oldest) / SHARES + 1, keep = end;
	size_t most = t->max - t->max / 8, most_bytes = t->max_bytes - t->max_bytes / 8;
	if (!is_more(&all, most, most_bytes))
		return oldest;
	for (uint32_t i = 1; i < t->capacity; i++) {
		uint64_t line = t->uses[i] & ~MARKED;
		if (!t->items[i] || (!(t->uses[i] & MARKED) && (line <= oldest || line > end)))
			continue;
		struct share *share = t->uses[i] & MARKED ? &marked
							  : &shares[(line - 1 - oldest) / lines];
		add(share, &(struct share){1, sizeof *t->items[i] + t->items[i]->length});
	}
	all = marked;
	for (unsigned i = 0; i < SHARES; i++)
		add(&all, &shares[i]);
	if (!is_more(&all, most, most_bytes))
		return oldest;
	/* Keep the newest lines, as long as half of the capacity stays free. */
	for (unsigned i = SHARES; i-- > 0;) {
		add(&marked, &shares[i]);
		if (is_more(&marked, t->max / 2, t->max_bytes / 2))
			break;
		keep = oldest + i * lines < end ? oldest + i * lines : end;
	}
	return keep;
}

void intern_sweep(struct intern *t, uint64_t oldest)
{
	for (uint32_t i = 1; i < t->capacity; i++) {
		struct intern_item *item = t->items[i];
		uint64_t use = t->uses[i];
		t->uses[i] &= ~MARKED;
		if (!item || (use & MARKED) || use > oldest)
			continue;
		t->bytes -= sizeof *item + item->length;
		t->count--;
		free(item);
		t->items[i] = NULL;
	}
	rehash(t);
	t->next = 1;
	plan_sweep(t);
}

/* The smallest power of two times min that is more than `most`. */
static uint32_t fitting(uint32_t most, uint32_t min)
{
	while (min <= most)
		min *= 2;
	return min;
}

static void shrink_slots(struct intern *t)
{
	uint32_t count = fitting(t->count * 2, SLOTS_MIN);
	struct intern_slot *slots = count < t->slot_count ? malloc(count * sizeof *slots) : NULL;
	if (!slots)
		return;
	free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	rehash(t);
}

void intern_shrink(struct intern *t)
{
	uint32_t last = t->capacity > 0 ? t->capacity - 1 : 0;
	shrink_slots(t);
	while (last > 0 && !t->items[last])
		last--;
	uint32_t capacity = fitting(last, CAPACITY_MIN);
	assert(capacity > last);
	if (capacity >= t->capacity)
		return;
	struct intern_item **items = realloc(t->items, capacity * sizeof *items);
	t->items = items ? items : t->items;
	uint64_t *uses = realloc(t->uses, capacity * sizeof *uses);
	t->uses = uses ? uses : t->uses;
	t->capacity = capacity;
	if (t->next > capacity)
		t->next = capacity;
}
