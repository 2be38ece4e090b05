/*
 * The reaper waits for the children that the server has started, each by its own number, so that none
 * stays behind as a zombie.
 */
#pragma once

#include <sys/types.h>
#include <uv.h>

struct reaper {
	uv_signal_t signal; /* SIGCHLD */
	pid_t *pids;        /* children not yet waited for */
	size_t count;
	size_t capacity;
};

/* Start to listen for SIGCHLD on loop. Returns 0 or a negative errno. */
int reaper_open(struct reaper *r, uv_loop_t *loop);

/* Make room for one more child. Returns 0 or -ENOMEM; to be called before the child is started. */
int reaper_prepare(struct reaper *r);

/* Take care of pid. reaper_prepare() must have succeeded since the last call. */
void reaper_add(struct reaper *r, pid_t pid);

/* Stop. Children that still live are left to init. The memory is the caller's until the loop has turned. */
void reaper_close(struct reaper *r);
