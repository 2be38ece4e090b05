/* Shared by terminal.c, terminal_input.c, terminal_send.c and terminal_lag.c. */
#pragma once

#include "ws/socket/terminal.h"

/* Loop time. */
static inline uint64_t terminal_now_ms(const struct terminal *t)
{
	return uv_now(t->all->sessions->loop);
}

/* terminal.c: close the connection, unless that has begun. */
void terminal_end(struct terminal *t, enum close_code code, const char *reason);

/* terminal_input.c: send an error. code, message: literals. */
void terminal_refuse(struct terminal *t, const char *code, const char *message);

/* The client's lease, or NULL if it has ended. */
const char *terminal_lease(const struct terminal *t);

/* If the client's link is for a prompt that waits no more, close it. Returns whether the client stays. */
bool terminal_end_answered(struct terminal *t);

/* Bytes of a binary message; self: the terminal. */
void terminal_take_input(void *self, const void *bytes, size_t length);

/* Process what has been held: the session has started, or the screen has all output. */
void terminal_release_held(struct terminal *t);

/* A paste begins: the next m->bytes bytes of input. */
void terminal_begin_paste(struct terminal *t, const struct message *m);

/* The rest of the paste with that id does not come. */
void terminal_end_paste(struct terminal *t, uint64_t id);

/* Forget the paste. Input that waits with it is dropped, and not counted as read. */
void terminal_drop_paste(struct terminal *t);

/* terminal_send.c: send what is due while the transport has room. */
void terminal_pump(struct terminal *t);

/* terminal_lag.c: initialize the timer for slow clients. Returns 0 or a negative errno. */
int terminal_refresh_init(struct terminals *all);

/* The client has typed: send one receipt when the program has read its input. */
void terminal_schedule_receipt(struct terminal *t);

/* Send a snapshot of the screen before anything else of the session. */
void terminal_want_snapshot(struct terminal *t, enum snapshot_reason reason);

/* Whether the due snapshot is made and its offset still in the ring; otherwise begin to make it. */
bool terminal_prepare_snapshot(struct terminal *t);

/*
 * Begin to send the snapshot that is made: t->snapshot. *ret_skipped: bytes of output that it replaces. Returns false if memory
 * was short, so that the history is sent instead.
 */
bool terminal_begin_snapshot(struct terminal *t, struct picture *ret_picture, uint64_t *ret_skipped);

/* Drop the snapshot that is being made or sent. */
void terminal_drop_snapshot(struct terminal *t);

/* Begin to send the scrollback after a first snapshot without, once that has arrived. Returns whether it is due. */
bool terminal_fill_up(struct terminal *t);

/* Note since when the output at the cursor has waited. */
void terminal_note_waiting(struct terminal *t);

/* Whether a shared session's client begins to lag; then a snapshot is due. */
bool terminal_check_lag(struct terminal *t);
