/* The sessions of a wall, in the order in which they are shown. Pure. */
#pragma once

#include "ws/client/draw/picture.h"
#include "ws/client/draw/standing.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CROWD_MAX 1000u /* of more, those that the server lists first */
#define TILE_ID_MAX 128u
#define TILE_NAME_MAX 256u /* bytes of a name that are kept */

struct tile {
	uint64_t serial; /* never used again */
	char id[TILE_ID_MAX + 1], epoch[17];
	char name[TILE_NAME_MAX + 1]; /* "" where it is the id */
	json_t *session, *state;      /* as they were told last; owned; state may be NULL */
	unsigned cols, rows;
	enum standing standing;
	char words[STANDING_WORDS_MAX];
	bool called; /* it has rung since somebody was there */
	struct picture picture;
	/* What is asked of the server for it: */
	bool followed, waited, fetched, surveyed;
	bool stale;      /* the picture is not what the session shows now */
	bool still;      /* it will not change any more */
	uint64_t since;  /* of the picture that is being fetched */
	uint64_t due_ms; /* before then nothing more is asked; of the loop's clock */
	bool dirty;      /* what is drawn is not what is here */
	bool listed;     /* while a list is taken */
};

struct crowd {
	struct tile **tiles; /* owned */
	size_t count;
	uint64_t serials;               /* that have been given out */
	char left_out[TILE_ID_MAX + 1]; /* the session that it would show itself in, or "" */
};

/*
 * Take a list of sessions. gone: called with each tile that leaves, which is freed after it. Returns false when memory is
 * short; then some are missing.
 */
bool crowd_take_list(struct crowd *c, const json_t *sessions,
	void (*gone)(void *user, struct tile *tile), void *user);

/* Take what a session is at; state is borrowed. */
void crowd_take_state(struct tile *t, const json_t *state);

/* It has rung; or somebody has been there. */
void crowd_call(struct tile *t, bool called);

/* Put them in order. Returns whether any has changed its place. */
bool crowd_sort(struct crowd *c);

/* The tile of that serial, or NULL; and where it stands, the first where it does not. */
struct tile *crowd_find(const struct crowd *c, uint64_t serial);
unsigned crowd_place(const struct crowd *c, uint64_t serial);

/* How many are of that standing. */
unsigned crowd_count(const struct crowd *c, enum standing standing);

/* Free all of them. */
void crowd_finish(struct crowd *c);
