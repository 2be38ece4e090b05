/*
 * Marked processes: those of this machine, with the mark that tells which of them belong together, even where one has
 * left its group and its session: a variable that it has inherited. Read from /proc.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct marked_process {
	pid_t pid, group, session;
	const char *mark; /* the variable's value, "" when it has none or may not be looked at */
};

/* Call visit for each process that has not ended. variable: with '=' at its end. Returns 0 or a negative
 * errno. */
int marked_each(const char *variable, void (*visit)(void *user, const struct marked_process *k),
	void *user);

/*
 * Signal one that was seen, if what has its number has its kernel session and its mark still: by pidfd, so that nobody
 * else ever gets it. Returns whether it was sent.
 */
bool marked_signal(const char *variable, const struct marked_process *k, int signo);
