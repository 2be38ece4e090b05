/* What the files of runs share. */
#pragma once

#include "pty/throwaway.h"
#include "shell/run/run.h"

#include <limits.h>
#include <signal.h>

#define RUN_CHUNK ((size_t)64 << 10) /* read in one go */
#define RUN_MARK_SIZE 33             /* of its random name, with its NUL */
#define RUN_GROUP_SIZE 40            /* of its control group's name, with its NUL */

struct runs {
	uv_loop_t *loop;
	struct runs_config config;
	char bash[PATH_MAX];
	struct run *list;
	unsigned count;
	size_t budget;      /* bytes of output that may still be kept */
	size_t turn;        /* bytes that may still be read in this turn of the loop */
	uv_prepare_t begin; /* of a turn */
	struct run *lost;   /* over, and their runners have not ended yet */
	unsigned open_handles;
	uint8_t chunk[RUN_CHUNK];
};

enum run_state {
	RUN_GOING,
	RUN_LINGERING, /* the command has ended, and something still has its output open */
	RUN_ENDING,    /* everything of it is asked to end, */
	RUN_KILLING,   /* and then killed */
	RUN_OVER,
};

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
	bool answered; /* its runner has told what is left */
	bool terminals;
	bool whole;    /* see run_options */
	bool paused;   /* its output is not wanted now: it waits in write(2) */
	pid_t runner;  /* the command's parent, see pty/runner.h */
	int pidfd;     /* of the runner */
	int socket_fd; /* to the runner, -1: closed */
	int status;    /* of the command, once it has exited */
	unsigned left; /* processes that the runner has seen last */
	char mark[RUN_MARK_SIZE];
	uv_poll_t exit, socket;
	uv_timer_t timer; /* its time limit; then until it is killed, and given up */
	struct run_output streams[RUN_STREAMS];
	unsigned open_handles;
	uint64_t started_ms, started_ns;
	uint64_t ended_ms, ended_ns; /* once it has exited */
	bool hurried;                /* what it has left is not waited for any longer */
	uint64_t kill_at_ms;         /* loop time, when ending */
};

/* Watch what a run has started: until it has ended, its output, and its time limit (0: none). */
void run_watch_child(struct run *r, const struct throwaway *child, uint64_t timeout_ms);

/* One of its descriptors, by a handle of its own. */
void run_watch(struct run *r, uv_poll_t *poll, int fd, uv_poll_cb callback);

/* Read its output from these on; they become its own. */
void run_watch_output(struct run *r, int out_fd, int err_fd);

/* Whether no process has its output open any more. */
bool run_has_closed(const struct run *r);

/*
 * Its command has ended: give what still has its output open RUN_LINGER_MS for that, or, while its reader wants no output,
 * what is left of RUN_LINGER_MAX_MS.
 */
void run_wait_for_writers(struct run *r);

/* The name of the control group of the run with this mark. Returns ret_name. */
const char *run_group(const char *mark, char ret_name[RUN_GROUP_SIZE]);

/* Over: read what is left, tell, let go. */
void run_finish(struct run *r);

/* Take what its runner has said; it may be over then. */
void run_hear(struct run *r);

/* Its runner has ended, or is not waited for any longer. */
void run_forget(struct run *r);
