/*
 * A recorder follows one session, from its first byte to its end, and has what it prints, its sizes, its blocks and its end
 * written to a tape. It is a reader of complete output: what is not written yet is held in the ring (ring/holds.h), for as
 * long as that goes; a gap says what was lost all the same. What a program asks its terminal, and the secret of the shell's
 * marks, are blanked as they are for other readers. Files are the business of a worker.
 */
#pragma once

#include "shell/recording/tape.h"
#include "shell/session/session.h"
#include "shell/workers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>
#include <uv.h>

#define RECORDER_BATCH \
	((size_t)256 << 10) /* bytes of records that are written at once; another such are collected meanwhile */
#define RECORDER_PIECE ((size_t)32 << 10) /* bytes of output in a record */
#define RECORDER_IDLE_MS 5000u            /* after which the memory for that is given back */
#define RECORDER_LAST_MS \
	60000u /* for how long the end of a session that is gone is tried to be written */

/* What all recorders share. */
struct recorder_shared {
	int root_fd;             /* where all recordings are */
	struct workers *workers; /* one thread, so that what is below is its alone while it works */
	struct segment_codec *codec; /* of that thread */
	uv_loop_t *loop;
	uint8_t piece[RECORDER_PIECE]; /* of the loop */
	bool sealed;                   /* something has been sealed since that was looked at */
	void (*failed)(void *user, const char *id, const char *what, int error);
	void *user;
};

struct recorder_batch {
	uint8_t *bytes; /* RECORDER_BATCH of them; NULL: there are none */
	size_t length;
	uint64_t end; /* what is in it goes up to this offset of the output */
};

enum recorder_job { RECORDER_OPEN, RECORDER_WRITE, RECORDER_SEAL };

struct recorder {
	struct recorder_shared *shared;
	struct session *session; /* until it is gone */
	uint64_t epoch;          /* of it: the key */
	struct journal_watcher watcher;
	bool gone;    /* the session is no more */
	bool opened;  /* the tape is known, and the cursor is where it ends */
	bool over;    /* nothing follows */
	bool failing; /* the last job has failed, which was said; it is tried again */
	bool lost;    /* output was lost before it could be recorded, and that was said */
	struct history_cursor cursor;
	struct hold hold;
	uint64_t written;                /* what is on the tape: up to this offset */
	uint64_t entry;                  /* of the journal, the next */
	uint64_t begun, ended;           /* of blocks, see struct segment_head */
	uint64_t time_us;                /* of the last record */
	uint64_t stirred_ms;             /* loop time of the last job */
	uint64_t gone_ms;                /* loop time, once it is gone */
	struct recorder_batch fill, out; /* what is collected; what is being written */
	struct errand errand;
	enum recorder_job job; /* these four are the worker's while the errand is out */
	int result;
	bool sealed;
	struct tape tape;
	UT_hash_handle hh;
};

/* Follow a session that is readable. Returns owned, or NULL when memory is short. */
struct recorder *recorder_create(struct recorder_shared *shared, struct session *s);

/* A second has passed. Returns false when there is nothing left to do, for a session that is gone: destroy it. */
bool recorder_tick(struct recorder *r);

/*
 * Stop. What is not on the tape yet stays in the ring for the next server; of a session that is gone it is written now. Waits for the worker.
 */
void recorder_destroy(struct recorder *r);
