/*
 * The server's end of a holder: starting or finding it, attaching to it, its ring and control page,
 * input to its terminal and requests to it. See pty/wire.h.
 *
 * States: idle -> starting (the holder is being executed) -> attaching -> attached -> lost. While attached it may be taken
 * by another process: then it is mapped and can be typed into as before, and takes no requests until it is taken back.
 * The memory of a link is the caller's until link_close()'s callback.
 */
#pragma once

#include "pty/outbox.h"
#include "pty/reaper.h"
#include "pty/spawn.h"
#include "ring/control.h"
#include "ring/holds.h"
#include "ring/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* Input that waits for a program to read it. */
#define LINK_INPUT_MAX ((size_t)1 << 20)
/* Descriptors that it takes to attach: the socket, and what comes over it. */
#define LINK_SPARE_FDS (1u + WIRE_FDS)
/* How long a holder may take to start or to answer. */
#define LINK_TIMEOUT_MS 10000u
/* A holder that has not answered for so long is called unresponsive. */
#define LINK_SILENT_MS 5000u

/* None is called from inside the function that caused it; each may call link_close(). */
struct link_callbacks {
	void (*attached)(void *user); /* ring and control are mapped */
	/*
	 * It will not be attached. -ENOSR: there is no terminal left, which the kernel calls a full disk. -EPERM: another
	 * user listens there; -EPROTO: what listens there is no holder.
	 */
	void (*failed)(void *user, enum report_stage stage, int error);
	void (*wake)(void *user);             /* the ring has something new */
	void (*lost)(void *user, bool taken); /* the holder is gone, or another server has it */
	/* Another process has attached: may call link_take_back(), at once or later. NULL: then it is lost. */
	void (*taken)(void *user);
	void (*regained)(void *user); /* it has been taken back; may be NULL when taken is */
	/* The terminal of link_open_terminal(); NULL: there is none. May be NULL when that is not called. */
	void (*terminal)(void *user, const char *path);
	void (*ended)(void *user, int error); /* link_end() is done; -EBUSY: some processes survive */
};

enum link_state { LINK_IDLE, LINK_STARTING, LINK_ATTACHING, LINK_ATTACHED, LINK_LOST };

struct link {
	const struct link_callbacks *callbacks;
	void *user;
	enum link_state state;
	uv_loop_t *loop;        /* not owned */
	struct ring ring;       /* mapped while attached, and after the loss until closed */
	struct control control; /* the same */
	struct wire_info info; /* what the holder said when attached; its shell as link_follow_shell() found it */
	pid_t started;  /* a holder that we have started and not yet attached to; 0 = none */
	int started_fd; /* pidfd of that, -1: none */
	int dir_fd;     /* the session's directory, O_PATH */
	int report_fd, socket_fd, wake_fd, space_fd, master_fd; /* -1 when not open */
	uv_poll_t report, socket, wake, master;
	uv_timer_t timer;           /* until it is attached; then it looks at holds */
	struct holds holds;         /* what readers of complete output still need */
	uint64_t tail, events_tail; /* what link_consumed() has said */
	int open_handles;           /* that link_close waits for */
	bool closing;
	void (*close_cb)(void *user);
	struct outbox input;           /* for the terminal */
	int spare_fds[LINK_SPARE_FDS]; /* kept free until a new holder has been attached to; or -1 */
	uint32_t serial;               /* of the last request */
	unsigned unanswered;           /* requests */
	uint64_t unanswered_ms;        /* loop time of the oldest of them, or of the last answer */
	unsigned resizing;             /* resizes not yet answered: input waits for them */
	bool taken;                    /* while attached: by another process */
	bool report_open, socket_open, wake_open, master_open; /* handles initialised */
};

/* Prepare. dir_fd is the session's directory; taken, closed with the link. Returns 0 or -errno. */
int link_init(struct link *l, uv_loop_t *loop, int dir_fd, const struct link_callbacks *callbacks,
	void *user);

/* Start a new holder and attach to it. Returns 0 (a callback follows) or a negative errno. */
int link_start(struct link *l, const struct spawn_options *options, struct reaper *reaper);

/*
 * Attach to the holder in the directory, however long it takes to answer: it may be stopped. Returns 0 (a callback
 * follows), -ECONNREFUSED or -ENOENT when there is none, -EAGAIN when it has not taken so many connections that it
 * can be tried again later only, -EPERM when another user listens there, or another negative errno.
 */
int link_adopt(struct link *l);

/*
 * Attach again to what has been taken. Returns 0 (regained() or lost() follows), or as link_adopt(): then it is still
 * taken.
 */
int link_take_back(struct link *l);

/* What has been taken is not taken back: it is lost, which lost() is told at once. taken: the holder lives. */
void link_give_up(struct link *l, bool taken);

/*
 * Send bytes to the terminal; what it does not take now is queued, in order.
 * Returns 0, -ENOBUFS when the queue would exceed LINK_INPUT_MAX (then nothing is sent), -ENOTCONN.
 */
int link_write(struct link *l, const void *bytes, size_t length);

/* Forget the input that waits: it was for a shell that is no more. */
void link_drop_input(struct link *l);

/* Bytes of input that wait. */
size_t link_input_queued(const struct link *l);

/*
 * Bytes that are in the terminal and that no program has read, as far as the kernel tells: at most 4095 (the rest of what was
 * written waits where nobody sees it), and while it collects lines only whole ones. See FIONREAD in tty_ioctl(4).
 */
size_t link_unread(const struct link *l);

/* Place in all input behind what has been written and what waits; see ring/receipts.h. */
uint64_t link_input_end(const struct link *l);

/*
 * Ask for a new size. Returns 0 or a negative errno; the event in the ring says when it happened. Input
 * that is written afterwards reaches the terminal afterwards.
 */
int link_resize(struct link *l, unsigned rows, unsigned cols);

/* Send a signal. Returns 0 or a negative errno. */
int link_signal(struct link *l, int signo, enum wire_target target);

/*
 * Ask for a second terminal, for a command's standard error, in place of the one that there may be. Returns 0
 * (a callback follows) or a negative errno.
 */
int link_open_terminal(struct link *l);

/* End the session's processes and its holder: SIGHUP now, SIGKILL after grace_ms. */
int link_end(struct link *l, unsigned grace_ms);

/*
 * Say how far the ring has been consumed, and wake the holder if it waits for that. What is held is not given up,
 * see ring/holds.h.
 */
void link_consumed(struct link *l, uint64_t tail, uint64_t events_tail);

/*
 * Hold the ring from these places on (position: in the log of events, UINT64_MAX: none of it), as far as it has
 * not been given up. Returns whether it is held; if not, reading goes on, and may lose something.
 */
bool link_hold(struct link *l, struct hold *h, uint64_t offset, uint64_t position);

/* It has been read up to here; h may hold nothing any more. */
void link_hold_moved(struct link *l, struct hold *h, uint64_t offset, uint64_t position);

/* Nothing is held for it any more; fine for one that holds nothing. */
void link_unhold(struct link *l, struct hold *h);

/*
 * Ask to be woken at the next byte or event. Returns false when there is already something beyond
 * (head, events): then no wake-up comes.
 */
bool link_sleep(struct link *l, uint64_t head, uint64_t events);

/* There is a new shell in this session (EVENT_SHELL): info has its number from here on. */
void link_follow_shell(struct link *l);

/* The uid of the session's processes, as the attached holder says; ours while that is not known. */
uid_t link_owner(const struct link *l);

/* The number of the holder, as soon as it is known; 0: not yet, or not at all. */
pid_t link_holder(const struct link *l);

/* Whether it has been asked something and has said nothing for LINK_SILENT_MS. */
bool link_is_silent(const struct link *l);

/* Let go of the holder, which lives on. close_cb is called once everything is released. */
void link_close(struct link *l, void (*close_cb)(void *user));
