/* Commands of tmux as text, and commands of the shell. */
#pragma once

#include "ws/client/tmux/tmux.h"

#define SCRIPT_WORDS_MAX 100000u
#define SCRIPT_OUTPUT_MAX ((size_t)16 << 20)

/* One command: its words. */
struct script_line {
	char **words;
	unsigned count, number; /* words; line of the text */
	struct script_line *next;
};

/* Text as commands, one after another. Returns NULL, or what is wrong; *ret_first: NULL where there are none. */
char *script_parse(struct tmux *t, const char *text, struct script_line **ret_first);

/* Whether reading or writing it ends by itself: "-", FIFOs and devices may have others wait, who need the lock. */
bool script_is_file(const char *path);
/* A command of the shell, which outlives us, after a delay in seconds; nobody sees what it prints. Returns 0 or 1. */
int script_run_behind(struct tmux *t, const char *command, double delay);
/* What a command of the shell prints. *ret_status, if asked for: as waitpid() has it; -1: it could not be run. */
char *script_capture(struct tmux *t, const char *command, int *ret_status);
