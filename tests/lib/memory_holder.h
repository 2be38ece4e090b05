/*
 * A holder in memory, linked in place of pty/link.c. The test writes the output, reads the input and sets the holder's
 * state. It needs no process, terminal or socket. The ring, the control page and the directory's lock are real.
 * Callbacks come from the loop, as the real ones do.
 *
 * A holder outlives its link: another link to the same directory adopts it. It goes when it is ended or dies;
 * memory_holders_free() frees all. It cannot hang up, be slow, fill its ring (a test that writes more than fits fails),
 * or charge readers for a held ring.
 */
#pragma once

#include "pty/link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pid of the shell, unless the holder is equipped: no process has it. */
#define MEMORY_HOLDER_SHELL (INT32_MAX - 1)

struct memory_holder {
	struct memory_holder *next;
	int dir_fd;        /* holds the directory's lock */
	bool listening;    /* accepts connections */
	bool backlogged;   /* is stopped: its backlog is full */
	bool mute;         /* accepts requests and does not answer */
	bool full;         /* the program in it does not read its input */
	bool foreign;      /* belongs to another user: attaching fails */
	bool silent;       /* is unresponsive */
	pid_t pid;         /* a process in its place, or 0: its descendants belong to the session */
	int end_error;     /* the answer to a request to end; 0: it ends */
	struct link *link; /* attached, or NULL */
	struct ring ring;  /* which it writes */
	int ring_fd, control_fd;
	struct control control;
	int master_fd, slave_fd, script_fd; /* -1 unless equipped */
	char *input;                        /* unread, NUL-terminated */
	size_t input_length;
	unsigned rows, cols, resizes;
	unsigned signals; /* requested */
	int signo;        /* the latest */
	enum wire_target target;
	unsigned ends; /* requests to end */
};

/* The next holder that is started fails in this way. */
void memory_holder_refuse_next(enum report_stage stage, int error);

/* The next holder does not respond until memory_holder_answer(). */
void memory_holder_delay_next(void);

/* The next holder has a terminal and a file for its bash's command, so that commands can be run (shell/exec/exec.h). */
void memory_holder_equip_next(void);

/* The holder of this link, or NULL. */
struct memory_holder *memory_holder_of(const struct link *l);

/* Leave a holder of an earlier server in a directory (borrowed). listening: false if it is still starting. */
struct memory_holder *memory_holder_leave(int dir_fd, bool listening);

/* The holder has started: links that started it or wait for it are attached. */
void memory_holder_answer(struct memory_holder *h);

void memory_holder_put(struct memory_holder *h, const void *bytes, size_t length);
void memory_holder_say(struct memory_holder *h, const char *text);
void memory_holder_say_from(struct memory_holder *h, enum event_source source, const char *text);

/* Append an event at the head of the output; a record that was written to the FIFO. */
void memory_holder_event(
	struct memory_holder *h, enum event_type type, const void *payload, size_t length);
void memory_holder_record(struct memory_holder *h, const char *text);

/* The shell exits with this wait(2) status. */
void memory_holder_exit(struct memory_holder *h, int status);

/* The holder dies without a report. */
void memory_holder_die(struct memory_holder *h);

/* Get the input so far and clear it. The string is valid until the next input. */
const char *memory_holder_take_input(struct memory_holder *h);

unsigned memory_holders_count(void);

/* Free all holders, after all links have been closed. */
void memory_holders_free(void);
