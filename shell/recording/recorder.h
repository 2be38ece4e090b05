/*
 * A recorder writes the output, sizes, blocks and exit of one session to a tape, from its first byte to its
 * end. It holds unwritten output in the ring (ring/holds.h) as long as possible; a gap record says what was
 * lost nevertheless. Queries to the terminal and the secret of the shell's marks are blanked, as for other
 * readers. A worker thread writes the files.
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

/* Bytes of records that are written at once; a second batch is filled meanwhile. */
#define RECORDER_BATCH ((size_t)256 << 10)
#define RECORDER_PIECE ((size_t)32 << 10) /* bytes of output in a record */
#define RECORDER_IDLE_MS 5000u            /* after this, batches are freed */
#define RECORDER_LAST_MS 60000u           /* how long to retry writing the end of a gone session */

/* Shared by all recorders. */
struct recorder_shared {
	int root_fd;                 /* of the directory of recordings */
	struct workers *workers;     /* one thread */
	struct segment_codec *codec; /* used on that thread alone */
	uv_loop_t *loop;
	uint8_t piece[RECORDER_PIECE]; /* buffer, used on the loop alone */
	bool sealed;                   /* a segment was sealed since limits were enforced */
	void (*failed)(void *user, const char *id, const char *what, int error);
	void *user;
};

/* A buffer of records. */
struct recorder_batch {
	uint8_t *bytes; /* RECORDER_BATCH of them, or NULL */
	size_t length;
	uint64_t end; /* offset of the output up to which it goes */
};

/* Jobs of the worker. */
enum recorder_job { RECORDER_OPEN, RECORDER_WRITE, RECORDER_SEAL };

/* A recorder of one session. */
struct recorder {
	struct recorder_shared *shared;
	struct session *session; /* NULL: gone */
	uint64_t epoch;          /* of the session: the key */
	struct journal_watcher watcher;
	bool gone;    /* the session is gone */
	bool opened;  /* the tape is open */
	bool over;    /* the exit is recorded: nothing follows */
	bool failing; /* the last job has failed, which was reported; it is retried */
	bool lost;    /* output was lost, which was reported */
	struct history_cursor cursor;
	struct hold hold;
	uint64_t written;                /* output is on the tape up to this offset */
	uint64_t entry;                  /* next entry of the journal */
	uint64_t begun, ended;           /* of blocks, see struct segment_head */
	uint64_t time_us;                /* of the last record */
	uint64_t stirred_ms;             /* loop time of the last job */
	uint64_t gone_ms;                /* loop time when the session went */
	struct recorder_batch fill, out; /* being filled; being written */
	struct work_item work_item;
	/* Used by the worker while the work_item is out: */
	enum recorder_job job;
	int result;
	bool sealed;
	struct tape tape;
	UT_hash_handle hh;
};

/* Record a readable session. Returns a recorder for recorder_destroy(), or NULL if out of memory. */
struct recorder *recorder_create(struct recorder_shared *shared, struct session *s);

/* To be called every second. Returns false if the session is gone and all is done: destroy the recorder. */
bool recorder_tick(struct recorder *r);

/*
 * Stop, and wait for the worker. Unwritten output stays in the ring for the next server; that of a gone session
 * is written now.
 */
void recorder_destroy(struct recorder *r);
