/*
 * The peeker: a process that reads files of /proc for the server, because such a read may never end: a page of a process's
 * memory, or what an epoll descriptor waits for, may belong to a file system that does not answer (FUSE), and
 * then not even SIGKILL ends it. It is the holder's program, executed as
 *
 *   ringside-holder --peek
 *
 * with a socket to the server as PEEKER_SOCKET. The server opens the files, for the kernel checks permission then (Yama lets
 * only ancestors in), and sends their descriptors (SCM_RIGHTS). It answers one request after
 * the other, and ends with the server.
 */
#pragma once

#include <stdint.h>

#define PEEKER_OPTION "--peek"
#define PEEKER_SOCKET 3
#define PEEKER_BYTES_MAX 4096u

/* With the descriptor of what is to be read. */
struct peeker_request {
	uint32_t serial;
	uint32_t length; /* at most PEEKER_BYTES_MAX */
	uint64_t offset;
};

struct peeker_answer {
	uint32_t serial;
	int32_t result; /* bytes, or a negative errno */
	uint8_t bytes[PEEKER_BYTES_MAX];
};

_Noreturn void peeker_run(void);
