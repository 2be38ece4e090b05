/*
 * The protocol between the server and a holder: SOCK_SEQPACKET on the unix socket "s" in the
 * session's directory, one struct wire_message a packet, in both directions. Only the server's user
 * can enter the directory, and each side checks that the peer has its own uid (SO_PEERCRED).
 *
 * Holders outlive servers by weeks: from the first release on, types and fields are only appended.
 * A holder answers an unknown type with -EOPNOTSUPP, or with -EPERM on a connection that has not
 * attached. HELLO changes nothing; ATTACH makes the connection the owner, and the previous owner
 * gets WIRE_TAKEN. A closed connection says nothing about the shell: its exit status is in the
 * ring's header.
 *
 * With --respawn the session does not end with its shell. The holder drains all output, then starts
 * a new shell on the same terminal, in the directory where the old shell was at its last FIFO
 * record (default: the first shell's). Then the ring's header gets the new pid and the log an
 * EVENT_SHELL. Until that, HELLO and ATTACH return the old pid and WIRE_SIGNAL fails with -ESRCH.
 * Too many ends in a short time end the session.
 */
#pragma once

#include <stdint.h>

#define WIRE_MAGIC UINT32_C(0x48435352) /* "RSCH", little endian */
#define WIRE_VERSION 1u
#define WIRE_SOCKET "s" /* name of the holder's socket in the session's directory */

/* Message types. "->" is what the answer contains. */
enum wire_type {
	WIRE_HELLO = 1,      /* -> wire_info */
	WIRE_ATTACH = 2,     /* become the owner -> wire_info and the descriptors of enum wire_fd */
	WIRE_RESIZE = 3,     /* a = rows, b = columns */
	WIRE_SIGNAL = 4,     /* a = signal number, b = enum wire_target */
	WIRE_END = 5,        /* a = grace in ms: kill the session's processes, then exit */
	WIRE_STDERR_PTY = 6, /* open (a = 1) or close (a = 0) the second PTY -> text = its slave */
	WIRE_TAKEN = 7,      /* from the holder: another connection has attached */
};

/*
 * Fixed descriptors of the holder and of its starter. The server opens them as /proc/HOLDER/fd/N,
 * the shell as /proc/PARENT/fd/N. This works even if the session's directory is deleted.
 */
enum wire_fixed_fd {
	WIRE_FIXED_FD_SCRIPT = 5,      /* memfd: what the shell runs next, written by the server */
	WIRE_FIXED_FD_STATE = 6,       /* memfd: what the shell exports, written by the shell */
	WIRE_FIXED_FD_FIFO = 7,        /* the sentinel FIFO */
	WIRE_FIXED_FD_STDOUT = 8,      /* a command's standard output, as a pipe */
	WIRE_FIXED_FD_STDERR = 9,      /* a command's standard error, as a pipe */
	WIRE_FIXED_FD_STDERR_PTY = 10, /* of a starter only: slave of the second PTY, while open */
};

/* Targets of WIRE_SIGNAL. */
enum wire_target {
	WIRE_TARGET_FOREGROUND = 0, /* the terminal's foreground process group */
	WIRE_TARGET_SHELL = 1,      /* the session's first process */
};

/* Order of the descriptors that come with the answer to ATTACH. */
enum wire_fd {
	WIRE_FD_RING,    /* sealed memfd, to be mapped read-only */
	WIRE_FD_CONTROL, /* memfd, to be mapped writable */
	WIRE_FD_WAKE,    /* eventfd, written by the holder: the ring has new bytes or events */
	WIRE_FD_SPACE,   /* eventfd, written by the server: the tail has moved */
	WIRE_FD_MASTER,  /* the PTY, for input and ioctls; never read by the server */
	WIRE_FDS,
};

/* State of a holder. */
struct wire_info {
	uint64_t epoch;
	int32_t holder_pid;
	int32_t shell_pid;
	uint64_t head;     /* output bytes so far */
	uint32_t owner;    /* uid of the session's processes */
	uint32_t reserved; /* 0 */
};

/* A request, its answer, or a notification. */
struct wire_message {
	uint32_t magic;   /* WIRE_MAGIC */
	uint16_t version; /* of the sender */
	uint16_t type;    /* enum wire_type; an answer repeats the request's */
	uint32_t serial;  /* chosen by the server, repeated in the answer */
	int32_t status;   /* in answers: 0, or a negative errno */
	uint32_t a, b, c, d;
	union {
		struct wire_info info;
		char text[64]; /* NUL-terminated */
	} u;
};

_Static_assert(sizeof(struct wire_message) == 96, "all messages have the same size");

/* Stage of a holder's start that a struct report is about. */
enum report_stage {
	REPORT_READY = 0,
	REPORT_SETUP = 1,    /* directory, socket, FIFOs, shared memory */
	REPORT_TERMINAL = 2, /* no PTY could be opened */
	REPORT_CHDIR = 3,    /* the working directory cannot be entered */
	REPORT_EXEC = 4,     /* the shell cannot be executed */
};

/* What a starting holder writes once to the report pipe before it closes it. */
struct report {
	int32_t stage; /* enum report_stage */
	int32_t error; /* 0 or a negative errno */
};
