/*
 * Activities: the current activity of each session of a table, for clients that show all of them.
 * The journal reports commands, bells and notifications at once. Other facts are polled
 * (session_state()): when a session becomes quiet, once a second while it prints, and less and less
 * often while nothing changes. Looks are limited for all sessions together, so that three hundred
 * sessions cost a few percent of a core.
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
#define ACTIVITY_LOOKS_MAX 10u      /* per tick, for all sessions together: 100 a second */
#define ACTIVITY_TELL_MS 250u       /* minimum interval of changed() */
#define ACTIVITY_QUIET_MS 100u      /* silence before a look */
#define ACTIVITY_LOOK_MS 1000u      /* interval of looks during output */
#define ACTIVITY_PAUSE_MAX_MS 4000u /* longest interval of looks while a program runs */
#define ACTIVITY_TEXT_MAX 256u      /* bytes kept of each text */

struct activities;

/* The activity of one session. */
struct activity {
	struct session *session; /* the key */
	struct activities *all;
	struct journal_watcher watcher;
	bool looked; /* there was a look: the fields up to progress are valid */
	enum state_status status;
	enum state_input input;
	bool certain;
	char name[PROC_NAME];            /* of the foreground program; "": none, or not known */
	uint64_t started_ms;             /* start of the program; wall clock */
	char cwd[ACTIVITY_TEXT_MAX + 1]; /* of the shell, or the end of it; "": not known */
	bool cwd_cut;
	/* Title of the terminal; "": none. */
	char terminal_title[ACTIVITY_TEXT_MAX + 1];
	struct progress progress;
	uint64_t since_ms;                 /* last change of status or input; wall clock */
	unsigned bells;                    /* counter, since this server follows the session */
	uint64_t bell_ms;                  /* last bell; wall clock; 0: none */
	char text[ACTIVITY_TEXT_MAX + 1];  /* of the last notification */
	char title[ACTIVITY_TEXT_MAX + 1]; /* of the last notification */
	uint64_t notified_ms;              /* last notification; 0: none */
	unsigned notified;                 /* counter, like bells */
	bool unread;                       /* there is output since the last client was attached */
	uint64_t version;                  /* activities_version() at the last change */
	/* Private to activities.c. */
	uint64_t entry;      /* number of the next journal entry */
	uint64_t seen;       /* offset of the output that clients have seen */
	uint64_t lease;      /* version of the lease at the last change */
	bool leased;         /* whether the lease had an owner then */
	uint64_t due_ms;     /* loop time of the next look; 0: none */
	uint64_t stirred_ms; /* loop time of the first output since the last look; 0: none */
	unsigned pause_ms;   /* interval before the next look if nothing changes */
	UT_hash_handle hh;
};

/* Callbacks for changes. */
struct activities_callbacks {
	/* Some activities have changed. At most once per ACTIVITY_TELL_MS. */
	void (*changed)(void *user);
	/* status, input or since_ms has changed; other fields may lag. May be NULL. */
	void (*moved)(void *user, const struct activity *a);
	/* There is a journal entry newer than activities_open(). May be NULL. */
	void (*happened)(void *user, const struct activity *a, const struct journal_entry *entry);
};

/* Follow the sessions of a table (borrowed). Returns 0 or a negative errno. */
int activities_open(uv_loop_t *loop, struct sessions *sessions,
	const struct activities_callbacks *callbacks, void *user,
	struct activities **ret_activities);

/* Stop following. The memory is freed by the loop later. NULL is fine. */
void activities_close(struct activities *a);

/* Follow new sessions. Call it after sessions were added, or clients attached or detached. */
void activities_sync(struct activities *a);

/* The activity of a session; NULL if it is not followed. a may be NULL. */
const struct activity *activities_find(const struct activities *a, const struct session *s);

/* The number of changes of all activities so far. */
uint64_t activities_version(const struct activities *a);
