/* Private to the files of shell/exec. */
#pragma once

#include "shell/exec/executor.h"
#include "shell/exec/shell_state.h"
#include "shell/exec/shell_environment.h"

/* Loop time in ms. */
uint64_t exec_now(const struct executor *x);

/* Change what is known of the prompt. Asserts that the shell's life allows that. */
void exec_move_prompt(struct executor *x, enum exec_prompt prompt);

/* Type the next exec in the queue, if the shell is ready. */
void exec_type_next(struct executor *x);

/* Change its state. Asserts that its life allows that. */
void exec_move(struct exec *e, enum exec_state state);

/* End it: move it from the queue, or from current, to finished; log it and call its watchers. */
void exec_finish(struct exec *e, enum exec_end end);

/* Update its block, and call its watchers. */
void exec_changed(struct exec *e);

/* The state that its block records; borrowed. */
struct block_exec exec_facts(const struct exec *e);

/* Update its block. */
void exec_update_block(const struct exec *e);

/* Call gone() of its watchers, and free it. */
void exec_forget(struct exec *e);

/* Release the access rights of the requests: from now on it no longer depends on them. */
void exec_release_claims(struct exec *e);

/* Free one that is in no list. */
void exec_free(struct exec *e);

/* The strings of a request, each cut to its limit; each may be NULL. */
struct exec_names {
	const char *key, *author, *label, *peer;
};

/* Copy them. Returns false when memory is short. */
bool exec_set_names(struct exec *e, const struct exec_names *names);

/* An unsealed report of e has come: of its end, with a status, or of its start (-1). */
void exec_note_unsealed(struct exec *e, int status, uint64_t offset);

/* End e by an unsealed report, or as unknown, once the shell is at its prompt. */
void exec_unsealed_tick(struct exec *e);

/* Whether to defer an end mark of a typed line, because the shell still waits for a child. */
bool exec_defer_line_end(struct executor *x, const struct mark *mark);

/*
 * Whether a report at time_ms (wall clock) that such a line is over is false, because the shell has
 * waited for a child since. If it is true, the deferred mark takes effect.
 */
bool exec_refute_line_end(struct executor *x, uint64_t time_ms);

/* Check again the end of a line whose record has not come. */
void exec_line_end_tick(struct executor *x);

/* Whether an end mark has the seal of e. */
bool exec_mark_is_sealed(const struct exec *e, const struct mark *mark);

/* Whether a record has the seal of e. */
bool exec_record_is_sealed(const struct exec *e, const struct record *record);

/* Whether the shell waits for a child and all its children are older than time_ms (wall clock). */
bool exec_shell_awaits_child(const struct executor *x, uint64_t time_ms);

/* The target for looks at one of the session's programs. */
struct peek_target exec_peek_target(const struct executor *x, pid_t pid);

/* Store its standard input, until it is over. Returns 0 or a negative errno. */
int exec_store_input(struct exec *e, const struct exec_options *o);

/* Remove it. */
void exec_remove_input(struct exec *e);

/* Find what an earlier server has stored. */
void exec_adopt_input(struct exec *e);

/* Unblock a command whose FIFO had an earlier server as its writer: it reads end of file. */
void exec_input_tick(struct exec *e);

/* Type the command. Returns 0 or a negative errno. */
int exec_type(struct exec *e);

/* Whether a command can be typed into the shell now. */
bool exec_is_ready(struct executor *x);

/* Whether exec_busy_reason() has a reason. */
bool exec_is_busy(struct executor *x);

/* Why the first exec in the queue cannot be typed now: a text for people, or NULL. */
const char *exec_obstacle(struct executor *x);

/* The text that a program runs in the foreground, with its name if that is known. */
const char *exec_foreground_text(struct executor *x);

/* The text that a program of the startup files reads the terminal; NULL: none does. */
const char *exec_startup_text(struct executor *x);

/* Whether the shell waits for keys in poll or select, as line editors do, unlike `read`. */
bool exec_shell_awaits_keys(const struct executor *x);

/* Whether the shell alone reads the terminal. unseen: or may do so, which cannot be seen. */
bool exec_shell_reads_terminal(const struct executor *x, bool unseen);

/* Whether there is output that has not been followed yet, in the terminal or in the ring. */
bool exec_has_unread_output(const struct executor *x);

/* End queued execs that the shell cannot run, and look at readers before the first prompt. */
void exec_shell_tick(struct executor *x);

/* Type one of our keys. Returns 0, an error_of_holder() of link_write(), or -ENOTSUP. */
int exec_type_key(struct executor *x, const char *keys, size_t length);

/* At the prompt, undo the modes that a program has left on its terminal. */
void exec_undo_leftovers(struct executor *x);

/* Write the input that was held back, unless a command is being typed. */
void exec_release_input(struct executor *x);

/* E runs since these times (wall clock, since boot). Starts its time limit. */
void exec_note_start(struct exec *e, uint64_t started_ms, uint64_t started_boot_ms);

/* E is typed, or adopted: hold the ring for its readers. */
void exec_hold_begin(struct exec *e);

/* Release all that is held for readers of e. */
void exec_hold_end(struct exec *e);

/* Repeat the last signal of exec_cancel(), or send the next one. */
void exec_cancel_tick(struct exec *e);

/* A Ctrl-C is about to be typed to e. If it may get lost, exec_interrupt_tick() repeats it. */
void exec_note_interrupt(struct exec *e);

/* Repeat a Ctrl-C that was lost. */
void exec_interrupt_tick(struct exec *e);

/* Give up an exec whose start the shell does not report in time. */
void exec_start_tick(struct exec *e);

/* Ask the shell for a sign, if one is needed and the shell can get the key now. */
void exec_ask_sign(struct executor *x);

/* The shell has sent its state record, which may be the sign. */
void exec_note_sign(struct executor *x);

/* The shell has read all that was typed. */
void exec_clear_unanswered(struct executor *x);

/* Whether nothing of e was run, provided that all reports of the shell have been followed. */
bool exec_provably_not_started(const struct exec *e);

/*
 * Log the request for e. On failure e is run all the same: a full disk must not keep people from
 * freeing space. The failure is counted, and exec_log_catch_up() tries again.
 */
void exec_log_request(struct exec *e);

/* Log its end. Failures as above. */
void exec_log_end(struct exec *e);

/* Write its start into the header of its script. */
void exec_log_start(struct exec *e);

/* Load what earlier servers have logged: done execs, unfinished ones, one that may still run. */
void exec_log_load(struct executor *x);

/* The first line of a script, by which the next server knows the exec. Owned by the caller. */
char *exec_log_header(const struct exec *e);
