/* Where a server and its command line meet: a socket in the runtime directory. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#define LOCAL_SOCKET_NAME "ringside.sock" /* in the runtime directory; 0600 */
#define LOCAL_SOCKET_PATH_MAX 108         /* what fits into a socket's address */

/*
 * The runtime directory of a server that is told none: where secrets of this user may be. In $XDG_RUNTIME_DIR if that
 * is this user's alone to write, otherwise in /tmp. Returns NULL, or why the variable, which is set, has not been followed.
 */
const char *local_socket_default_dir(char dir[PATH_MAX]);

/*
 * The runtime directory in which a server of this user has its socket, of those that it may have found by default, with the
 * variable or without: that of local_socket_default_dir(), /run/user/UID/ringside, /tmp/ringside-UID. The first one where none
 * has. Returns as above.
 */
const char *local_socket_find_dir(char dir[PATH_MAX]);

/*
 * How a socket is named in an address: by its path, or where that is too long by a descriptor of its
 * directory, which stays open for as long as the name is needed: *ret_dir_fd, otherwise -1.
 * Returns 0 or a negative errno.
 */
int local_socket_address(const char *path, char name[LOCAL_SOCKET_PATH_MAX], int *ret_dir_fd);
