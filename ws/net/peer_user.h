/*
 * Which user owns the socket at the other end of a connection on this machine; for --no-auth, where every client is the owner.
 * For a unix socket that is SO_PEERCRED. For TCP the kernel looks up the other end's socket by both addresses (sock_diag(7)):
 * one lookup in its table, however many connections there are.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Open the sock_diag socket, for the current network namespace. Returns a descriptor for peer_user_find(), or a negative errno.
 */
int peer_user_open(void);

/*
 * Find the user of the socket at the other end of fd. diag: of peer_user_open(), unused for a unix socket. Returns 0 or a
 * negative errno: -ENOENT if this network namespace has no such socket (another machine, NAT) or if it is closed. Does not
 * block.
 */
int peer_user_find(int diag, int fd, uid_t *ret_uid);

/* Whether that user is ours or root. False if it cannot be found. */
bool peer_user_is_trusted(int diag, int fd);
