/*
 * Notes of what runs, on disk: the marks that the processes of each run carry, so that a server can end what an earlier
 * one has left when it was killed. They are in one file, a place for each run: to make a file for each takes as long as
 * all else that a server does for a run. Notes that cannot be made are done without.
 */
#pragma once

#include "shell/run/run.h"

#include <stdbool.h>

struct run_notes {
	int fd;
	bool taken[RUNS_MAX]; /* places */
};

/*
 * Kill those who carry a mark that is noted below dir in "runs" (which is made), with the variable that ends
 * with '='; then forget the notes. Returns 0 or a negative errno.
 */
int run_notes_open(struct run_notes *n, const char *dir, const char *variable);
void run_notes_close(struct run_notes *n);

/* Note that the run of this mark goes on. Returns its place, to be given back when it goes on no more. */
unsigned run_note(struct run_notes *n, const char *mark);
void run_note_remove(struct run_notes *n, unsigned place);
