/* What the files of processes share. */
#pragma once

#include "shell/process/processes.h"

#include <stddef.h>
#include <stdint.h>

/* Files in a process's directory. */
#define PROCESS_META_FILE "process.json"
#define PROCESS_COMMAND_FILE DIRECTORY_SHELL "/command"
#define PROCESS_PREAMBLE_FILE DIRECTORY_SHELL "/preamble"
#define PROCESS_META_NEW PROCESS_META_FILE ".new" /* these while they are being written */
#define PROCESS_COMMAND_NEW PROCESS_COMMAND_FILE ".new"
#define PROCESS_PREAMBLE_NEW PROCESS_PREAMBLE_FILE ".new"

static inline struct process *process_of_held(const struct held *h)
{
	return (struct process *)((uintptr_t)h - offsetof(struct process, held));
}

/* What processes do as something that is held. */
extern const struct held_kind process_kind;

/* Memory and handles of a process whose directory is dir_fd (taken, also on failure). */
int process_create(
	struct processes *t, const char *directory, int dir_fd, struct process **ret_process);

/* Take it out of everything and free it once its handles are closed. */
void process_release(struct process *p);

/* The last step of removing: the holder ends, with whoever it still finds; then the process is discarded. */
void process_end_holder(struct process *p);

/* Its holder is not there any more: whoever of its processes still lives is ended. */
void process_end_orphans(struct process *p);

/* Its holder is to end, and can only be asked when it has been attached to; before that it may end by itself. */
void process_await_attach(struct process *p, unsigned grace_ms);

/* Retention, and outputs that could not be moved. */
void processes_sweep(struct processes *t);

/* Release it and remove its files. */
void process_discard(struct process *p);

/* As one of the lists of a held; NULL for NULL. */
struct held_waiter *process_held_waiter(struct process_waiter *w);

/* Tell viewers that something is different. */
void process_tell(struct process *p);

/* Write process.json; a failure is reported, for nobody waits for it. */
void process_save(struct process *p);

/* Its ring is open: keep the output for the reader who is to come, if one was announced. */
void process_hold_begin(struct process *p);

/* Go on with what the timer is for: the time limit. */
void process_arm(struct process *p);

/*
 * A step of moving the output of a process to its file, when its time has come; then the holder ends. Returns
 * whether there is nothing else to be done with it now.
 */
bool process_keep(struct process *p);

/* Look for the file, of which an earlier server may have seen to. dir_fd: borrowed. 0 or a negative errno. */
int process_keep_load(struct process *p, int dir_fd);

/* The holder is gone, or nobody cares for it any more. */
void process_let_go(struct process *p);

/* Nobody of the tree is left: kills are done. */
void process_kill_done(struct process *p, int survivors);

/* The timer has fired. */
void process_on_timer(uv_timer_t *timer);

/* The command has ended, or the process is released: nothing can be written any more. */
void process_input_close(struct process *p);

/* A handle of the process has been closed. */
void process_on_handle_closed(uv_handle_t *handle);

/* Take what the holder has written: a turn's worth. */
enum turn_next process_take_turn(struct held *h);

/* What its link says: see struct held_kind. */
void process_on_attached(struct held *h);
void process_on_failed(struct held *h, enum report_stage stage, int error);
void process_on_lost(struct held *h);
void process_on_closed(struct held *h);

/* process.json. Returns 0 or a negative errno; process_meta_load() fills a process whose fields are empty. */
int process_meta_save(int dir_fd, const struct process *p);
int process_meta_load(int dir_fd, struct process *p);
