/* A receipt's key is 0 while it is written, so a receipt torn by a crash is not used. */
#include "ring/receipts.h"

static uint64_t load(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_acquire);
}

static void store(_Atomic uint64_t *value, uint64_t to)
{
	atomic_store_explicit(value, to, memory_order_release);
}

uint64_t receipts_written(const struct control *c)
{
	return c->page ? load(&c->page->input_written) : 0;
}

void receipts_announce(const struct control *c, size_t length)
{
	if (c->page)
		store(&c->page->input_writing, load(&c->page->input_written) + length);
}

void receipts_confirm(const struct control *c, size_t length)
{
	if (!c->page)
		return;
	uint64_t written = load(&c->page->input_written) + length;
	store(&c->page->input_written, written);
	store(&c->page->input_writing, written);
}

static struct control_receipt *receipt_at(const struct control *c, uint64_t number)
{
	return &c->page->receipts[number % CONTROL_RECEIPTS];
}

static void write_receipt(
	struct control_receipt *r, const struct control_receipt *values, uint64_t key)
{
	atomic_store(&r->key, 0);
	r->end = values->end;
	r->length = values->length;
	r->taken = values->taken;
	store(&r->key, key);
}

/* The last receipt, if the new input extends it: same client, pending, and adjacent. */
static struct control_receipt *find_open(const struct control *c, uint64_t key, uint64_t begin)
{
	uint64_t count = load(&c->page->receipts_count);
	struct control_receipt *last = count > 0 ? receipt_at(c, count - 1) : NULL;
	return last && load(&last->key) == key && last->end == begin && begin > receipts_written(c)
		? last
		: NULL;
}

void receipts_note(
	const struct control *c, uint64_t key, uint64_t taken, uint64_t end, size_t length)
{
	if (!c->page)
		return;
	struct control_receipt note = {.end = end, .length = length, .taken = taken};
	struct control_receipt *open = find_open(c, key, end - length);
	if (open) {
		note.length += open->length;
		write_receipt(open, &note, key);
		return;
	}
	uint64_t count = load(&c->page->receipts_count);
	write_receipt(receipt_at(c, count), &note, key);
	store(&c->page->receipts_count, count + 1);
}

void receipts_correct(const struct control *c, uint64_t end, size_t less)
{
	uint64_t count = c->page ? load(&c->page->receipts_count) : 0;
	if (count == 0)
		return;
	struct control_receipt *last = receipt_at(c, count - 1);
	uint64_t key = load(&last->key), length = last->length;
	struct control_receipt note = {
		.end = end, .length = length > less ? length - less : 0, .taken = last->taken};
	write_receipt(last, &note, key);
}

/* Bytes of the client accepted according to this receipt. *ret_open: some are pending. */
static uint64_t accepted_of(const struct control_receipt *r, uint64_t written, bool *ret_open)
{
	uint64_t waiting = r->end > written ? r->end - written : 0;
	if (waiting > r->length)
		waiting = r->length;
	*ret_open = waiting > 0;
	return r->taken > waiting ? r->taken - waiting : 0;
}

/* Whether no receipt was overwritten: then a client without a receipt has typed nothing. */
static bool has_all(const struct control *c)
{
	if (!c->page)
		return false;
	uint64_t count = load(&c->page->receipts_count);
	for (uint64_t i = 0; i < count && i < CONTROL_RECEIPTS; i++)
		if (load(&c->page->receipts[i].key) == 0)
			return false;
	return count <= CONTROL_RECEIPTS;
}

/*
 * Bytes of the client that are accepted once `written` bytes of all input are. Returns as
 * receipts_find().
 */
static bool find_at(const struct control *c, uint64_t key, uint64_t written, uint64_t *ret_taken)
{
	uint64_t most = 0, least = UINT64_MAX;
	bool found = false, open;
	for (unsigned i = 0; c->page && i < CONTROL_RECEIPTS; i++) {
		const struct control_receipt *r = &c->page->receipts[i];
		if (load(&r->key) != key)
			continue;
		uint64_t taken = accepted_of(r, written, &open);
		found = true;
		if (open && taken < least)
			least = taken;
		if (taken > most)
			most = taken;
	}
	if (!found && !has_all(c))
		return false;
	*ret_taken = least < most ? least : most;
	return true;
}

bool receipts_find(const struct control *c, uint64_t key, uint64_t *ret_taken)
{
	return find_at(c, key, receipts_written(c), ret_taken);
}

bool receipts_find_noted(const struct control *c, uint64_t key, uint64_t *ret_taken)
{
	return find_at(c, key, UINT64_MAX, ret_taken);
}

void receipts_settle(const struct control *c)
{
	uint64_t written = load(&c->page->input_written), writing = load(&c->page->input_writing);
	uint64_t count = load(&c->page->receipts_count), taken;
	written = writing > written ? writing : written;
	store(&c->page->input_written, written);
	/* The newest first: the oldest one with lost bytes limits all of its client. */
	for (unsigned i = 1; i <= CONTROL_RECEIPTS; i++) {
		struct control_receipt *r = receipt_at(c, count - i);
		uint64_t key = load(&r->key);
		if (key > 0 && find_at(c, key, written, &taken) && r->taken > taken)
			write_receipt(
				r, &(struct control_receipt){.end = written, .taken = taken}, key);
	}
}
