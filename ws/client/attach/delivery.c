#include "ws/client/attach/delivery.h"

#include <string.h>

void delivery_clear(struct delivery *d)
{
	d->taken = d->from = 0;
	d->length = 0;
}

/* Drop the oldest count bytes. */
static void drop_first(struct delivery *d, size_t count)
{
	d->length -= count;
	d->from += count;
	memmove(d->bytes, d->bytes + count, d->length);
}

void delivery_add(struct delivery *d, const char *bytes, size_t length)
{
	size_t over = length > DELIVERY_MAX ? length - DELIVERY_MAX : 0;
	size_t space = DELIVERY_MAX - (length - over);
	if (d->length > space)
		drop_first(d, d->length - space);
	d->from += over;
	memcpy(d->bytes + d->length, bytes + over, length - over);
	d->length += length - over;
}

void delivery_receipt(struct delivery *d, uint64_t taken)
{
	if (taken <= d->taken)
		return;
	d->taken = taken;
	if (taken >= d->from + d->length) {
		d->from = taken;
		d->length = 0;
	} else if (taken > d->from) {
		drop_first(d, (size_t)(taken - d->from));
	}
}

bool delivery_forget(struct delivery *d)
{
	bool any = d->length > 0;
	d->length = 0;
	d->from = d->taken;
	return any;
}

bool delivery_resume(struct delivery *d, bool known, uint64_t taken)
{
	uint64_t end = d->from + d->length;
	if (known && taken >= d->from && taken <= end) {
		delivery_receipt(d, taken);
		return false;
	}
	bool any = delivery_forget(d) && taken < end;
	if (known)
		d->taken = d->from = taken;
	return any;
}
