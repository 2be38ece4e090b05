/* What the files of exec share. */
#pragma once

#include "shell/exec/executor.h"
#include "shell/exec/shell.h"
#include "shell/exec/shell_environment.h"

/* Loop time in ms. */
uint64_t exec_now(const struct executor *x);

/* Begin what is next in the queue, if the shell is at its prompt. */
void exec_next(struct executor *x);

/* It is over; tells everybody. It goes from the queue, or its place as the current one, to those that are finished. */
void exec_finish(struct exec *e, enum exec_end end);

/* Tell its watchers, and the blocks. */
void exec_changed(struct exec *e);

/* What blocks are to know of it, borrowed; and telling them. */
struct block_exec exec_facts(const struct exec *e);
void exec_tell_block(const struct exec *e);

/* Tell its watchers that it is forgotten, and free it. */
void exec_forget(struct exec *e);

/* It is over, or about to be typed: it goes on without those who have asked for it. */
void exec_release_claims(struct exec *e);

/* Free one that is in no list. */
void exec_free(struct exec *e);

/* Who asks, as much as is kept of it; each may be NULL. Returns whether there is memory for it. */
struct exec_names {
	const char *key, *author, *label, *peer;
};
bool exec_set_names(struct exec *e, const struct exec_names *names);

/* claim.c: what somebody tells of e, who need not be its shell; status: -1 when not that it is over. */
void exec_note_claim(struct exec *e, int status, uint64_t offset);
void exec_claim_tick(struct exec *e);
/*
 * The same for a line of somebody's, of whose end there is no proof: whether a mark is set aside until more is known, and
 * whether a record of that time is claimed, for the shell still waits for what the line has started.
 */
bool exec_sets_aside(struct executor *x, const struct mark *mark);
bool exec_claims_line(struct executor *x, uint64_t time_ms);
void exec_claim_line_tick(struct executor *x);
/* Whether a mark of its end, or a record that has its id, comes from its shell. */
bool exec_believes_mark(const struct exec *e, const struct mark *mark);
bool exec_believes_record(const struct exec *e, const struct record *record);
/* shell.c: for looks at the session's programs. */
struct peek_target exec_peek_target(const struct executor *x, pid_t pid);
/* Whether the shell waits for a child, and has had all of them since before a time (wall clock). */
bool exec_awaits_child(const struct executor *x, uint64_t time_ms);

/*
 * input.c: keep what it reads, until it is over. Returns 0 or a negative errno. What an earlier server has kept is found
 * again; who waits for that one to write is let go on, at the end of the input.
 */
int exec_store_input(struct exec *e, const struct exec_options *o);
void exec_remove_input(struct exec *e);
void exec_adopt_input(struct exec *e);
void exec_input_tick(struct exec *e);

/* type.c: type it. Returns 0 or a negative errno. */
int exec_type(struct exec *e);
/* Whether a line can be typed into the shell now. */
bool exec_is_ready(struct executor *x);
/* Whether exec_busy() has a reason. */
bool exec_is_busy(struct executor *x);
/* Why the next in the queue cannot be typed now: a text for people, or NULL. */
const char *exec_held_up(struct executor *x);
/* shell.c: the text that says that a program runs in the foreground, with the program's name if it is known. */
const char *exec_program_in_front(struct executor *x);
/* shell.c: that startup files have started a program that reads the terminal, in words; NULL: they have not. */
const char *exec_startup_reader(struct executor *x);
/* Whether the shell waits for keys as line editors do: the builtin `read` does it in another way. */
bool exec_shell_awaits_keys(const struct executor *x);
/* Whether the shell reads the terminal, and no other program. unseen: also where that cannot be seen, but may be. */
bool exec_is_read_by_shell(const struct executor *x, bool unseen);
/* Whether something has been printed that has not been followed yet. */
bool exec_is_unread(const struct executor *x);
/* What waits for a shell that is not, or never will be, at its prompt. */
void exec_shell_tick(struct executor *x);
/* type.c: type one of our keys. Returns as link_write() does. */
int exec_type_key(struct executor *x, const char *keys, size_t length);
/* type.c: at the prompt, what a program has left on its terminal is undone, if there is any. */
void exec_undo_leftovers(struct executor *x);
/* Let the input go that was held back. */
void exec_release_input(struct executor *x);

/* follow.c: it has begun, by the wall clock and since boot; what is left of its time is counted from then. */
void exec_running(struct exec *e, uint64_t started_ms, uint64_t started_boot_ms);

/* hold.c: it is typed, or known from an earlier server; nobody will read it any more. */
void exec_hold_begin(struct exec *e);
void exec_hold_end(struct exec *e);

/* cancel.c: the ladder is to be looked after. */
void exec_ladder_tick(struct exec *e);
/* A Ctrl-C is about to be typed to one that runs; it is looked after (typed_until_ms). */
void exec_interrupt_typed(struct exec *e);
void exec_interrupt_tick(struct exec *e);

/* doubt.c: one that was typed, and of which nothing has been heard, is looked after. */
void exec_doubt_tick(struct exec *e);
/* The shell is asked for a sign, if one is needed and it can be asked now. */
void exec_ask_sign(struct executor *x);
/* It has told its state: that may be the sign. */
void exec_sign(struct executor *x);
/* There is nothing any more that it has not taken. */
void exec_answered(struct executor *x);
/* Whether it is certain that nothing of e has been run, given that all that the shell has told is known. */
bool exec_was_not_started(const struct exec *e);

/*
 * log.c: one is written down when it has been asked for and when it is done. Where there is no room for that it
 * is run all the same, and counted: a full disk keeps nobody from making room. It is written down as soon as there is
 * some, see exec_log_catch_up().
 */
void exec_log_asked(struct exec *e);
void exec_log_done(struct exec *e);
/* Its start is written in front of its script. */
void exec_log_began(struct exec *e);
/* What an earlier server has left: those that are done, one that may still run, and what became of the others. */
void exec_log_load(struct executor *x);
/* The line in front of a script by which the next server knows it. Owned by the caller. */
char *exec_log_header(const struct exec *e);
