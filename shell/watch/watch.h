/*
 * Watches: what changes below a directory, told to whoever follows. Those who want the same share one watch, which ends
 * with the last of them, or when nobody has kept it (watch_keep()) for so long.
 *
 * Each follower has a line of its own of what it has not taken. Where that is full, what follows is left out until it is
 * empty, and then that is said (FOLLOW_RESYNC). Equal events in a row of one path are one event in WATCH_MERGE_MS: the first
 * is told at once, and of the others one, at the end of that time.
 */
#pragma once

#include "shell/files/crew.h"
#include "shell/watch/source.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define WATCHES_MAX 64u          /* different ones */
#define WATCH_FOLLOWERS_MAX 512u /* of all together */
#define WATCH_PENDING_MAX 1000u  /* events of one follower */
#define WATCH_MERGE_MS 75u
#define WATCH_ID_SIZE 48u

struct watches;
struct watch;

/* Who follows; embedded in what remembers the rest. */
struct watch_follower {
	struct watch_follower *prev, *next;
	struct watch *watch; /* NULL: it has ended, or was never there */
	/*
	 * The root was found (error is 0), or could not be: a negative errno, see source_open(); where: what it is in truth, of
	 * -EPERM. Once, not from inside watches_follow(); after an error watch is NULL.
	 */
	void (*found)(void *user, int error, const char *where);
	/* follow_next() has something; not before found(). Never from inside a function of this header. */
	void (*more)(void *user);
	void *user;
	/* The rest is the room's own. */
	struct watch_event **pending; /* a circle of WATCH_PENDING_MAX; owned */
	unsigned first, count;
	bool told_found, told_watching, told_end, lost, first_of_all;
	enum source_end end;
	int error;
	uint64_t version;
};

enum follow_kind {
	FOLLOW_NOTHING,  /* yet */
	FOLLOW_WATCHING, /* the tree is watched; first, once */
	FOLLOW_EVENT,
	FOLLOW_RESYNC, /* events were left out: look again at everything */
	FOLLOW_END     /* see end and error; nothing follows */
};

/*
 * Returns 0 or -ENOMEM. within: a directory by its real name, in which what is watched has to be; borrowed. user, bare: the
 * rights of its threads, see crew_options.
 */
int watches_open(uv_loop_t *loop, const char *within, const struct user *user, bool bare,
	struct watches **ret_watches);

/*
 * End all. Followers stay the caller's, and hear nothing more. Waits for steps that are being done, as crew_close() does. NULL
 * is fine.
 */
void watches_close(struct watches *all);

/* What is watched. Paths are absolute, without "." and "..". All is borrowed for the call. */
struct watch_place {
	const char *path; /* how events name it */
	const char *real; /* where it is */
	const char *whose; /* on whose behalf its disk is waited for, see struct job; of the first that follows it */
};

/*
 * Follow what happens at a place. filter: of zeroed memory. f: zero, but for callbacks and user. Returns 0; 1, when the root
 * has been found already: found() is not called; -EUSERS (too many follow, or are watched), -ENOMEM, or as crew_send().
 */
int watches_follow(struct watches *all, const struct watch_filter *filter,
	const struct watch_place *place, struct watch_follower *f);

/* Not any more. Harmless after the end. */
void watch_unfollow(struct watch_follower *f);

/* What comes next. *ret_event: of FOLLOW_EVENT, the caller's, for watch_event_unref(). */
enum follow_kind follow_next(struct watch_follower *f, struct watch_event **ret_event);

/* "watch-N-MS", never that of another. */
const char *watch_id(const struct watch *w);
/* How many events there have been, and losses of some. */
uint64_t watch_version(const struct watch *w);
/* How many directories cannot be watched, for want of permission or because their paths are too long. */
unsigned watch_unwatched(const struct watch *w);
/* Whether a disk has not answered for so long that its version may be an old one. */
bool watch_is_stuck(const struct watch *w);
/* Whether f has brought it about. */
bool watch_is_first(const struct watch_follower *f);
/* It does not end for want of followers for so long from now, unless there are WATCHES_MAX and another is asked for. */
void watch_keep(struct watch *w, uint64_t ms);
