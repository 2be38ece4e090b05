/* What the files of exec share: exec.c, exec_type.c, exec_follow.c, exec_cancel.c, exec_log.c. */
#pragma once

#include "shell/exec.h"
#include "shell/session.h"

/* Loop time in ms. */
uint64_t exec_now(const struct executor *x);

/* Put into the list of those that are looked at by time. */
void exec_attend(struct executor *x);

/* Begin what is next in the queue, if the shell is at its prompt. */
void exec_next(struct executor *x);

/* It is over; tells everybody. */
void exec_finish(struct exec *e, enum exec_end end);

/* Tell its watchers. */
void exec_changed(struct exec *e);

/* Free one that is in no list. */
void exec_free(struct exec *e);

/* exec_type.c: type it. Returns 0 or a negative errno. */
int exec_type(struct exec *e);
/* Whether a line can be typed into the shell now. */
bool exec_is_ready(struct executor *x);
/* Whether the shell itself is in the foreground, and whether it reads keys one by one (readline). */
bool exec_shell_in_front(const struct executor *x);
bool exec_shell_reads_keys(const struct executor *x);
/* Let the input go that was held back. */
void exec_release_input(struct executor *x);

/* exec_state.c: the shell may be at its prompt: ask it, if somebody waits for that. */
void exec_state_at_prompt(struct executor *x);
/* The shell has written its state down; the session is over: or has not in time. */
void exec_state_told(struct executor *x);
void exec_state_tick(struct executor *x);

/* exec_cancel.c: the ladder is to be looked after. */
void exec_ladder_tick(struct exec *e);

/* exec_log.c: one that is done is written down; failing that is counted, for it has been answered. */
void exec_log_append(struct exec *e);
/* What an earlier server has left: those that are done, and one that may still run. */
void exec_log_load(struct executor *x);
/* The line in front of a script by which the next server knows it. Owned by the caller. */
char *exec_log_header(const struct exec *e);
