/* Messages over a unix socket with descriptors: SCM_RIGHTS, see unix(7). */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define FDPASS_MAX 8u /* descriptors of a sent message */

/* Send bytes with count borrowed descriptors. flags and result: see sendmsg(2). */
ssize_t fdpass_send(
	int socket_fd, const void *bytes, size_t length, const int *fds, size_t count, int flags);

/*
 * Receive bytes and at most one descriptor. *ret_fd is the descriptor that came with them, CLOEXEC, owned by the caller; -1:
 * none. Returns as recvmsg(2).
 */
ssize_t fdpass_receive(int socket_fd, void *bytes, size_t length, int *ret_fd);
