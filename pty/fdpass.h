/* Messages over a unix socket with one descriptor or none: SCM_RIGHTS, see unix(7). */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Send bytes with a borrowed descriptor (-1: none). flags and result: see sendmsg(2). */
ssize_t fdpass_send(int socket_fd, const void *bytes, size_t length, int fd, int flags);

/*
 * Receive bytes. *ret_fd is the descriptor that came with them, CLOEXEC, owned by the caller; -1:
 * none. Returns as recvmsg(2).
 */
ssize_t fdpass_receive(int socket_fd, void *bytes, size_t length, int *ret_fd);
