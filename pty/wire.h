/*
 * The protocol between the server and a holder: SOCK_SEQPACKET on the unix socket "s" in the session's
 * directory, one struct wire_message a packet, both ways. The directory is the server's alone, and each side checks that the
 * kernel (SO_PEERCRED) says its own uid of the other.
 *
 * Holders outlive servers, for weeks: from the first release on types and fields are only appended. A holder
 * answers a type that it does not know with -EOPNOTSUPP, or with -EPERM who has not attached. Asking (HELLO) takes
 * nothing over; ATTACH does, and the previous owner gets WIRE_TAKEN. The end of a connection says nothing about the
 * shell: how that ended is in the ring's header.
 */
#pragma once

#include <stdint.h>

#define WIRE_MAGIC UINT32_C(0x48435352) /* "RSCH", little endian */
#define WIRE_VERSION 1u
#define WIRE_SOCKET "s" /* the holder's socket in the session's directory */

enum wire_type {
	WIRE_HELLO = 1, /* -> wire_info */
	WIRE_ATTACH = 2, /* -> wire_info and the descriptors of enum wire_fd; takes the session over */
	WIRE_RESIZE = 3, /* a = rows, b = columns, c = width and d = height in pixels */
	WIRE_SIGNAL = 4, /* a = signal number, b = enum wire_target */
	WIRE_END = 5,    /* a = grace in ms: end all processes of the session, then the holder */
	WIRE_STDERR_PTY = 6, /* open (a = 1) or close (a = 0) the second PTY -> text = name of its slave */
	WIRE_TAKEN = 7, /* from the holder: another connection has attached */
};

/*
 * Descriptors with fixed numbers, of the holder and of its starter. The server opens them as /proc/HOLDER/fd/N, and a shell
 * by way of its parent, which is the one or the other: that works whatever becomes of the session's directory, and what the
 * shell writes takes the session's memory.
 */
enum wire_place {
	WIRE_PLACE_SCRIPT = 5, /* memfd: what the shell is to run next, written by the server */
	WIRE_PLACE_STATE = 6,  /* memfd: what the shell exports, written by the shell */
	WIRE_PLACE_FIFO = 7,   /* the sentinel FIFO */
	WIRE_PLACE_STDOUT = 8, /* a command's standard output, as a pipe */
	WIRE_PLACE_STDERR = 9, /* a command's standard error, as a pipe */
	WIRE_PLACE_STDERR_PTY =
		10, /* of a starter only: the slave of the second PTY, while there is one */
};

/*
 * A holder that is started with --respawn does not end the session when the shell ends: all that is there is drained, a new shell like the first is started on the same
 * terminal, in the directory where the old one was when it last said something through the FIFO, or else in the
 * first one's; the ring's header gets its number and the log an EVENT_SHELL. Between the two HELLO and ATTACH tell
 * the old number and WIRE_SIGNAL fails with -ESRCH. Too many ends in a short time are the session's end.
 */

enum wire_target {
	WIRE_TARGET_FOREGROUND = 0, /* the terminal's foreground process group */
	WIRE_TARGET_SHELL = 1,      /* the session's first process */
};

/* Order of the descriptors that come with the answer to ATTACH. */
enum wire_fd {
	WIRE_FD_RING,    /* sealed, to be mapped read-only */
	WIRE_FD_CONTROL, /* to be mapped writable */
	WIRE_FD_WAKE,    /* eventfd: there is something new */
	WIRE_FD_SPACE,   /* eventfd: the tail has moved */
	WIRE_FD_MASTER,  /* the PTY, for input and ioctls; never read */
	WIRE_FDS,
};

struct wire_info {
	uint64_t epoch;
	int32_t holder_pid;
	int32_t shell_pid;
	uint64_t head;     /* output bytes so far */
	uint32_t owner;    /* uid of the session's processes */
	uint32_t reserved; /* 0 */
};

struct wire_message {
	uint32_t magic;   /* WIRE_MAGIC */
	uint16_t version; /* of the sender */
	uint16_t type;    /* enum wire_type; an answer repeats the request's */
	uint32_t serial;  /* chosen by who asks, repeated in the answer */
	int32_t status;   /* in answers: 0, or a negative errno */
	uint32_t a, b, c, d;
	union {
		struct wire_info info;
		char text[64]; /* NUL-terminated */
	} u;
};

_Static_assert(sizeof(struct wire_message) == 96, "a message has one size, whatever it says");

/* What a starting holder tells the server through the report pipe: one struct, then end of file. */
enum report_stage {
	REPORT_READY = 0,
	REPORT_SETUP = 1,    /* directory, socket, FIFOs, shared memory */
	REPORT_TERMINAL = 2, /* no PTY to be had */
	REPORT_CHDIR = 3,    /* the working directory cannot be entered */
	REPORT_EXEC = 4,     /* the shell cannot be executed */
};

struct report {
	int32_t stage; /* enum report_stage */
	int32_t error; /* 0 or a negative errno */
};
