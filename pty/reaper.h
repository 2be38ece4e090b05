/* The reaper waits for the server's children, each by its pid, so that none stays a zombie. */
#pragma once

#include <sys/types.h>
#include <uv.h>

/* Children to wait for. */
struct reaper {
	uv_signal_t signal; /* SIGCHLD */
	pid_t *pids;        /* children not yet reaped */
	size_t count;
	size_t capacity;
};

/* Start to listen for SIGCHLD on loop. Returns 0 or a negative errno. */
int reaper_open(struct reaper *r, uv_loop_t *loop);

/* Reserve memory for one more child; call it before starting the child. Returns 0 or -ENOMEM. */
int reaper_reserve(struct reaper *r);

/* Add a child. Each call needs a successful reaper_reserve() before it. */
void reaper_add(struct reaper *r, pid_t pid);

/* Stop. Live children are not waited for. The memory is in use until the loop has run once. */
void reaper_close(struct reaper *r);
