/*
 * The control page: the small memfd that the server writes and the holder keeps alive. It says how
 * far the server has consumed the ring, whether it wants to be woken, and where output may safely be
 * cut; behind the first page there is room for checkpoints.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_MAGIC UINT64_C(0x314c54434b5352) /* "RSKCTL1", little endian */
#define CONTROL_VERSION 1u
#define CONTROL_GROUNDS 16u
#define CONTROL_SIZE_MAX ((size_t)64 << 20) /* no server has ever asked for as much */

/* First page of the memfd. Frozen: fields are only ever appended. Whoever has it may have written anything there. */
struct control_page {
	uint64_t magic;        /* CONTROL_MAGIC */
	uint32_t version;      /* CONTROL_VERSION of the holder */
	uint32_t reserved;     /* 0 */
	uint64_t size;         /* bytes of the memfd; checkpoints lie behind the first page */
	_Atomic uint64_t tail; /* output bytes that the server has consumed */
	_Atomic uint64_t events_tail; /* bytes of the event log that the server has consumed */
	_Atomic uint32_t waiting; /* 1: the server sleeps until the wake-up eventfd is written */
	uint32_t reserved2;       /* 0 */
	_Atomic uint64_t ground[CONTROL_GROUNDS]; /* offsets between two sequences, spread over the ring */
};

struct control {
	struct control_page *page; /* mapped, with what lies behind it; NULL: nothing is */
	size_t size;               /* bytes that are mapped, whatever the page says */
};

/*
 * Make the memfd (size bytes, at least a page; sealed against shrinking and growing) and map it: what is
 * not touched costs nothing. *ret_fd is the caller's. Returns 0 or -errno.
 */
int control_create(struct control *ret_control, size_t size, int *ret_fd);

/* Map it writable. Returns 0, -errno, or -EPROTO when it is no control memfd. */
int control_open(struct control *ret_control, int fd);

/* Unmap; fine for one that has been, or is all zero. */
void control_close(struct control *c);

/* How much of the output, and of the event log, the page says that the server has consumed; at most up to head. */
uint64_t control_tail(const struct control *c, uint64_t head);
uint64_t control_events_tail(const struct control *c, uint64_t head);
