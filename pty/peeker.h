/*
 * The peeker: a process that reads files of /proc for the server. Such a read can block for ever,
 * even against SIGKILL: a page of memory, or the file behind an epoll descriptor, may belong to a
 * file system that does not respond (FUSE). It is the holder's program, executed as
 *
 *   ringside-holder --peek
 *
 * with a socket to the server as descriptor PEEKER_SOCKET_FD. The server opens the files, because the
 * kernel checks permission at open (Yama allows only ancestors), and sends the descriptors
 * (SCM_RIGHTS). The peeker handles one request at a time and exits when the server closes the
 * socket.
 */
#pragma once

#include <stdint.h>

#define PEEKER_OPTION "--peek"
#define PEEKER_SOCKET_FD 3
#define PEEKER_BYTES_MAX 4096u

/* Request to read a file; its descriptor comes with the message. */
struct peeker_request {
	uint32_t serial;
	uint32_t length; /* at most PEEKER_BYTES_MAX */
	uint64_t offset;
};

/* Answer to the request with the same serial; only the bytes read are sent. */
struct peeker_answer {
	uint32_t serial;
	int32_t result; /* bytes read, or a negative errno */
	uint8_t bytes[PEEKER_BYTES_MAX];
};

/* Run the peeker. */
_Noreturn void peeker_run(void);
