/*
 * Activities: what each session of a table is at, kept up to date for those who have all of them before their eyes. The
 * journal tells of commands, bells and notifications as they happen; the rest is looked for (session_state()): when a session
 * has become quiet, once a second while it prints, and ever more seldom while nothing changes. All sessions together get a
 * limited number of looks, in turn, so that three hundred cost a few percent of a core.
 */
#pragma once

#include "shell/session/sessions.h"
#include "shell/wait/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>
#include <uv.h>

#define ACTIVITY_TICK_MS 100u
#define ACTIVITY_LOOKS_MAX 10u      /* in a tick, at all sessions together: 100 a second */
#define ACTIVITY_TELL_MS 250u       /* who follows is told at most so often: 4 times a second */
#define ACTIVITY_QUIET_MS 100u      /* of silence, after which it is looked */
#define ACTIVITY_LOOK_MS 1000u      /* and so often while it prints */
#define ACTIVITY_PAUSE_MAX_MS 4000u /* between two looks while nothing changes and something runs */
#define ACTIVITY_TEXT_MAX 256u      /* bytes of each text that is kept */

struct activities;

struct activity {
	struct session *session; /* the key */
	struct activities *all;
	struct journal_watcher watcher;
	bool looked; /* once at least: the next fields are known */
	enum state_status status;
	enum state_input input;
	bool certain;
	char name[PROC_NAME];            /* of the foreground; "": none, or not known */
	uint64_t started_ms;             /* of it; wall clock */
	char cwd[ACTIVITY_TEXT_MAX + 1]; /* of the shell, the end of it when it is longer; "": not known */
	bool cwd_cut;
	uint64_t since_ms; /* status and input are so since then; wall clock */
	unsigned bells;    /* ever, as far as this server has seen */
	uint64_t bell_ms;  /* the last one; wall clock; 0: none */
	char text[ACTIVITY_TEXT_MAX + 1],
		title[ACTIVITY_TEXT_MAX + 1]; /* of the last notification */
	uint64_t notified_ms;                 /* 0: none */
	unsigned notified;                    /* ever, likewise */
	bool unread;      /* it has printed something since anybody was attached */
	uint64_t version; /* of all, when something of it has changed last */
	/* What is kept for that. */
	uint64_t entry;      /* of the journal, the next */
	uint64_t seen;       /* so much of the output */
	uint64_t lease;      /* version of the one that was told */
	bool leased;         /* and whether somebody had it */
	uint64_t due_ms;     /* loop time of the next look; 0: none */
	uint64_t stirred_ms; /* loop time of the first output since the last one; 0: none */
	unsigned pause_ms;   /* before the next while nothing changes */
	UT_hash_handle hh;
};

struct activities_callbacks {
	/* Something of some has changed; spaced by ACTIVITY_TELL_MS. activities_version() says what is new. */
	void (*changed)(void *user);
	/* Its status or what it waits for is another: of those fields and since_ms alone. At once; may be NULL, as the next. */
	void (*moved)(void *user, const struct activity *a);
	/* Something has happened in it, of which the journal tells, since this server has begun to follow sessions. */
	void (*happened)(void *user, const struct activity *a, const struct journal_entry *entry);
};

/* Follow the sessions of a table (borrowed). Returns 0 or a negative errno. */
int activities_open(uv_loop_t *loop, struct sessions *sessions,
	const struct activities_callbacks *callbacks, void *user,
	struct activities **ret_activities);

/* Nothing is followed any more; the memory goes once the loop has turned. NULL is fine. */
void activities_close(struct activities *a);

/* Sessions have come, or who is attached has changed: follow those that are not followed yet. */
void activities_sync(struct activities *a);

/* What is known of a session; NULL while nothing is. */
const struct activity *activities_find(const struct activities *a, const struct session *s);

/* Counts changes of all of them. */
uint64_t activities_version(const struct activities *a);

/* The looks that were taken, ever. */
uint64_t activities_looks(const struct activities *a);
