/*
 * The holder: one process for each session, the parent of the session's processes and the only
 * reader of its PTY. libc only, one poll loop, no parsing of terminal output, no allocation.
 *
 * States: running -> draining (the shell has ended, output is still being read) -> exited (the exit
 * event is published; the history stays readable) -> gone. WIRE_END leads to gone from any state.
 * With --respawn draining leads back to running, unless shells end too fast.
 */
#pragma once

#include "pty/holder/enter.h"
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

/* Most connections served at once; more are closed. */
#define HOLDER_CONNECTIONS 8
/* Number of enum event_source. */
#define HOLDER_SOURCES 4
/* Number of FIFOs: WIRE_FIXED_FD_FIFO, WIRE_FIXED_FD_STDOUT, WIRE_FIXED_FD_STDERR. */
#define HOLDER_FIFOS 3
/* First descriptor above all fixed ones. */
#define HOLDER_FIRST_FREE_FD 16
/* A shell that ends within this time has ended too fast. */
#define HOLDER_FAST_END_MS 2000u
/* After so many fast ends in a row no new shell is started. */
#define HOLDER_FAST_ENDS_MAX 6u
/* Delay before the next shell after two fast ends in a row; it doubles with each further one. */
#define HOLDER_BACK_OFF_MS 100u
/* Size of a path of a directory. */
#define HOLDER_CWD_MAX 4096u
/* Processes that live this long after the first SIGKILL are reported as survivors. */
#define HOLDER_KILL_TIMEOUT_MS 3000u

/* The command line. */
struct holder_options {
	int dir_fd;          /* the session's directory */
	int report_fd;       /* pipe for one struct report */
	unsigned rows, cols; /* current size of the terminal */
	size_t ring_size;    /* bytes of history */
	size_t control_size; /* bytes of the control memfd */
	unsigned ttl_s;      /* seconds to keep an ended session; 0 = for ever */
	long nofile;         /* soft limit of descriptors for the shell; 0 = as inherited */
	bool respawn;        /* start a new shell when one ends */
	bool no_flow;        /* Ctrl-S and Ctrl-Q do not stop and start the terminal */
	bool starter;        /* argv executes a starter, see pty/starter.h; else it is the shell */
	uid_t owner;         /* user of the shell */
	int filter_fd;       /* seccomp filter for bwrap in argv; -1: none */
	struct enter_limits limits; /* of the shell and its descendants */
	const char *cwd;            /* where the shell starts */
	char **argv;
};

/* A descriptor that is read into the ring. */
struct source {
	int fd;         /* -1 when not open */
	bool add_cr;    /* LF becomes CR LF, as a terminal would show it */
	bool ready;     /* poll() has reported it */
	bool exhausted; /* the last read found nothing more */
	bool hung;      /* EIO: no process has the slave open; a new one may open it */
};

/* State of the holder. */
struct holder {
	struct holder_options options;
	struct ring ring;
	struct control control;
	int ring_fd, control_fd, wake_fd, space_fd;
	int listen_fd, signal_fd, fifo_fd;
	struct source sources[HOLDER_SOURCES]; /* by enum event_source; the first is the master */
	enum event_source last_source;         /* of the last bytes in the ring */
	int connections[HOLDER_CONNECTIONS];   /* -1 = free */
	int owner;                             /* index of the attached connection, or -1 */
	pid_t shell;                           /* 0 once it has ended */
	int shell_fd;                          /* its pidfd, or -1 */
	int starter_fd;                        /* socket to the starter, or -1 */
	/*
	 * The FIFOs for the starter, open until it has been executed. They are separate open files:
	 * on a shared one, the starter's user could clear O_NONBLOCK and block the holder.
	 */
	int starter_fifos[HOLDER_FIFOS];
	pid_t starter_pid;             /* in its own pid namespace; 0: not yet ready */
	bool starting;                 /* a shell has been requested from the starter */
	int start_error;               /* result of the last such request */
	enum report_stage start_stage; /* stage of that error */
	int terminal_connection;       /* index of the one waiting for a second terminal, or -1 */
	struct wire_message terminal_answer; /* its answer */
	bool shell_ended;                    /* exit_status is valid */
	bool exited;                         /* the exit event is published */
	int exit_status;                     /* wait(2) status */
	struct termios modes;                /* initial modes of the terminal */
	char cwd[HOLDER_CWD_MAX];            /* of the shell at its last FIFO record, or "" */
	uint64_t shell_started_ms;
	unsigned quick_ends;               /* number of fast ends in a row */
	uint64_t restart_at_ms;            /* when to start the next shell; 0: none is due */
	bool fifo_ready;                   /* poll() has reported the FIFO */
	uint8_t record[EVENT_PAYLOAD_MAX]; /* a FIFO record not yet in the ring */
	size_t record_length;              /* 0 = none */
	bool ending;                       /* WIRE_END was requested */
	int end_connection;                /* index of the connection that requested it, or -1 */
	uint32_t end_serial;
	uint64_t kill_at_ms;    /* when to start with SIGKILL */
	uint64_t next_kill_ms;  /* when to repeat it, unless a child ends before */
	unsigned kill_pause_ms; /* between two rounds of SIGKILL */
	uint64_t give_up_at_ms; /* when to report survivors */
	bool child_ended;       /* since the last round */
	bool kill_is_fast;      /* the kernel lists children */
	bool childless;         /* no children are left */
	uint64_t expire_at_ms;  /* end of the time to live; 0 = none */
	bool gone;              /* leave the loop */
};

/* CLOCK_MONOTONIC in ms. */
uint64_t holder_now_ms(void);

/* Move fd above all fixed descriptors. Takes fd; may be a negative errno. Returns it or -errno. */
int holder_move_fd_high(int fd);

/* terminal.c */

/*
 * Open the PTY and start the shell on it. Returns 0 with h->sources[0].fd and h->shell set, or a
 * negative errno with *ret_stage saying what failed.
 */
int terminal_start(struct holder *h, enum report_stage *ret_stage);

/* Record the shell's current directory: the next shell starts there. */
void terminal_note_cwd(struct holder *h);

/* Start a new shell after the old one has been reaped. Returns 0 with h->shell set, or -errno. */
int terminal_restart(struct holder *h);

/* Open a raw PTY for standard error. name: 64 bytes for its slave's path. Returns 0 or -errno. */
int terminal_open_second(struct holder *h, char *name);

/* Set the size and append the event. Returns 0 or a negative errno. */
int terminal_resize(struct holder *h, unsigned rows, unsigned cols);

/* starting.c */

/* Execute the starter with the terminal's slave and wait for STARTER_READY. Returns 0 or -errno. */
int starter_client_open(struct holder *h, int slave);

/* Send a message to the starter. Returns 0 or a negative errno. */
int starter_client_send(struct holder *h, enum starter_type type, int value);

/*
 * Request a shell. wait: until it has been executed; otherwise h->starting is true until then.
 * Returns 0 or a negative errno.
 */
int starter_client_start_shell(struct holder *h, bool wait);

/*
 * Pass the slave of the second terminal to the starter, or have it closed (-1). Returns 0 (then
 * serve_answer_terminal() is called) or a negative errno.
 */
int starter_client_send_terminal(struct holder *h, int slave);

/* Receive and handle one message of the starter. */
void starter_client_receive(struct holder *h);

/* feed.c */

/* Set all sources to closed. */
void feed_init(struct holder *h);

/* Copy from ready sources into the ring, as far as it has space, and append a waiting record. */
void feed_run(struct holder *h);

/* The same for all sources, ready or not. */
void feed_all(struct holder *h);

/* Publish that a new shell has been started. */
void feed_shell_restarted(struct holder *h);

/* Whether the ring has too little space until the server consumes more. */
bool feed_is_blocked(struct holder *h);

/* Whether the event log has space for an event. */
bool feed_has_event_space(struct holder *h);

/* Append an event. The caller has checked that there is space. */
void feed_event(struct holder *h, enum event_type type, const void *payload, size_t length);

/* tree.c */

/* Signal all children, orphans of the session included. signo 0: only count. Returns how many. */
int tree_signal(int signo);

/*
 * Signal all live descendants in a process group (0: any), by pidfd, except the process spared (0:
 * none). signo 0: only count. Returns how many got the signal.
 */
int tree_signal_group(pid_t group, int signo, pid_t spared);

/* Stop, then kill all children and their groups. Returns false if the kernel lists no children. */
bool tree_kill(void);

/* guard.c */

/*
 * Fork: the parent becomes the guard, the child continues as the holder. name: argv[0], overwritten
 * in the guard. Returns 0 in the holder, a negative errno on failure, and does not return in the
 * guard.
 */
int guard_split(int dir_fd, char *name);

/* Close the server's standard streams and leave its working directory. */
void guard_detach(void);

/* serve.c */

/* Listen on the socket. Returns 0 or a negative errno. */
int serve_open(struct holder *h);

/* Accept a connection. */
void serve_accept(struct holder *h);

/* Receive and handle one message of a connection. */
void serve_connection(struct holder *h, int index);

/* Answer WIRE_STDERR_PTY: the starter has put the slave in place, or has died. */
void serve_answer_terminal(struct holder *h);

/* Answer WIRE_END. survivors: processes that could not be killed. */
void serve_answer_end(struct holder *h, int survivors);
