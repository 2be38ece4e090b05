/*
 * The control page: a memfd that the server writes and the holder keeps open. It stores how far the
 * server has consumed the ring, whether it wants to be woken, where output may be cut, how much
 * input the terminal has accepted, and up to where queries have been answered. Checkpoints follow
 * the first page.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_MAGIC UINT64_C(0x314c54434b5352) /* "RSKCTL1", little endian */
#define CONTROL_VERSION 1u
#define CONTROL_GROUNDS 16u
#define CONTROL_RECEIPTS 64u
/* Larger memfds are rejected. */
#define CONTROL_SIZE_MAX ((size_t)64 << 20)

/* Input of one client up to some place; see ring/receipts.h. */
struct control_receipt {
	_Atomic uint64_t key; /* of the client; 0: unused or being written */
	uint64_t end;         /* end of this input, as a place in the session's whole input */
	uint64_t length;      /* bytes of this input, ending at `end` */
	uint64_t taken;       /* bytes that the client has typed up to `end` */
};

/* First page of the memfd. Frozen: fields are only appended. Readers must not trust the values. */
struct control_page {
	uint64_t magic;               /* CONTROL_MAGIC */
	uint32_t version;             /* CONTROL_VERSION of the holder */
	uint32_t reserved;            /* 0 */
	uint64_t size;                /* bytes of the memfd */
	_Atomic uint64_t tail;        /* output bytes that the server has consumed */
	_Atomic uint64_t events_tail; /* bytes of the event log that the server has consumed */
	_Atomic uint32_t waiting; /* 1: the server sleeps until the wake-up eventfd is written */
	uint32_t reserved2;       /* 0 */
	_Atomic uint64_t ground[CONTROL_GROUNDS]; /* safe cut points, spread over the ring */
	_Atomic uint64_t input_written;           /* bytes of input written to the terminal */
	/* input_written plus the bytes being written now */
	_Atomic uint64_t input_writing;
	/* receipts ever written; the newest CONTROL_RECEIPTS are kept */
	_Atomic uint64_t receipts_count;
	struct control_receipt receipts[CONTROL_RECEIPTS];
	/* 1 + offset before which no query needs an answer; 0: unknown */
	_Atomic uint64_t answered;
	_Atomic uint64_t active_ms;    /* wall clock of the last input or output; 0: unknown */
	_Atomic uint64_t paste_typist; /* id of the client with an open paste; 0: none */
	_Atomic uint64_t paste_place;  /* since this place in the input; see ring/receipts.h */
};

/* A mapped control memfd. */
struct control {
	struct control_page *page; /* the whole mapping; NULL: not mapped */
	size_t size;               /* bytes mapped; page->size is not trusted */
};

/*
 * Create and map a memfd of size bytes, at least a page, sealed against shrinking and growing.
 * Untouched pages take no memory. *ret_fd is owned by the caller. Returns 0 or -errno.
 */
int control_create(struct control *ret_control, size_t size, int *ret_fd);

/* Map a control memfd writable. Returns 0, -errno, or -EPROTO if it is not one. */
int control_open(struct control *ret_control, int fd);

/* Unmap. A closed or zeroed control is allowed. */
void control_close(struct control *c);

/* Offset up to which the server has consumed the output, limited to head. */
uint64_t control_tail(const struct control *c, uint64_t head);

/* Offset up to which the server has consumed the event log, limited to head. */
uint64_t control_events_tail(const struct control *c, uint64_t head);

/*
 * Record that queries before offset are answered or never will be. Called before the answers are
 * written, so that no query is answered twice.
 */
void control_note_answered(const struct control *c, uint64_t offset);

/* The offset of the last control_note_answered(), limited to head; head if there was none. */
uint64_t control_answered(const struct control *c, uint64_t head);

/* Record the wall clock time of the last activity for the next server. */
void control_note_active(const struct control *c, uint64_t wall_ms);

/* Time of the last activity, limited to now_ms; 0 if unknown. */
uint64_t control_active(const struct control *c, uint64_t now_ms);

/*
 * Record for the next server that a bracketed paste of this client is open (0: that none is) once
 * the terminal has accepted the input up to place.
 */
void control_note_paste(const struct control *c, uint64_t typist, uint64_t place);

/* What was noted last. Returns whether its place has been written. */
bool control_paste(const struct control *c, uint64_t written, uint64_t *ret_typist);
