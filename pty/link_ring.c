/*
 * The tail of a holder's ring: what the server has consumed, less what readers of complete output
 * hold, each for a bounded time. Also the request for a wake-up. Without a holder nothing is held.
 */
#include "pty/link_internal.h"

#include <unistd.h>

/* Allow the holder to overwrite what is consumed and not held. */
static void publish_tail(struct link *l)
{
	struct control_page *page = l->control.page;
	uint64_t one = 1, tail = l->tail, events_tail = l->events_tail;
	holds_min(&l->holds, &tail, &events_tail);
	/* Never move it back: the holder may have overwritten those bytes. */
	if (tail > atomic_load_explicit(&page->tail, memory_order_relaxed))
		atomic_store_explicit(&page->tail, tail, memory_order_release);
	atomic_store_explicit(&page->events_tail, events_tail, memory_order_release);
	/* The holder sets its flag, then reads the tail: one side sees the other's store. */
	atomic_thread_fence(memory_order_seq_cst);
	if (ring_is_blocked(&l->ring))
		(void)!write(l->space_fd, &one, sizeof one); /* EAGAIN: it is awake anyway */
}

void link_set_consumed(struct link *l, uint64_t tail, uint64_t events_tail)
{
	l->tail = tail;
	l->events_tail = events_tail;
	publish_tail(l);
}

/* Holds */

static void on_hold_tick(uv_timer_t *timer)
{
	struct link *l = timer->data;
	const struct ring *ring = &l->ring;
	const struct holds_writer w = {.head = stream_head(&ring->bytes),
		.size = ring->bytes.size,
		.events = stream_head(&ring->events),
		.events_size = ring->events.size,
		.blocked = ring_is_blocked(ring)};
	if (holds_tick(&l->holds, &w, uv_now(l->loop)))
		publish_tail(l);
	if (!l->holds.first)
		uv_timer_stop(&l->timer);
}

bool link_hold(struct link *l, struct hold *h, uint64_t offset, uint64_t position)
{
	if (l->state != LINK_ATTACHED || l->closing)
		return false;
	uint64_t events = control_events_tail(&l->control, stream_head(&l->ring.events));
	/* Events before the tail may be overwritten already: do not hold them. */
	if (!holds_add(&l->holds, h, offset, position < events ? events : position))
		return false;
	if (!uv_is_active((const uv_handle_t *)&l->timer)) {
		l->holds.charged_ms = uv_now(l->loop);
		uv_timer_start(&l->timer, on_hold_tick, HOLD_TICK_MS, HOLD_TICK_MS);
	}
	return true;
}

void link_move_hold(struct link *l, struct hold *h, uint64_t offset, uint64_t position)
{
	hold_move(h, offset, position);
	if (h->held && l->state == LINK_ATTACHED && !l->closing)
		publish_tail(l);
}

void link_release_hold(struct link *l, struct hold *h)
{
	bool held = h->held;
	holds_remove(&l->holds, h);
	if (held && l->state == LINK_ATTACHED && !l->closing)
		publish_tail(l);
}

bool link_sleep(struct link *l, uint64_t head, uint64_t events)
{
	atomic_store(&l->control.page->waiting, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (stream_head(&l->ring.bytes) == head && stream_head(&l->ring.events) == events)
		return true;
	atomic_store(&l->control.page->waiting, 0);
	return false;
}

void link_update_shell_pid(struct link *l)
{
	l->info.shell_pid = atomic_load(&l->ring.header->shell_pid);
}
