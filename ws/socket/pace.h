/*
 * Limits the bytes in flight to a client that acknowledges them, to what its line delivers in about half a second. Bytes in
 * buffers of kernels and proxies cannot be taken back, and the effect of an interrupt appears only after them. Pure.
 *
 * One offset of the stream is timed at once. Bytes acknowledged in that time, divided by it, are the line's rate, if there
 * were always bytes in flight. If not, the rate looks too low, but then the time is short, and a short time never shrinks the
 * window.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_ACK_EVERY ((uint64_t)2 << 10)     /* bytes after which a client must acknowledge */
#define PACE_WINDOW_FIRST ((uint64_t)32 << 10) /* the window before anything is measured */
#define PACE_WINDOW_MIN ((uint64_t)6 << 10)    /* for 2400 bytes a second and less */
#define PACE_WINDOW_MAX ((uint64_t)4 << 20)    /* more than the kernel buffers */
#define PACE_FAST ((uint64_t)128 << 10)        /* a line with a smaller window is slow */
#define PACE_GROWTH 4u                         /* factor by which the window grows at most */
#define PACE_DELAY_MS 500u   /* that bytes may wait, in addition to the round trip */
#define PACE_RTT_MAX_MS 800u /* of the round trip, until it is measured */

/* The state of one client's line. */
struct pace {
	bool active;       /* the client acknowledges bytes; otherwise nothing is limited */
	uint64_t sent;     /* bytes in all */
	uint64_t acked;    /* bytes acknowledged */
	uint64_t window;   /* bytes that may be in flight */
	uint64_t rtt_ms;   /* the shortest measured time */
	bool slow;         /* the measured window is below PACE_FAST */
	bool timing;       /* an offset is timed: */
	uint64_t place;    /* that offset */
	uint64_t from;     /* acked when timing began */
	uint64_t since_ms; /* when timing began */
};

/* Initialize. active: the client will acknowledge. */
void pace_init(struct pace *p, bool active);

/* length bytes have been sent. now_ms: monotonic. */
void pace_sent(struct pace *p, size_t length, uint64_t now_ms);

/* The client has acknowledged so many bytes in all. Ignored if more than sent, or fewer than before. */
void pace_acked(struct pace *p, uint64_t bytes, uint64_t now_ms);

/* Bytes of the next frame, at most room; 0 = wait for an acknowledgement. */
size_t pace_frame_max(const struct pace *p, size_t room);

/* Whether less than PACE_ACK_EVERY bytes are in flight. False if not active. */
bool pace_is_empty(const struct pace *p);

/*
 * The backlog from which a snapshot replaces it. lag: the client's wish. On a slow line at most the window, on other lines
 * lag and what the kernel would otherwise buffer.
 */
uint64_t pace_lag(const struct pace *p, uint64_t lag);
