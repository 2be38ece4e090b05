/* Measures a line's rate, and limits the bytes in flight; see pace.h. */
#include "ws/socket/pace.h"

#define FRAME_MIN ((uint64_t)512)      /* smaller frames are not sent */
#define TIMED_MIN (PACE_ACK_EVERY * 2) /* bytes in flight from which an offset is timed */

_Static_assert(PACE_WINDOW_MIN >= TIMED_MIN, "the smallest window is timed");

void pace_init(struct pace *p, bool active)
{
	*p = (struct pace){.active = active, .window = PACE_WINDOW_FIRST, .rtt_ms = PACE_RTT_MAX_MS};
}

static uint64_t in_flight(const struct pace *p)
{
	return p->sent - p->acked;
}

void pace_sent(struct pace *p, size_t length, uint64_t now_ms)
{
	if (!p->active)
		return;
	p->sent += length;
	if (p->timing || in_flight(p) < TIMED_MIN)
		return;
	p->timing = true;
	/* The client need not acknowledge the bytes after this offset. */
	p->place = p->sent - PACE_ACK_EVERY;
	p->from = p->acked;
	p->since_ms = now_ms;
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Adapt the window: bytes have been delivered in took_ms. */
static void adapt(struct pace *p, uint64_t bytes, uint64_t took_ms)
{
	if (took_ms < p->rtt_ms)
		p->rtt_ms = took_ms;
	uint64_t may_ms = p->rtt_ms + PACE_DELAY_MS;
	uint64_t worth = bytes * may_ms / (took_ms > 0 ? took_ms : 1);
	if (took_ms > may_ms)
		p->window = clamp(worth, PACE_WINDOW_MIN, p->window);
	else if (worth > p->window)
		p->window = clamp(worth, p->window, p->window * PACE_GROWTH);
	p->window = clamp(p->window, PACE_WINDOW_MIN, PACE_WINDOW_MAX);
	p->slow = p->window < PACE_FAST;
}

void pace_acked(struct pace *p, uint64_t bytes, uint64_t now_ms)
{
	if (!p->active || bytes > p->sent || bytes <= p->acked)
		return;
	p->acked = bytes;
	if (!p->timing || bytes < p->place)
		return;
	p->timing = false;
	adapt(p, bytes - p->from, now_ms - p->since_ms);
}

size_t pace_frame_max(const struct pace *p, size_t room)
{
	if (!p->active)
		return room;
	uint64_t left = p->window > in_flight(p) ? p->window - in_flight(p) : 0;
	uint64_t frame = clamp(
		p->window / 4, PACE_ACK_EVERY, room > PACE_ACK_EVERY ? room : PACE_ACK_EVERY);
	if (left < FRAME_MIN)
		return 0;
	if (left > frame)
		left = frame;
	return left < room ? (size_t)left : room;
}

bool pace_is_empty(const struct pace *p)
{
	return p->active && in_flight(p) < PACE_ACK_EVERY;
}

uint64_t pace_lag(const struct pace *p, uint64_t lag)
{
	if (!p->active)
		return lag;
	if (p->slow)
		return p->window < lag ? p->window : lag;
	return lag + PACE_WINDOW_MAX;
}
