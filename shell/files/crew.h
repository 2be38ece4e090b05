/*
 * The crew: threads that work at files, and at nothing else. A disk that does not answer takes one of them, and neither
 * the loop nor the threads of libuv; who is stuck is left behind when the server ends. All of it has the rights of those
 * whose files these are: with --session-user those of that user, and in rooms (--isolate) no capability of root.
 *
 * Nobody takes all of them: on one behalf, and on that of all who came by a link, there are so many at work and the rest waits.
 * What has been at work for long is stuck: another thread takes its place, as long as there are spare ones, its end is awaited by
 * nobody else on that behalf, and it is told.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define CREW_MAX 16u           /* threads; started as they are needed */
#define CREW_SPARE 16u         /* in the place of those that are stuck */
#define CREW_EACH_MAX 4u       /* at work on one behalf */
#define CREW_GUESTS_MAX 12u    /* on behalf of all who came by links */
#define CREW_QUEUE 512u        /* jobs that wait for one of them */
#define CREW_QUEUE_GUESTS 384u /* jobs on behalf of links among these */
#define CREW_STUCK_MS 3000u    /* at work for so long */
#define CREW_WHOSE_SIZE 160u
#define CREW_GUEST 'l' /* with which those begin who came by a link */

struct crew;
struct user;

/* Work for one of them; embedded in what it is about, which is the thread's while it is out. */
struct job {
	struct job *prev, *next;
	void (*work)(struct job *job); /* on a thread; not called where done() gets an error */
	/*
	 * On the loop, once: 0, -EPERM (the rights cannot be had), -ECANCELED (the server ends), or -ETIME (all that may be at work on
	 * its behalf is stuck).
	 */
	void (*done)(struct job *job, int error);
	int error;
	char whose[CREW_WHOSE_SIZE]; /* on whose behalf; "": nobody's, who has no limits */
	bool owed; /* it has to be done, as what gives back something: neither refused nor given up */
	/* Of the crew: */
	uint64_t begun_ms;
	bool stuck;
};

struct crew_options {
	const struct user *user; /* whose rights; NULL: ours. Borrowed for its life */
	bool bare;               /* without capabilities, also when we are root */
	bool patient; /* jobs wait for others than disks: none is stuck, and nobody is limited */
	unsigned threads; /* at most, but for spare ones; 0: CREW_MAX */
	/* So many have got stuck on that behalf since the last time. On the loop; NULL: nobody asks. */
	void (*stuck)(void *user, const char *whose, unsigned count);
	void *stuck_user;
};

/* Returns owned, for crew_close(); NULL when memory is short. */
struct crew *crew_open(uv_loop_t *loop, const struct crew_options *options);

/*
 * Jobs that wait are done with -ECANCELED, those under way are waited for, for CREW_FAREWELL_MS; who is stuck then is left
 * with its memory, and is never heard of again. The rest goes once the loop has closed the handles. NULL is fine.
 */
#define CREW_FAREWELL_MS 2000u
void crew_close(struct crew *c);

/*
 * Send out a job. Returns 0, or -EUSERS when too many wait, -ETIME when all that may be at work on its behalf is stuck, or -EAGAIN
 * when there is no thread to be had; -ECANCELED: the crew ends.
 */
int crew_send(struct crew *c, struct job *job);

/* The same for one that is owed: where there is not even a thread, it is worked at here. */
void crew_owe(struct crew *c, struct job *job);

/* How many are at work, or wait, on that behalf. */
unsigned crew_count(struct crew *c, const char *whose);

struct crew_counts {
	unsigned threads, at_work, waiting, stuck; /* now */
	uint64_t stuck_total,
		refused_total; /* since the beginning: got stuck; refused for that, or for too many */
};

void crew_look(struct crew *c, struct crew_counts *ret);
