/*
 * A holder in memory: pty/link.h with nobody at the other end but the test, which writes the output, reads the input, and
 * says how the holder fares. Linked in place of pty/link.c, it needs no process, no terminal and no socket; the ring and
 * the control page are the real ones, and so is the lock of the directory. Callbacks come when the loop turns, as from
 * the real one.
 *
 * A holder outlives its link: another link whose directory is the same one adopts it. It is gone when it has been ended
 * or has died, and all are forgotten by memory_holders_free(). What it cannot do: hang up, be too slow, fill its ring
 * (a test that writes more than fits fails), charge readers for a ring that is held.
 */
#pragma once

#include "pty/link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the shell, unless it is equipped: no process has this number. */
#define MEMORY_HOLDER_SHELL (INT32_MAX - 1)

struct memory_holder {
	struct memory_holder *next;
	int dir_fd;      /* holds the directory's lock */
	bool listening;  /* it can be attached to */
	bool backlogged; /* it has been stopped, and takes no more connections */
	bool mute;       /* it takes requests and does not answer them */
	bool full;       /* the program does not read its input */
	bool stranger;   /* another user's: it cannot be attached to */
	bool silent;     /* it has not answered for long */
	pid_t pid; /* a process that stands for it, or 0: whoever is below it belongs to the session */
	int end_error;     /* what it answers when it is asked to end; 0: it ends */
	struct link *link; /* who has attached; NULL: nobody */
	struct ring ring;  /* it writes */
	int ring_fd, control_fd;
	struct control control;
	int master_fd, slave_fd, script_fd; /* of one that is equipped, otherwise -1 */
	char *input;                        /* what has been typed, NUL-terminated */
	size_t input_length;
	unsigned rows, cols, resizes;
	unsigned signals; /* that were asked for */
	int signo;        /* the latest */
	enum wire_target target;
	unsigned ends; /* how often it was asked to end */
};

/* What becomes of the next holder that is started: it fails so. */
void memory_holder_refuse_next(enum report_stage stage, int error);

/* It does not answer until memory_holder_answer(). */
void memory_holder_delay_next(void);

/* It has a terminal, and a place for what its bash is to run: commands can be given to it, see shell/exec/exec.h. */
void memory_holder_equip_next(void);

/* The holder of this link; NULL if it has none. */
struct memory_holder *memory_holder_of(const struct link *l);

/* One that an earlier server has left in a directory (borrowed); listening: or it is still starting. */
struct memory_holder *memory_holder_leave(int dir_fd, bool listening);

/* It has come so far that it can be attached to; who has started it, or waits for it, is. */
void memory_holder_answer(struct memory_holder *h);

/* Output. */
void memory_holder_put(struct memory_holder *h, const void *bytes, size_t length);
void memory_holder_say(struct memory_holder *h, const char *text);
void memory_holder_say_from(struct memory_holder *h, enum event_source source, const char *text);

/* An event at the head of the output, such as what was written to the FIFO. */
void memory_holder_event(
	struct memory_holder *h, enum event_type type, const void *payload, size_t length);
void memory_holder_record(struct memory_holder *h, const char *text);

/* The shell has ended, with this wait(2) status. */
void memory_holder_exit(struct memory_holder *h, int status);

/* It is gone without a word. */
void memory_holder_die(struct memory_holder *h);

/* What was typed so far; it begins anew afterwards. The string is good until the next input. */
const char *memory_holder_take_input(struct memory_holder *h);

/* How many there are. */
unsigned memory_holders_count(void);

/* The end of a test: after all links are closed. */
void memory_holders_free(void);
