/* Messages over a unix socket that bring one descriptor, or none: SCM_RIGHTS, see unix(7). */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Send bytes with a descriptor (-1: without), which stays the caller's. flags: of sendmsg(2). Returns as that does. */
ssize_t pass_send(int socket_fd, const void *bytes, size_t length, int fd, int flags);

/* Receive bytes. *ret_fd: the descriptor that came with them, the caller's, CLOEXEC; -1: none. Returns as recvmsg(2) does. */
ssize_t pass_receive(int socket_fd, void *bytes, size_t length, int *ret_fd);
