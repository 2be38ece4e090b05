/*
 * History: a session's ring as its clients read it. It consumes what the holder has written (scan,
 * events), remembers where output may be cut and which size the terminal had, and serves any number of
 * cursors, each at its own pace, without a queue. What the marks of the session's shell are known by is a secret that
 * no reader gets: who knows it can print such marks, or have somebody print them.
 */
#pragma once

#include "ring/control.h"
#include "ring/labels.h"
#include "ring/piped.h"
#include "ring/queries.h"
#include "ring/ring.h"
#include "ring/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_CUTS 256u     /* safe places kept, evenly spread over the ring */
#define HISTORY_RESIZES 1024u /* sizes kept */

/* The terminal's size from an offset on. */
struct history_size {
	uint64_t offset;
	unsigned rows, cols;
};

struct history {
	const struct ring *ring;       /* borrowed */
	const struct control *control; /* borrowed; its ground offsets are kept up to date; may be NULL */
	struct scan scan;
	struct queries queries;
	struct labels labels;     /* whose the bytes are that have not been consumed yet */
	enum event_source source; /* and the last of those that have */
	struct piped piped;       /* what is hidden of the output of commands in pipes */
	struct queries cancels; /* bytes of it by which something unfinished of the terminal's is ended */
	const char *secret; /* borrowed, or NULL: there is none */
	size_t secret_length;
	struct queries secrets; /* where it is */
	uint64_t mute_before;   /* output before this offset has had its effects, */
	uint64_t answered;      /* and what was asked before this one its answer */
	uint64_t events_offset; /* events consumed */
	uint64_t events_lost; /* times that the log was overwritten or damaged; 0 unless something is wrong */
	uint64_t cuts[HISTORY_CUTS]; /* circular, ascending */
	uint64_t cuts_count;         /* ever added */
	uint64_t cut_floor;          /* none before this offset is trusted */
	struct history_size *sizes;  /* circular, sizes_room of them, at most HISTORY_RESIZES */
	unsigned sizes_room;
	uint64_t sizes_count;  /* ever added */
	uint64_t shells_ended; /* EVENT_SHELLs consumed */
	int shell_status;      /* wait(2) status in the last of them */
	bool ended;            /* no byte will follow; all have been consumed */
	uint64_t end_offset;   /* valid once ended */
};

/* A reader's place. */
struct history_cursor {
	uint64_t offset; /* of the next byte */
	uint64_t sizes;  /* sizes it has been told, of those ever added */
	bool end_told;
};

enum history_item {
	HISTORY_NOTHING, /* up to date */
	HISTORY_BYTES,   /* bytes were copied */
	HISTORY_SIZE,    /* from here on the terminal has another size */
	HISTORY_GAP,     /* the ring has left the cursor behind: it has been moved */
	HISTORY_END,     /* the session's output is complete; comes once */
};

/* What history_read found. */
struct history_read {
	enum history_item item;
	size_t length;            /* HISTORY_BYTES: bytes copied */
	struct history_size size; /* HISTORY_SIZE; HISTORY_GAP: the size there */
	uint64_t skipped;         /* HISTORY_GAP: bytes lost */
};

/* Begin at the oldest byte of the ring. Returns 0 or -ENOMEM. */
int history_init(struct history *h, const struct ring *ring, const struct control *control);
void history_finish(struct history *h);

/*
 * Consume up to budget bytes and all events. Returns whether there is more.
 * ended: the holder is known to be gone, so that the ring's head is the end of the session.
 */
bool history_consume(struct history *h, size_t budget, bool ended);

/* Consume whatever is there now, as output that has had its effects: for a session that was found running. */
void history_catch_up(struct history *h);

/*
 * How far the writer may consider the output consumed. Less than what has been seen, so that the place
 * after the last whole sequence stays in the ring for readers to continue from.
 */
uint64_t history_consumed(const struct history *h);

/* The oldest byte that a reader can resume from. */
uint64_t history_oldest(const struct history *h);

/*
 * Hide a secret (borrowed, HISTORY_SECRET_MIN to HISTORY_SECRET_MAX characters) from readers, before anything is consumed: there are
 * HISTORY_HIDDEN in its place, wherever it stands.
 */
#define HISTORY_SECRET_MIN 16u
#define HISTORY_SECRET_MAX 64u
#define HISTORY_HIDDEN '*'
void history_keep_secret(struct history *h, const char *secret);

/* For those who read the ring themselves, up to history_limit(): hide it in a copy of length bytes from offset on. */
void history_hide(const struct history *h, uint64_t offset, uint8_t *bytes, size_t length);

/* Offset up to which a screen may take the output, with history_show(). */
uint64_t history_judged(const struct history *h);

/* Whether what is in the ring is not in all as a screen has to take it, and making it so, in a copy. */
bool history_hides(const struct history *h);
void history_show(const struct history *h, uint64_t offset, uint8_t *bytes, size_t length);

/* Offset up to which readers are served now. */
uint64_t history_limit(const struct history *h);

/*
 * Place a cursor at offset if the ring has it (and resume is set), otherwise at the oldest safe place.
 * Returns the bytes between what was asked for and the place.
 */
uint64_t history_seek(
	const struct history *h, struct history_cursor *c, bool resume, uint64_t offset);

/* Place a cursor at an offset, whatever the ring still has. */
void history_place(const struct history *h, struct history_cursor *c, uint64_t offset);

/* The i-th size ever added, or the oldest that is still known. */
struct history_size history_size_number(const struct history *h, uint64_t i);

/* The terminal's size at the cursor. */
struct history_size history_size_at(const struct history *h, const struct history_cursor *c);

/*
 * The next thing for this reader; moves the cursor. dst: cap bytes, at least SCAN_STRING_MAX + 1 so that
 * no query needs to be cut. Queries are blanked. What has to be cut to fit is cut between two characters.
 */
struct history_read history_read(struct history *h, struct history_cursor *c, void *dst, size_t cap);
