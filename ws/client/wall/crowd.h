/* The sessions of a wall, in the order in which they are shown. Pure. */
#pragma once

#include "ws/client/draw/picture.h"
#include "ws/client/draw/attention.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CROWD_MAX 1000u /* the first ones in the server's list; further ones are not shown */
#define TILE_ID_MAX 128u
#define TILE_NAME_MAX 256u /* bytes of a name that are kept */

/* A session. */
struct tile {
	uint64_t serial; /* unique */
	char id[TILE_ID_MAX + 1], epoch[17];
	char name[TILE_NAME_MAX + 1]; /* "" if it is the id */
	json_t *session, *state;      /* latest from the server; owned; state may be NULL */
	unsigned cols, rows;
	enum attention attention;
	char words[ATTENTION_WORDS_MAX]; /* describe the state */
	bool called;                     /* bell or notification since a client was attached */
	struct picture picture;
	/* Pending requests: for the stream of states, for new output, for the screen. */
	bool followed, waited, fetched;
	bool stale;      /* the picture is out of date */
	bool still;      /* the session has ended: the picture will not change any more */
	uint64_t since;  /* version of the picture in the pending request */
	uint64_t due_ms; /* loop time of the next request */
	bool dirty;      /* must be drawn */
	bool listed;     /* during crowd_update_list(): it is in the new list */
};

/* All sessions. Zero-initialize it. */
struct crowd {
	struct tile **tiles; /* owned */
	size_t count;
	uint64_t last_serial;              /* last serial */
	char own_session[TILE_ID_MAX + 1]; /* id of the session that the wall runs in, or "" */
};

/*
 * Update the tiles from the server's list of sessions. gone is called for each tile that is removed, before it
 * is freed. Returns false if out of memory; then some sessions are missing.
 */
bool crowd_update_list(struct crowd *c, const json_t *sessions,
	void (*gone)(void *user, struct tile *tile), void *user);

/* Update a tile from the state of its session, which is borrowed. */
void crowd_update_state(struct tile *t, const json_t *state);

/* Set whether a bell or a notification is unseen. */
void crowd_set_called(struct tile *t, bool called);

/* Sort the tiles. Returns whether the order changed. */
bool crowd_sort(struct crowd *c);

/* Find a tile by its serial, or NULL. */
struct tile *crowd_find(const struct crowd *c, uint64_t serial);
/* The index of the tile with this serial, or 0. */
unsigned crowd_index(const struct crowd *c, uint64_t serial);

/* The number of tiles of that attention. */
unsigned crowd_count(const struct crowd *c, enum attention attention);

/* Free all tiles. */
void crowd_finish(struct crowd *c);
