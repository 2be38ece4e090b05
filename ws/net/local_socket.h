/* The unix socket by which the command line finds its server, in the runtime directory. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#define LOCAL_SOCKET_NAME "ringside.sock" /* in the runtime directory; 0600 */
#define LOCAL_SOCKET_PATH_MAX 108         /* size of sun_path */

/*
 * The runtime directory of a server without --runtime-dir: in $XDG_RUNTIME_DIR if only this user can write there, otherwise in
 * /tmp. Returns NULL, or why $XDG_RUNTIME_DIR, which is set, is not used.
 */
const char *local_socket_default_dir(char dir[PATH_MAX]);

/*
 * The first of these directories in which a server of this user has its socket: local_socket_default_dir(),
 * /run/user/UID/ringside, /tmp/ringside-UID. The first of all if there is no such server. Returns as
 * local_socket_default_dir().
 */
const char *local_socket_find_dir(char dir[PATH_MAX]);

/*
 * Write a name for sun_path: the path, or if that is too long, one through /proc/self/fd and a descriptor of its directory.
 * *ret_dir_fd: that descriptor, to be kept open while the name is used, or -1. Returns 0 or a negative errno.
 */
int local_socket_address(const char *path, char name[LOCAL_SOCKET_PATH_MAX], int *ret_dir_fd);
