/* Private to the files of shell/process. */
#pragma once

#include "shell/process/processes.h"

#include <stddef.h>
#include <stdint.h>

/* Files in a process's directory. */
#define PROCESS_META_FILE "process.json"
#define PROCESS_COMMAND_FILE DIRECTORY_SHELL "/command"
#define PROCESS_PREAMBLE_FILE DIRECTORY_SHELL "/preamble"
/* Their names while they are being written. */
#define PROCESS_META_NEW PROCESS_META_FILE ".new"
#define PROCESS_COMMAND_NEW PROCESS_COMMAND_FILE ".new"
#define PROCESS_PREAMBLE_NEW PROCESS_PREAMBLE_FILE ".new"

/* The process that embeds h. */
static inline struct process *process_of_held(const struct held *h)
{
	return (struct process *)((uintptr_t)h - offsetof(struct process, held));
}

/* The held table's callbacks for processes. */
extern const struct held_kind process_kind;

/* Create a process with the directory dir_fd, which is owned from now on, also on failure. */
int process_create(
	struct processes *t, const char *directory, int dir_fd, struct process **ret_process);

/* Change its state. */
void process_move(struct process *p, enum process_state state);

/* Change the state of its tree. */
void process_move_tree(struct process *p, enum process_tree tree);

/* Remove it from all lists, and free it once its handles are closed. */
void process_release(struct process *p);

/* End the holder, which kills the rest of the tree. Discards a process that is being removed. */
void process_end_holder(struct process *p);

/* The holder has died: kill what is left of the tree. */
void process_kill_orphans(struct process *p);

/* End the holder once it has been attached to; it may exit by itself before. */
void process_await_attach(struct process *p, unsigned grace_ms);

/* Forget old processes, and try again to move outputs to files. */
void processes_sweep(struct processes *t);

/* Release it and remove its files. */
void process_discard(struct process *p);

/* The waiter as a held_waiter; NULL for NULL. */
struct held_waiter *process_held_waiter(struct process_waiter *w);

/* Call more() of all viewers. */
void process_notify(struct process *p);

/* Write process.json; a failure goes to the callback failed(). */
void process_save(struct process *p);

/* The ring is open: hold the output for a reader that was announced by process_options.hold. */
void process_hold_begin(struct process *p);

/* Start the timer of the time limit. */
void process_start_time_limit(struct process *p);

/*
 * Move some of the output of an ended process to its file; end the holder when all is moved.
 * Returns false if there is nothing to move now, or moving has failed.
 */
bool process_move_output(struct process *p);

/* Load the facts of an existing output file. dir_fd: borrowed. Returns 0 or a negative errno. */
int process_load_output(struct process *p, int dir_fd);

/* Close the link to the holder. */
void process_close_link(struct process *p);

/* A kill is over: answer its waiters. left: how many survive, or a negative errno if it has failed. */
void process_kill_done(struct process *p, int left);

/* The timer has fired: the time limit, or the next step of a kill. */
void process_on_timer(uv_timer_t *timer);

/* Close the standard input and drop what waits. */
void process_input_close(struct process *p);

/* A uv handle of the process has been closed. */
void process_on_handle_closed(uv_handle_t *handle);

/* Consume one turn's worth of events and output. This and the next four: see struct held_kind. */
enum turn_next process_take_turn(struct held *h);

/* The link is attached to the holder. */
void process_on_attached(struct held *h);

/* The holder could not be started or attached to. */
void process_on_failed(struct held *h, enum report_stage stage, int error);

/* The link is broken. */
void process_on_lost(struct held *h);

/* The link is closed. */
void process_on_closed(struct held *h);

/* Write process.json. Returns 0 or a negative errno. */
int process_meta_save(int dir_fd, const struct process *p);

/* Read process.json into p, whose fields are empty. Returns 0 or a negative errno. */
int process_meta_load(int dir_fd, struct process *p);
