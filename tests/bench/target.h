/*
 * The server under test, with a runtime directory of its own. The server and its sessions die with the benchmark. The
 * end of its log is printed if something fails.
 */
#pragma once

#include <sys/types.h>

struct target {
	const char *program;     /* path of ringside */
	unsigned long ring_size; /* 0: the server's default */
	char dir[64];            /* the runtime directory and scripts */
	pid_t pid;
	unsigned port;
	struct target *next; /* list of open targets */
	pid_t owner;         /* the benchmark itself, not one of its children */
};

/*
 * Start the server. program: argv[1] or $RINGSIDE. Returns when the server has printed its address. An empty directory
 * becomes $HOME, also of the benchmark, so that the user's files have no effect.
 */
void target_open(struct target *t, const char *program, unsigned long ring_size);

/* Restart it after target_kill(). */
void target_start(struct target *t);
void target_kill(struct target *t);

/* Kill the server and its sessions and remove the directory. Happens automatically when the benchmark exits. */
void target_close(struct target *t);

/* Send a request. Returns the status, and the whole answer in answer[cap]. body may be NULL. */
int target_http(
	const struct target *t, const char *request, const char *body, char *answer, size_t cap);

/* Create a session that runs a program. Returns the program's pid. */
pid_t target_session(const struct target *t, const char *id, const char *program);

/* The same with further options in the request's body, such as "\"shell\":\"/bin/sh\"". */
pid_t target_session_with(const struct target *t, const char *id, const char *options);
void target_delete(const struct target *t, const char *id);

/* Write a shell script into the directory; ret_path: at least 128 bytes. */
void target_script(const struct target *t, const char *name, const char *text, char *ret_path);

/* A script that runs a bash without the user's files, whose prompt is READY. */
#define TARGET_BASH                                                                      \
	"#!/bin/sh\nexport TERM=xterm-256color PS1='READY ' PROMPT_COMMAND= HISTFILE=\n" \
	"exec bash --norc --noprofile -i\n"

/* Parse the arguments. Returns ringside's path. *ret_rounds: from option -n, at most max; otherwise untouched. */
const char *target_arguments(int argc, char **argv, unsigned *ret_rounds, unsigned max);

/* The same without a path. */
void target_rounds(int argc, char **argv, unsigned *ret_rounds, unsigned max);
