/*
 * The control page: the small memfd that the server writes and the holder keeps alive. It says how
 * far the server has consumed the ring, whether it wants to be woken, where output may safely be cut,
 * what of the input the terminal has taken, and how far programs have been answered; behind the first
 * page there is room for checkpoints.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_MAGIC UINT64_C(0x314c54434b5352) /* "RSKCTL1", little endian */
#define CONTROL_VERSION 1u
#define CONTROL_GROUNDS 16u
#define CONTROL_RECEIPTS 64u
#define CONTROL_SIZE_MAX ((size_t)64 << 20) /* no server has ever asked for as much */

/* What a client has typed, up to here; see ring/receipts.h. */
struct control_receipt {
	_Atomic uint64_t key; /* of the client; 0: none, or it is being written */
	uint64_t end;         /* place behind it in all input */
	uint64_t length;      /* bytes of it in front of that */
	uint64_t taken;       /* bytes of the client up to there */
};

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
	_Atomic uint64_t input_written;           /* bytes of input that the terminal has taken */
	_Atomic uint64_t input_writing;           /* and with those that it is being given */
	_Atomic uint64_t receipts_count;          /* that there have been; the last are kept */
	struct control_receipt receipts[CONTROL_RECEIPTS];
	_Atomic uint64_t answered; /* output before it, less one, asks nothing any more; 0: not known */
	_Atomic uint64_t active_ms; /* wall clock of the last input and output; 0: not known */
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

/*
 * What programs have asked their terminal in the output before offset has been answered, or never will be: said before the
 * answers go, so that none goes twice. control_answered(): how far that is, at most head; head when no server has said it.
 */
void control_note_answered(const struct control *c, uint64_t offset);
uint64_t control_answered(const struct control *c, uint64_t head);

/*
 * When something last happened, wall clock: for the server that comes after this one. control_active(): what the page says,
 * at most now; 0 when no server has said it.
 */
void control_note_active(const struct control *c, uint64_t wall_ms);
uint64_t control_active(const struct control *c, uint64_t now_ms);
