/*
 * Watches: report what changes below a directory to followers. Followers with the same path and filter share
 * one watch, which ends with its last follower, or when watch_keep() expires.
 *
 * Each follower has a queue of pending events. When it is full, further events are dropped until it is empty;
 * then FOLLOW_RESYNC is reported. Equal consecutive events of one path within WATCH_MERGE_MS are merged: the
 * first is reported at once, the last one at the end of that time.
 */
#pragma once

#include "shell/files/crew.h"
#include "shell/watch/source.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define WATCHES_MAX 64u          /* watches */
#define WATCH_FOLLOWERS_MAX 512u /* of all watches */
#define WATCH_PENDING_MAX 1000u  /* events of one follower */
#define WATCH_MERGE_MS 75u
#define WATCH_ID_SIZE 48u

struct watches;
struct watch;

/* A follower, embedded in the caller's struct. */
struct watch_follower {
	struct watch_follower *prev, *next;
	struct watch *watch; /* NULL: it has ended, or was never there */
	/*
	 * Called once, unless watches_follow() returned 1, and never from inside it: the root was found, or not: a
	 * negative errno, see source_open(). where: the real path, for -EPERM. After an error, watch is NULL.
	 */
	void (*found)(void *user, int error, const char *where);
	/* watch_follower_next() has something. Not before found(), and never from inside a function of this header. */
	void (*more)(void *user);
	void *user;
	/* Private: */
	struct watch_event **pending; /* ring of WATCH_PENDING_MAX; owned */
	unsigned first, count;
	bool reported_found, reported_watching, reported_end, lost, first_of_all;
	enum source_end end;
	int error;
	uint64_t version;
};

/* What watch_follower_next() returns. */
enum watch_follower_kind {
	FOLLOW_NOTHING,  /* yet */
	FOLLOW_WATCHING, /* the tree is watched; first, once */
	FOLLOW_EVENT,
	FOLLOW_RESYNC, /* events were lost: read everything again */
	FOLLOW_END     /* see end and error; nothing follows */
};

/*
 * Open. within: real path of a directory that must contain all watched roots; borrowed. user, bare: rights of
 * the threads, see crew_options. Returns 0 or -ENOMEM.
 */
int watches_open(uv_loop_t *loop, const char *within, const struct user *user, bool bare,
	struct watches **ret_watches);

/*
 * End all watches. No callbacks follow; the caller still owns the followers. Waits for running steps, as
 * crew_close() does. NULL is fine.
 */
void watches_close(struct watches *all);

/* What to watch. Paths are absolute, without "." and "..". All is borrowed for the call. */
struct watch_place {
	const char *path;  /* in events */
	const char *real;  /* in the server's file system */
	const char *owner; /* owner of the jobs, see struct job; the first follower's counts */
};

/*
 * Follow what happens at a place. f: zero, except for callbacks and user. Returns 0; 1 if the root was found
 * already: found() is not called; -ERR_LIMIT (too many followers or watches), -ENOMEM, or as crew_send().
 */
int watches_follow(struct watches *all, const struct watch_filter *filter,
	const struct watch_place *place, struct watch_follower *f);

/* Stop following and free pending events. Harmless after the end. */
void watch_unfollow(struct watch_follower *f);

/* Get what comes next. *ret_event: for FOLLOW_EVENT, owned by the caller, for watch_event_unref(). */
enum watch_follower_kind watch_follower_next(
	struct watch_follower *f, struct watch_event **ret_event);

/* "watch-N-MS", unique. */
const char *watch_id(const struct watch *w);

/* The number of events and losses so far. */
uint64_t watch_version(const struct watch *w);

/* The number of directories that cannot be watched, for lack of permission or because their paths are too long. */
unsigned watch_unwatched(const struct watch *w);

/* Whether a disk has not answered for CREW_STUCK_MS, so that the version may be outdated. */
bool watch_is_stuck(const struct watch *w);

/* Whether this follower started the watch. */
bool watch_is_initiator(const struct watch_follower *f);

/* Keep a watch without followers for this long from now, unless WATCHES_MAX is reached and another one is needed. */
void watch_keep(struct watch *w, uint64_t ms);
