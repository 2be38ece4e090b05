/* The user's terminal: puts it into raw mode and restores it. There is one per process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Make the terminal raw. Returns a non-blocking descriptor to read from, owned by tty.c, or a
 * negative errno: -ENOTTY if standard input or output is not a terminal. Crashes restore the
 * terminal, too.
 */
int tty_open(void);

/*
 * Like tty_open(), for output at the cursor: tty_close() leaves the cursor there, and titles are
 * not saved.
 */
int tty_open_inline(void);

/* Restore modes, screen, cursor and title, and flush unread input. Idempotent. */
void tty_close(void);

/* Restore the terminal for a while, for example for a stop. */
void tty_suspend(void);

/* Make it raw again after tty_suspend(). */
void tty_resume(void);

/*
 * Reset the terminal and clear the screen. scroll: scroll its contents into the scrollback first.
 */
void tty_clear(bool scroll);

/*
 * Switch off everything that a session may have switched on. Returns false if the terminal is gone.
 */
bool tty_reset(void);

/*
 * Read input for at most within_ms. Returns the number of bytes; 0: none; -1: the terminal is gone.
 */
long tty_read(void *bytes, size_t size, int within_ms);

/* The size of its window; 80 by 24 if it is unknown. */
void tty_size(unsigned *ret_cols, unsigned *ret_rows);

/* Write all bytes. Returns false if the terminal is gone. */
bool tty_write(const void *bytes, size_t length);
