/* Holding the ring for readers of a process's whole output, see ring/holds.h. */
#include "shell/process/internal.h"

void process_hold_begin(struct process *p)
{
	if (p->hold_expected && link_hold(&p->held.link, &p->hold, p->head, p->events_offset))
		p->hold.expire_ms = uv_now(held_loop(&p->held)) + HOLD_CLAIM_MS;
}

uint64_t process_hold(struct process *p, struct hold *h, uint64_t cursor)
{
	if (p->hold.held) {
		holds_replace(&p->held.link.holds, &p->hold, h);
		hold_move(h, cursor, 0);
	} else {
		link_hold(&p->held.link, h, cursor, p->events_offset);
	}
	return h->held ? h->position : p->events_offset;
}

void process_hold_moved(struct process *p, struct hold *h, uint64_t cursor, uint64_t *position)
{
	const struct stream *log = &p->held.link.ring.events;
	struct event e;
	uint64_t next = *position;
	for (size_t left = event_log_max(log); left > 0 && h->held; left--) {
		if (event_read(log, &next, &e) <= 0 || e.header.offset > cursor)
			break;
		*position = next;
	}
	link_move_hold(&p->held.link, h, cursor, *position);
}

void process_unhold(struct process *p, struct hold *h)
{
	link_release_hold(&p->held.link, h);
}
