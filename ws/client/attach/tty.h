/* The user's terminal: in raw mode, and given back as it was. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Make the terminal raw. Returns a descriptor of ours to read from, not blocking, or a negative errno:
 * -ENOTTY when standard input or output is no terminal. Crashes give it back, too.
 */
int tty_open(void);

/* The same for what goes on where the cursor is, and leaves it where it has come to; the title is not minded. */
int tty_open_inline(void);

/* Give it back: modes, screen, cursor, title, and what it has not read of our reports. Idempotent. */
void tty_close(void);

/* For a while, as before a stop, and after it. */
void tty_suspend(void);
void tty_resume(void);

/* Bring it to what a snapshot takes for granted, an empty screen. scroll: what was on it is scrolled away. */
void tty_clear(bool scroll);

/* Switch everything off that a session may have switched on. Returns false when the terminal is gone. */
bool tty_reset(void);

/* What it sends within so long; 0 for nothing, -1 when it is gone. */
long tty_read(void *bytes, size_t size, int within_ms);

/* Its window; 80 by 24 where it does not tell. */
void tty_size(unsigned *ret_cols, unsigned *ret_rows);

/* Write all of it. Returns false when the terminal is gone. */
bool tty_write(const void *bytes, size_t length);
