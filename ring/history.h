/*
 * History: a session's ring as its clients read it. It consumes what the holder writes, tracks
 * where output may be cut and which size the terminal had, and serves any number of cursors without
 * queues. The secret in the shell's marks is hidden from all readers: anything that learns it could
 * forge marks.
 */
#pragma once

#include "ring/control.h"
#include "ring/labels.h"
#include "ring/piped.h"
#include "ring/queries.h"
#include "ring/ring.h"
#include "ring/scan.h"
#include "ring/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_CUTS 256u     /* safe cut points kept, evenly spread over the ring */
#define HISTORY_RESIZES 1024u /* terminal sizes kept */

/* The terminal's size from an offset on. */
struct history_size {
	uint64_t offset;
	unsigned rows, cols;
};

/* The history of one session. */
struct history {
	const struct ring *ring;       /* borrowed */
	const struct control *control; /* borrowed; gets the cut points; NULL: none */
	struct scan scan;
	struct queries queries;
	struct labels labels;     /* sources of the bytes not consumed yet */
	enum event_source source; /* source of the last byte consumed */
	struct piped piped;       /* hidden bytes of commands' piped output */
	/* Places in piped output where CAN ends an unfinished sequence of the terminal. */
	struct queries cancels;
	struct secret secret; /* of the shell's marks */
	uint64_t mute_before; /* side effects of output before this offset have already happened */
	uint64_t answered;    /* queries before this offset are answered */
	uint64_t events_offset;      /* offset of the next event */
	uint64_t events_lost;        /* times that the log was overwritten or damaged; normally 0 */
	uint64_t cuts[HISTORY_CUTS]; /* safe cut points; circular, ascending */
	uint64_t cuts_count;         /* ever added */
	uint64_t cut_floor;          /* cut points before this offset are not safe */
	struct history_size *sizes;  /* circular, sizes_capacity entries, at most HISTORY_RESIZES */
	unsigned sizes_capacity;
	uint64_t sizes_count;  /* ever added */
	uint64_t shells_ended; /* EVENT_SHELL records consumed */
	int shell_status;      /* wait(2) status of the last one */
	bool ended;            /* no byte will follow, and all are consumed */
	uint64_t end_offset;   /* valid once ended */
};

/* A reader's position. */
struct history_cursor {
	uint64_t offset;   /* of the next byte */
	uint64_t sizes;    /* sizes reported, of all ever added */
	bool end_reported; /* HISTORY_END has been returned */
};

/* Kinds of results of history_read(). */
enum history_item {
	HISTORY_NOTHING, /* up to date */
	HISTORY_BYTES,   /* bytes were copied */
	HISTORY_SIZE,    /* the terminal's size changes here */
	HISTORY_GAP,     /* bytes were lost; the cursor has been moved */
	HISTORY_END,     /* end of the session's output; reported once */
};

/* Result of history_read(). */
struct history_read {
	enum history_item item;
	size_t length;            /* HISTORY_BYTES: bytes copied */
	struct history_size size; /* HISTORY_SIZE; HISTORY_GAP: the size there */
	uint64_t skipped;         /* HISTORY_GAP: bytes lost */
};

/* Start at the oldest byte of the ring. Returns 0 or -ENOMEM. */
int history_init(struct history *h, const struct ring *ring, const struct control *control);

/* Free what history_init() and later calls allocated. */
void history_finish(struct history *h);

/*
 * Consume up to budget bytes and all events. Returns true if there is more. ended: the holder is
 * gone, so the ring's head is the end of the session.
 */
bool history_consume(struct history *h, size_t budget, bool ended);

/* Consume everything in the ring without side effects, for a session found running. */
void history_catch_up(struct history *h);

/*
 * Offset that the writer may treat as consumed. It stays at the end of the last whole sequence, so
 * that readers can continue from there.
 */
uint64_t history_consumed(const struct history *h);

/* Offset of the oldest byte that a reader can resume from. */
uint64_t history_oldest(const struct history *h);

/* Hide a secret from readers, see secret_set(). Call it before consuming anything. */
void history_set_secret(struct history *h, const char *secret);

/*
 * Hide the secret in a copy of length bytes that begin at offset. For callers that read the ring
 * directly, up to history_limit().
 */
void history_redact(const struct history *h, uint64_t offset, uint8_t *bytes, size_t length);

/* Offset up to which the screen may be fed. */
uint64_t history_screen_limit(const struct history *h);

/* Whether output for the screen needs history_blank(). */
bool history_needs_blanking(const struct history *h);

/* Blank what the screen must not see in a copy of length bytes that begin at offset. */
void history_blank(const struct history *h, uint64_t offset, uint8_t *bytes, size_t length);

/* Offset up to which readers are served now. */
uint64_t history_limit(const struct history *h);

/*
 * Place a cursor at offset if resume is set and the ring still has it, otherwise at the oldest safe
 * cut point. Returns how many bytes after offset are skipped.
 */
uint64_t history_seek(
	const struct history *h, struct history_cursor *c, bool resume, uint64_t offset);

/* Place a cursor at offset without checking that the ring still has it. */
void history_place(const struct history *h, struct history_cursor *c, uint64_t offset);

/* The i-th size ever added, from 0; if it is no longer kept, the oldest that is. */
struct history_size history_nth_size(const struct history *h, uint64_t i);

/* The terminal's size at the cursor. */
struct history_size history_size_at(const struct history *h, const struct history_cursor *c);

/*
 * Read the next item and move the cursor. dst: cap bytes, at least SCAN_STRING_MAX + 1 so that no
 * query needs to be cut. Queries are blanked. Bytes that do not fit are cut between two characters.
 */
struct history_read history_read(struct history *h, struct history_cursor *c, void *dst, size_t cap);
