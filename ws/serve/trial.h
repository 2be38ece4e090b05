/*
 * A trial of the program that is to replace the server: it is started with the server's options and --check, and must report
 * that it is ready. Nothing is started or locked by that.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#define TRIAL_WITHIN_MS 10000u
#define TRIAL_TEXT_MAX 1000u
#define TRIAL_READY "the options are valid" /* ends the line that the program prints */

/* Embedded, because of its handles. Zero it. */
struct trial {
	uv_poll_t end, output; /* of the pidfd and of the pipe */
	uv_timer_t timer;
	pid_t pid;
	int pidfd, pipe_fd;
	unsigned open_handles; /* the trial can begin when it is 0 */
	bool timed_out;
	char text[TRIAL_TEXT_MAX + 1]; /* what it has printed */
	size_t length;
	/* Called once. problem: NULL, or why the program does not start; borrowed. */
	void (*done)(void *user, const char *problem);
	void *user;
};

/* Begin. argv: of the server, "serve" being argv[1]. Returns 0 or a negative errno, and done() is not called. */
int trial_begin(struct trial *t, uv_loop_t *loop, const char *program, char *const *argv,
	void (*done)(void *user, const char *problem), void *user);

/* Kill the program; done() is not called. Harmless if there is none. */
void trial_cancel(struct trial *t);
