/*
 * The peeker: a process that reads the memory of others for the server, because such a read may never end: the page may
 * belong to a file system whose program does not answer (FUSE), and then not even SIGKILL ends it. It is the holder's
 * program, executed as
 *
 *   ringside-holder --peek
 *
 * with a socket to the server as PEEKER_SOCKET. It answers one request after the other, and ends with the server.
 */
#pragma once

#include <stdint.h>

#define PEEKER_OPTION "--peek"
#define PEEKER_SOCKET 3
#define PEEKER_BYTES_MAX 4096u

enum peeker_file { PEEKER_MEMORY, PEEKER_ARGUMENTS, PEEKER_ENVIRONMENT };

struct peeker_request {
	uint32_t serial;
	uint32_t file; /* enum peeker_file */
	int32_t pid;
	uint32_t length; /* at most PEEKER_BYTES_MAX */
	uint64_t offset;
};

struct peeker_answer {
	uint32_t serial;
	int32_t result; /* bytes, or a negative errno */
	uint8_t bytes[PEEKER_BYTES_MAX];
};

_Noreturn void peeker_run(void);
