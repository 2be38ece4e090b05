/*
 * The holder: a process of its own for each session, the parent of the session's processes and the
 * only reader of its PTY. libc only, one poll loop, no parsing of terminal output, no allocation.
 *
 * States: running -> draining (the shell has ended, output is still being read) -> exited (its exit
 * record is published; the history stays readable) -> gone. Ending skips to gone from anywhere. With
 * --respawn draining leads back to running, unless shells end too fast.
 */
#pragma once

#include "pty/enter.h"
#include "pty/starter.h"
#include "pty/wire.h"
#include "ring/control.h"
#include "ring/ring.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#define HOLDER_CONNECTIONS 8  /* sockets served at once; more are turned away */
#define HOLDER_SOURCES 4      /* enum event_source */
#define HOLDER_FIFOS 3        /* WIRE_PLACE_FIFO and those behind it */
#define HOLDER_FREE_FD 16     /* the first number above all fixed ones */
#define HOLDER_QUICK_MS 2000u /* a shell that ends within this time ends at once */
#define HOLDER_QUICK_ENDS 6u  /* so many in a row are followed by no other */
#define HOLDER_BACK_OFF_MS \
	100u /* before the one after the second of them, then twice as long each time */
#define HOLDER_CWD_MAX 4096u
#define HOLDER_GIVE_UP_MS 3000u /* after the first SIGKILL, what still lives cannot be killed */

/* What the server asks for when it starts a holder. */
struct holder_options {
	int dir_fd;          /* the session's directory */
	int report_fd;       /* pipe for one struct report */
	unsigned rows, cols; /* geometry at birth */
	size_t ring_size;    /* bytes of history */
	size_t control_size; /* bytes of the control memfd */
	unsigned ttl_s; /* seconds that the history of an ended session is kept; 0 = for ever */
	long nofile;    /* soft limit of descriptors for the shell; 0 = as inherited */
	bool respawn;   /* a new shell when it ends */
	bool no_flow;   /* Ctrl-S and Ctrl-Q do not stop and start the terminal */
	bool starter;   /* argv leads to a starter, see pty/starter.h; otherwise it is the shell */
	uid_t owner;    /* whose the shell is */
	int filter_fd;  /* what bwrap reads its filter from, for argv; -1: none */
	struct enter_limits limits; /* of the shell and all below it */
	const char *cwd;            /* where the shell starts */
	char **argv;                /* the shell and its arguments */
};

/* Something whose bytes go into the ring. */
struct source {
	int fd;         /* -1 when not open */
	bool add_cr;    /* LF becomes CR LF, as a terminal would show it */
	bool ready;     /* poll says that there is something */
	bool exhausted; /* the last read found nothing more */
	bool hung;      /* its last writer has closed it: EIO now, but a new writer may come */
};

struct holder {
	struct holder_options options;
	struct ring ring;
	struct control control;
	int ring_fd, control_fd, wake_fd, space_fd;
	int listen_fd, signal_fd, fifo_fd;
	struct source sources[HOLDER_SOURCES]; /* by enum event_source; the first is the PTY's master */
	enum event_source speaking;            /* whose bytes were the last in the ring */
	int connections[HOLDER_CONNECTIONS]; /* -1 = free */
	int owner;                           /* index of the attached connection, or -1 */
	pid_t shell;                         /* 0 once it has ended */
	int shell_fd;                        /* pidfd of it, or -1 */
	int starter_fd;                      /* socket to the starter, or -1 */
	/*
	 * Descriptors of the FIFOs for the starter, until it has been executed. They are opened separately: its user could
	 * clear O_NONBLOCK of an open file that it shares with us, and then we would hang.
	 */
	int starter_fifos[HOLDER_FIFOS];
	pid_t starter_pid;             /* where it lives; 0: it has not been ready yet */
	bool starting;                 /* it has been asked for a shell */
	int start_error;               /* of the last shell that it was asked for */
	enum report_stage start_stage; /* which is about this */
	int terminal_connection; /* index of the connection that waits for a second terminal, or -1 */
	struct wire_message terminal_answer; /* what it gets then */
	bool shell_ended;                    /* exit_status is known */
	bool exited;                         /* the exit record is published */
	int exit_status;                     /* wait(2) status */
	struct termios modes;                /* of the terminal, as it is at first */
	char cwd[HOLDER_CWD_MAX];            /* where the shell was at its last record, or "" */
	uint64_t shell_started_ms;
	unsigned quick_ends;               /* of shells that have ended at once, in a row */
	uint64_t restart_at_ms;            /* the next shell; 0: none is due */
	bool fifo_ready;                   /* poll says that there is a record */
	uint8_t record[EVENT_PAYLOAD_MAX]; /* a FIFO record whose turn has not come */
	size_t record_length;              /* 0 = none */
	bool ending;                       /* WIRE_END was asked for */
	int end_connection;                /* index of who asked */
	uint32_t end_serial;
	uint64_t kill_at_ms;    /* from then on SIGKILL */
	uint64_t next_kill_ms;  /* the next time, unless a child ends before */
	unsigned kill_pause_ms; /* between two times */
	uint64_t give_up_at_ms; /* survivors are reported then */
	bool child_ended;       /* since the last time */
	bool kill_is_fast;      /* looking for children costs little */
	bool childless;         /* nobody is left */
	uint64_t expire_at_ms;  /* time to live, 0 = none */
	bool gone;              /* leave the loop */
};

/* CLOCK_MONOTONIC in ms. */
uint64_t holder_now_ms(void);
/* Move a descriptor above all fixed numbers. Takes fd, or passes what is negative on. Returns it or a negative errno. */
int holder_lift(int fd);

/*
 * terminal.c: open the PTY and start the shell on it. Returns 0 with h->sources[0].fd and h->shell set,
 * or -errno with *ret_stage saying what failed.
 */
int terminal_start(struct holder *h, enum report_stage *ret_stage);
/* Remember where the shell is, for the next one. */
void terminal_note_cwd(struct holder *h);
/* Start another shell in place of one that has been reaped. Returns 0 with h->shell set, or -errno. */
int terminal_restart(struct holder *h);
/* Open a raw PTY for standard error; name: 64 bytes. Returns 0 or -errno. */
int terminal_open_second(struct holder *h, char *name);
/* Set the size and record it. Returns 0 or -errno. */
int terminal_resize(struct holder *h, unsigned rows, unsigned cols, unsigned width, unsigned height);

/* starting.c: execute what leads to the starter, with the terminal's slave, and wait until it is ready. 0 or -errno. */
int starting_open(struct holder *h, int slave);
/* Ask it for something. 0 or -errno. */
int starting_ask(struct holder *h, enum starter_type type, int value);
/* Ask it for a shell. wait: until it has been executed; otherwise h->starting is set until then. 0 or -errno. */
int starting_shell(struct holder *h, bool wait);
/* Have it keep the slave of the second terminal, or none (-1). 0 or -errno; serve_answer_terminal() follows. */
int starting_ask_terminal(struct holder *h, int slave);
/* Take one of its messages. */
void starting_take(struct holder *h);

/* feed.c: move what ready sources have into the ring, as far as the overrun rule allows. */
void feed_init(struct holder *h);
void feed_run(struct holder *h);
/* The same for all sources, whether poll has spoken of them or not. */
void feed_all(struct holder *h);
/* A shell has followed the one that has ended. */
void feed_restarted(struct holder *h);
/* Whether the ring cannot take more before the server consumes. */
bool feed_blocked(struct holder *h);
/* Whether the event log can take one. */
bool feed_has_event_room(struct holder *h);
/* Append an event; it must have been checked that there is room. */
void feed_event(struct holder *h, enum event_type type, const void *payload, size_t length);

/* tree.c: signal every child of ours (orphans of the session among them). Returns how many there are. */
int tree_signal(int signo);
/*
 * Signal the living processes below us that are in a process group (0: any), through all generations, each by a pidfd. spared:
 * not this one (0: none). signo 0: they are only counted. Returns how many have got it.
 */
int tree_signal_group(pid_t group, int signo, pid_t spared);
/* Stop all of them and their groups, then kill them. Returns false when finding them takes long. */
bool tree_kill(void);

/* guard.c: go on as the child of a guard, whose argv[0] is this. 0 in the holder, or -errno; it does not return in the guard. */
int guard_split(int dir_fd, char *name);

/* serve.c: the socket. */
int serve_open(struct holder *h);
void serve_accept(struct holder *h);
void serve_connection(struct holder *h, int index);
/* The starter has the second terminal, or has given it up. */
void serve_answer_terminal(struct holder *h);
/* Answer WIRE_END: survivors processes could not be ended. */
void serve_ended(struct holder *h, int survivors);
