/* What the two files of the terminal socket share: terminal.c and terminal_tell.c. */
#pragma once

#include "ws/socket/terminal.h"

/* Tell the client what is due, while its transport has room. */
void terminal_pump(struct terminal *t);

/* Let the client have a snapshot of the screen before anything else of the session. */
void terminal_want_snapshot(struct terminal *t, enum snapshot_reason reason);

/* Close its connection; harmless when that has begun. */
void terminal_end(struct terminal *t, enum close_code code, const char *reason);

/* It has typed: tell it, once for all that has come, when the terminal has taken that. */
void terminal_owe_receipt(struct terminal *t);

/* Prepare the timer for those who are too slow. Returns 0 or a negative errno. */
int terminal_refresh_init(struct terminals *all);

/* Drop the snapshot that is being sent, if there is one. */
void terminal_drop_snapshot(struct terminal *t);
