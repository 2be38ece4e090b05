/*
 * The server's connection to a holder: start it or find it, attach, map its ring and control page,
 * write input to its terminal, send requests. See pty/wire.h.
 *
 * States: idle -> starting (the holder is being executed) -> attaching -> attached -> lost. If
 * another process attaches to the holder, the link stays attached but is marked taken: the mappings
 * and the terminal still work, requests fail until link_reattach() succeeds.
 *
 * The memory of a link must live until the callback of link_close().
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

/* Most bytes of input queued for the terminal. */
#define LINK_INPUT_MAX ((size_t)1 << 20)
/* Descriptors needed to attach: the socket and those of enum wire_fd. */
#define LINK_SPARE_FDS (1u + WIRE_FDS)
/* Time limit for a new holder to start, and then to answer ATTACH. */
#define LINK_TIMEOUT_MS 10000u
/* A holder that has not answered for this time is unresponsive. */
#define LINK_UNRESPONSIVE_MS 5000u

/* No callback runs inside the function that caused it, except lost(). Each may call link_close(). */
struct link_callbacks {
	/* The link is attached: ring and control page are mapped. */
	void (*attached)(void *user);
	/*
	 * Start or attach has failed. -ENOSPC of REPORT_TERMINAL: no free terminal. -EPERM:
	 * the socket belongs to another user. -EPROTO: the peer is not a holder.
	 */
	void (*failed)(void *user, enum report_stage stage, int error);
	/* The ring has new bytes or events. */
	void (*wake)(void *user);
	/* The holder is gone, or (taken) another process has it. */
	void (*lost)(void *user, bool taken);
	/* Another process has attached; see link_reattach(). NULL: lost() is called instead. */
	void (*taken)(void *user);
	/* link_reattach() has succeeded. May be NULL. */
	void (*regained)(void *user);
	/* Path of the terminal of link_open_terminal(); NULL: failed. May be NULL if unused. */
	void (*terminal)(void *user, const char *path);
	/* link_end() is done. -EBUSY: some processes survived. */
	void (*ended)(void *user, int error);
};

/* See the top of this file. */
enum link_state { LINK_IDLE, LINK_STARTING, LINK_ATTACHING, LINK_ATTACHED, LINK_LOST };

/* A link. Only link*.c may write its fields. */
struct link {
	const struct link_callbacks *callbacks;
	void *user;
	enum link_state state;
	uv_loop_t *loop;        /* borrowed */
	struct ring ring;       /* mapped from attached until link_close() */
	struct control control; /* the same */
	struct wire_info info; /* from the answer to ATTACH; shell_pid: see link_update_shell_pid() */
	int guard_fd;          /* pidfd of the guard of a started holder, until attached; or -1 */
	int dir_fd;            /* the session's directory, O_PATH */
	int report_fd, socket_fd, wake_fd, space_fd, master_fd; /* -1 when not open */
	uv_poll_t report, socket, wake, master;
	uv_timer_t timer;           /* before attached: the time limit; then: checks of holds */
	struct holds holds;         /* what readers of complete output still need */
	uint64_t tail, events_tail; /* arguments of the last link_set_consumed() */
	int open_handles;           /* link_close() waits for 0 */
	bool closing;
	void (*close_cb)(void *user);
	struct outbox input;           /* for the terminal */
	int spare_fds[LINK_SPARE_FDS]; /* reserved until the link has attached to a new holder; or -1 */
	uint32_t serial;               /* of the last request */
	unsigned unanswered;           /* number of requests */
	uint64_t unanswered_ms;        /* loop time since when no answer has come to them */
	unsigned resizing;             /* unanswered resizes: input waits for them */
	bool taken;                    /* while attached: another process has attached */
	bool report_open, socket_open, wake_open, master_open; /* these uv_poll_t are open */
};

/* Prepare a link. dir_fd: the session's directory; taken. Returns 0 or a negative errno. */
int link_init(struct link *l, uv_loop_t *loop, int dir_fd, const struct link_callbacks *callbacks,
	void *user);

/* Start a new holder and attach to it. Returns 0 (a callback follows) or a negative errno. */
int link_start(struct link *l, const struct spawn_options *options, struct reaper *reaper);

/*
 * Attach to the holder of the directory, without a time limit: it may be stopped. Returns 0 (a
 * callback follows), -ECONNREFUSED or -ENOENT when there is none, -EAGAIN when its backlog is full,
 * -EPERM when the socket belongs to another user, or another negative errno.
 */
int link_adopt(struct link *l);

/*
 * Attach again to a taken holder. Returns 0 (regained() or lost() follows), or an error as
 * link_adopt(), and the link stays taken.
 */
int link_reattach(struct link *l);

/* Give up a taken holder: calls lost(taken) before it returns. taken: whether the holder lives. */
void link_abandon(struct link *l, bool taken);

/*
 * Write bytes to the terminal; what it does not accept now is queued, in order.
 * Returns 0, -ENOBUFS when the queue would exceed LINK_INPUT_MAX (then nothing is sent), -ENOTCONN.
 */
int link_write(struct link *l, const void *bytes, size_t length);

/* Discard the queued input, after its shell has ended. */
void link_drop_input(struct link *l);

/* Number of queued bytes of input. */
size_t link_input_queued(const struct link *l);

/*
 * Bytes in the terminal that no program has read, as far as FIONREAD reports: at most 4095, and in
 * canonical mode only whole lines. See tty_ioctl(4).
 */
size_t link_unread_input(const struct link *l);

/* Position in all input after what has been written and queued; see ring/receipts.h. */
uint64_t link_input_end(const struct link *l);

/*
 * Request a new size. Returns 0 or a negative errno; an event in the ring records the change. Input
 * written afterwards reaches the terminal afterwards.
 */
int link_resize(struct link *l, unsigned rows, unsigned cols);

/* Request a signal to the target. Returns 0 or a negative errno. */
int link_signal(struct link *l, int signo, enum wire_target target);

/*
 * Request a second terminal, for a command's standard error, after closing the existing one.
 * Returns 0 (a callback follows) or a negative errno.
 */
int link_open_terminal(struct link *l);

/*
 * Kill the session's processes (SIGHUP now, SIGKILL after grace_ms), then its holder. Returns 0
 * (ended() or lost() follows) or a negative errno.
 */
int link_end(struct link *l, unsigned grace_ms);

/*
 * Publish how far the server has consumed the ring, less what is held (ring/holds.h), and wake the
 * holder if it waits for space.
 */
void link_set_consumed(struct link *l, uint64_t tail, uint64_t events_tail);

/*
 * Hold the ring from offset, and the event log from position on (UINT64_MAX: no events), as far as
 * it has not been released. Returns false if nothing is held: then the reader may miss bytes.
 */
bool link_hold(struct link *l, struct hold *h, uint64_t offset, uint64_t position);

/* Move a hold to what its reader needs next. Harmless if it holds nothing. */
void link_move_hold(struct link *l, struct hold *h, uint64_t offset, uint64_t position);

/* Release a hold. Harmless if it holds nothing. */
void link_release_hold(struct link *l, struct hold *h);

/*
 * Request wake() at the next byte or event. Returns false when the ring is already beyond (head,
 * events): then no wake-up comes.
 */
bool link_sleep(struct link *l, uint64_t head, uint64_t events);

/* Update info.shell_pid from the ring's header, after EVENT_SHELL. */
void link_update_shell_pid(struct link *l);

/* uid of the session's processes; the server's own until attached. */
uid_t link_owner_uid(const struct link *l);

/* pid of the holder; 0 if not known (yet). */
pid_t link_holder_pid(const struct link *l);

/* Whether a request has been unanswered for LINK_UNRESPONSIVE_MS. */
bool link_is_unresponsive(const struct link *l);

/* Close the link; the holder lives on. close_cb is called once everything is released. */
void link_close(struct link *l, void (*close_cb)(void *user));
