/*
 * Whose process is at the other end of a connection, on this machine: for --no-auth, where whoever connects is the owner. Of
 * a unix socket the kernel tells; of a TCP connection it is asked for the socket at the other end (sock_diag(7)), by both
 * addresses, so that it looks in its table once, however many connections there are.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Open what the kernel is asked through; a descriptor for peer_user_find(), or a negative errno. It sees the connections of the
 * network namespace that we are in now.
 */
int peer_user_open(void);

/*
 * Whose socket is at the other end of fd. diag: of peer_user_open(), not needed for a unix socket. Returns 0 or a negative
 * errno: -ENOENT when there is none here, because it is on another machine or in another network namespace, behind a
 * translation of addresses, or closed by now. Does not block.
 */
int peer_user_find(int diag, int fd, uid_t *ret_uid);

/* Whether that is our user, or root, who can do everything in any case. Who cannot be found is not. */
bool peer_user_is_ours(int diag, int fd);
