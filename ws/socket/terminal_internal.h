/* Shared by terminal.c and terminal_tell.c. */
#pragma once

#include "ws/socket/terminal.h"

/* Send what is due while the transport has room. */
void terminal_pump(struct terminal *t);

/* Send a snapshot of the screen before anything else of the session. */
void terminal_want_snapshot(struct terminal *t, enum snapshot_reason reason);

/* Close the connection, unless that has begun. */
void terminal_end(struct terminal *t, enum close_code code, const char *reason);

/* The client has typed: send one receipt when the program has read its input. */
void terminal_schedule_receipt(struct terminal *t);

/* Initialize the timer for slow clients. Returns 0 or a negative errno. */
int terminal_refresh_init(struct terminals *all);

/* Drop the snapshot that is being made or sent. */
void terminal_drop_snapshot(struct terminal *t);
