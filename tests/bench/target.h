/*
 * The server under test, in a runtime directory of its own. It dies with the benchmark, and its sessions
 * with it. The end of its log is shown when something fails.
 */
#pragma once

#include <sys/types.h>

struct target {
	const char *program;     /* path of ringside */
	unsigned long ring_size; /* 0: the server's default */
	char dir[64];            /* ours: runtime directory and scripts */
	pid_t pid;
	unsigned port;
	struct target *next; /* of those that are open */
	pid_t owner;         /* the benchmark itself, not one of its children */
};

/*
 * program: argv[1] or $RINGSIDE. Returns once it has said where it listens. An empty directory becomes $HOME, of the
 * benchmark as well, so that nobody's own files take part.
 */
void target_open(struct target *t, const char *program, unsigned long ring_size);

/* Start it again after target_kill(). */
void target_start(struct target *t);
void target_kill(struct target *t);

/* End the server and its sessions and remove the directory. Comes by itself when the benchmark exits. */
void target_close(struct target *t);

/* Request; returns the status, and the whole answer in answer[cap]. body may be NULL. */
int target_http(
	const struct target *t, const char *request, const char *body, char *answer, size_t cap);

/* Create a session that runs a program. Returns the pid of that. */
pid_t target_session(const struct target *t, const char *id, const char *program);

/* The same, with options as they stand in the request's body, such as "\"shell\":\"/bin/sh\"". */
pid_t target_session_with(const struct target *t, const char *id, const char *options);
void target_delete(const struct target *t, const char *id);

/* Write a shell script into the directory; ret_path: at least 128 bytes. */
void target_script(const struct target *t, const char *name, const char *text, char *ret_path);

/* Path of ringside from the arguments; *ret_rounds: from option -n, otherwise untouched. */
const char *target_arguments(int argc, char **argv, unsigned *ret_rounds);
