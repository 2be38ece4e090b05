/*
 * How much may be on its way to a client that says what has reached it: about half a second's worth of what its line
 * delivers. What waits in kernels and proxies in between cannot be taken back, and an interrupt would be shown only behind
 * it. Pure: bytes and times in, a number out.
 *
 * One place in the stream is timed at once. What was delivered in that time is what the line delivers, if there was always
 * something on its way; where there was not, the line looks slower than it is, but then the time is short as well, and nothing
 * is made smaller for that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_ACK_EVERY \
	((uint64_t)2 << 10) /* bytes after which a client has to say so, at the latest */
#define PACE_WINDOW_FIRST ((uint64_t)32 << 10) /* bytes on their way before anything is known */
#define PACE_WINDOW_MIN ((uint64_t)6 << 10)    /* 2400 bytes a second and less */
#define PACE_WINDOW_MAX ((uint64_t)4 << 20)    /* the kernel takes less */
#define PACE_FAST ((uint64_t)128 << 10) /* a line with a larger window is none of the slow ones */
#define PACE_GROWTH 4u                  /* times that the window may become larger at once */
#define PACE_DELAY_MS 500u   /* that bytes may wait on their way, beyond the way itself */
#define PACE_WAY_MAX_MS 800u /* of the way itself, until it is known */

struct pace {
	bool active;                    /* the client says what has reached it */
	uint64_t sent;                  /* bytes, all of them */
	uint64_t reached;               /* of these, as far as it has said */
	uint64_t window;                /* bytes that may be on their way */
	uint64_t way_ms;                /* the shortest time that a timed place has taken */
	bool slow;                      /* it has been found out that the window is a slow line's */
	bool timing;                    /* a place is timed: ... */
	uint64_t place, from, since_ms; /* ... this one; what had reached it then; when that was */
};

void pace_init(struct pace *p, bool active);

/* length bytes have been sent. now_ms: of any clock that does not go back. */
void pace_sent(struct pace *p, size_t length, uint64_t now_ms);

/* The client says that so many bytes, of all, have reached it. More than were sent, and fewer than before, are not believed. */
void pace_reached(struct pace *p, uint64_t bytes, uint64_t now_ms);

/* How many of these bytes may be sent now, as one frame. */
size_t pace_room(const struct pace *p, size_t room);

/* Whether all that was sent has reached it, but for so little that it need not have said so; unknown is no. */
bool pace_is_empty(const struct pace *p);

/*
 * The backlog that is too much: what a slow line delivers in half a second. On any other it is what was asked for and what the
 * kernels would have taken besides, which is not on its way but waits here.
 */
uint64_t pace_lag(const struct pace *p, uint64_t lag);
