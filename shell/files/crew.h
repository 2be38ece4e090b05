/*
 * A thread pool for file operations. A disk that does not answer blocks one of its threads, not the loop or
 * libuv's threads. Threads have the rights of the files' user: with --session-user, that user's; with
 * --isolate, no capabilities.
 *
 * Each job names its owner. The jobs of one owner, and of all guests together, may occupy a limited
 * number of threads. A job that runs longer than CREW_STUCK_MS is stuck: it is reported, and a spare thread
 * replaces its thread. If all threads that an owner may occupy are stuck, the owner's further jobs fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define CREW_MAX 16u             /* threads; started on demand */
#define CREW_SPARE 16u           /* further threads, which replace stuck ones */
#define CREW_OWNER_MAX 4u        /* running jobs of one owner */
#define CREW_GUESTS_MAX 12u      /* running jobs of all guests */
#define CREW_QUEUE 512u          /* waiting jobs */
#define CREW_QUEUE_GUESTS 384u   /* waiting jobs of all guests */
#define CREW_STUCK_MS 3000u      /* a job that runs longer is stuck */
#define CREW_CLOSE_WAIT_MS 2000u /* time that crew_close() waits for running jobs */
#define CREW_OWNER_SIZE 160u     /* bytes of an owner's name, with its NUL */
#define CREW_GUEST 'l'           /* first letter of a guest's name: a client with a link */

struct crew;
struct user;

/* A job, embedded in its data. The data belongs to the thread from crew_send() until done(). */
struct job {
	struct job *prev, *next;
	void (*work)(struct job *job); /* on a thread; not called if done() gets an error */
	/*
	 * Called once, on the loop. error: 0, -EPERM (the thread cannot get its rights), -ECANCELED (the crew closes),
	 * or -ERR_FILES_STUCK (all threads that the owner may use are stuck).
	 */
	void (*done)(struct job *job, int error);
	int error;
	char owner[CREW_OWNER_SIZE]; /* the owner; "": no owner, no limits */
	bool owed;                   /* must run, as it releases something: never refused */
	/* Private: */
	uint64_t begun_ms;
	bool stuck;
};

/* Options of a crew; zero: the defaults. */
struct crew_options {
	const struct user *user; /* threads get this user's rights; NULL: the server's. Borrowed for its life */
	bool bare;               /* without capabilities, also as root */
	bool patient;     /* jobs do not wait for disks: no limits, never stuck */
	unsigned threads; /* at most, without spare ones; 0: CREW_MAX */
	/* On the loop: count more jobs of this owner are stuck. NULL: not wanted. */
	void (*stuck)(void *user, const char *owner, unsigned count);
	void *stuck_user;
};

/* Returns a crew for crew_close(), or NULL if out of memory. */
struct crew *crew_open(uv_loop_t *loop, const struct crew_options *options);

/*
 * Cancel waiting jobs (-ECANCELED), and wait up to CREW_CLOSE_WAIT_MS for running ones. The memory of jobs that
 * still run then leaks, and done() is not called for them. The crew is freed once the loop has closed its
 * handles. NULL is fine.
 */
void crew_close(struct crew *c);

/*
 * Queue a job. Returns 0, -ERR_LIMIT if too many wait, -ERR_FILES_STUCK if all threads that the owner may use are
 * stuck, -EAGAIN if no thread could be started, or -ECANCELED if the crew closes.
 */
int crew_send(struct crew *c, struct job *job);

/* Queue a job that must run. If no thread can be started, it runs here, and done() is called from inside. */
void crew_send_required(struct crew *c, struct job *job);

/* The number of running and waiting jobs of an owner. */
unsigned crew_count(struct crew *c, const char *owner);

/* Numbers for metrics. */
struct crew_counts {
	unsigned threads, at_work, waiting, stuck; /* now */
	uint64_t stuck_total, refused_total;       /* since the start */
};

/* Get the numbers. */
void crew_get_counts(struct crew *c, struct crew_counts *ret);
