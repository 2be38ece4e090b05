/* Private to the files of shell/run. */
#pragma once

#include "pty/throwaway.h"
#include "shell/run/run.h"

#include <limits.h>
#include <signal.h>

#define RUN_CHUNK ((size_t)64 << 10) /* read in one go */
#define RUN_MARK_SIZE 33             /* of its random name, with its NUL */
#define RUN_GROUP_SIZE 40            /* of its control group's name, with its NUL */

/* All runs of a server. */
struct runs {
	uv_loop_t *loop;
	struct runs_config config;
	char bash[PATH_MAX];
	struct run *list;
	unsigned count;
	size_t budget;      /* bytes of output that may still be kept */
	size_t turn;        /* bytes that may still be read in this turn of the loop */
	uv_prepare_t begin; /* of a turn */
	struct run *lost;   /* list: over, but their runners have not exited yet */
	unsigned open_handles;
	uint8_t chunk[RUN_CHUNK];
};

/* The states of a run, in order. */
enum run_state {
	RUN_GOING,
	RUN_LINGERING, /* the command has ended; a process still has its output open */
	RUN_ENDING,    /* its processes have got TERM, */
	RUN_KILLING,   /* and then KILL */
	RUN_OVER,
};

/* Standard output or standard error. */
struct run_output {
	uv_poll_t poll;
	int fd;
	bool ended; /* end of file */
	struct excerpt kept;
};

/* One run. */
struct run {
	struct run *prev, *next;
	struct runs *all;
	struct run_callbacks callbacks; /* each may be NULL */
	void *user;
	enum run_state state;
	bool exited, timed_out, cancelled;
	bool answered; /* its runner has reported what is left */
	bool terminals;
	bool whole;    /* see run_options */
	bool paused;   /* its output is not read now, so it blocks in write(2) */
	pid_t runner;  /* the command's parent, see pty/runner.h */
	int pidfd;     /* of the runner */
	int socket_fd; /* to the runner, -1: closed */
	int status;    /* of the command, once it has exited */
	unsigned left; /* living processes, as last reported by the runner */
	char mark[RUN_MARK_SIZE];
	uv_poll_t exit, socket;
	uv_timer_t timer; /* the time limit; later the time to KILL, and to give up */
	struct run_output streams[RUN_STREAMS];
	unsigned open_handles;
	uint64_t started_ms, started_ns;
	uint64_t ended_ms, ended_ns; /* once it has exited */
	bool hurried;                /* do not wait for writers that it has left */
	uint64_t kill_at_ms;         /* loop time, when ending */
};

/* Watch a started run: its end, its output, and its time limit (0: none). */
void run_watch_child(struct run *r, const struct throwaway *child, uint64_t timeout_ms);

/* Watch one of its descriptors with a poll handle. */
void run_watch(struct run *r, uv_poll_t *poll, int fd, uv_poll_cb callback);

/* Read its output from these descriptors, which it owns from now on. */
void run_watch_output(struct run *r, int out_fd, int err_fd);

/* Whether no process has its output open any more. */
bool run_output_has_ended(const struct run *r);

/*
 * The command has ended: wait for processes that still have its output open, RUN_LINGER_MS at most;
 * while it is paused, up to RUN_LINGER_MAX_MS after the end.
 */
void run_wait_for_writers(struct run *r);

/* The name of the control group of the run with this mark. Returns ret_name. */
const char *run_group(const char *mark, char ret_name[RUN_GROUP_SIZE]);

/* End the run: read the remaining output, call done(), close everything but the runner. */
void run_finish(struct run *r);

/* Read messages of its runner. May end the run. */
void run_read_messages(struct run *r);

/* The runner has exited, or is not waited for any longer: release it. */
void run_release_runner(struct run *r);
