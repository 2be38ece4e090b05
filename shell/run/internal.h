/* What run.c (one run) and runs.c (all of them, and ending those that have to) share. */
#pragma once

#include "shell/run/notes.h"
#include "shell/run/run.h"

#include <limits.h>
#include <signal.h>

#define RUN_CHUNK ((size_t)64 << 10) /* read in one go */
#define RUN_MARK "RINGSIDE_RUN="     /* the variable that tells whose a process is */
#define RUN_MARK_SIZE 33
#define RUN_GROUP_SIZE 40 /* of its control group's name, with its NUL */

struct runs {
	uv_loop_t *loop;
	struct runs_config config;
	char bash[PATH_MAX];
	struct run_notes notes;
	struct run *list;
	unsigned count;
	size_t budget;      /* bytes of output that may still be kept */
	size_t turn;        /* bytes that may still be read in this turn of the loop */
	uv_prepare_t begin; /* of a turn */
	uv_timer_t hunt;    /* the next look at all processes */
	uint64_t hunt_ms;   /* after this one */
	struct run *lost;   /* over, though bash could not be ended */
	unsigned open_handles;
	uint8_t chunk[RUN_CHUNK];
};

enum run_state { RUN_GOING, RUN_ENDING, RUN_OVER };

struct run_output {
	uv_poll_t poll;
	int fd;
	bool ended; /* nothing comes from there any more */
	struct excerpt kept;
};

struct run {
	struct run *prev, *next;
	struct runs *all;
	struct run_callbacks callbacks; /* NULLs once nobody listens */
	void *user;
	enum run_state state;
	bool exited, timed_out, cancelled;
	bool terminals;
	bool whole;  /* see run_options */
	bool paused; /* its output is not wanted now: it waits in write(2) */
	pid_t pid;
	int pidfd;
	char mark[RUN_MARK_SIZE];
	unsigned note; /* its place */
	uv_poll_t exit;
	uv_timer_t timeout;
	struct run_output streams[RUN_STREAMS];
	unsigned open_handles;
	uint64_t started_ms, started_ns;
	uint64_t kill_at_ms; /* loop time, when ending */
	bool told;           /* those who have left the group have got TERM */
	unsigned marked;     /* processes seen in the last hunt */
};

/* The name of the control group of the run with this mark. Returns ret_name. */
const char *run_group(const char *mark, char ret_name[RUN_GROUP_SIZE]);

/* Over: read what is left, tell, let go. */
void run_finish(struct run *r);

/* One that was given up has ended after all. */
void run_forget(struct run *r);

/* Look for the processes of those that are ending as soon as the loop turns. */
void runs_hunt_soon(struct runs *all);
