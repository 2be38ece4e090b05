/*
 * The server's file descriptors, and a reserve that sessions and processes must leave for connections, files, and the
 * next server's adoption. A start that would use the reserve is refused.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* Size of the reserve; at most an eighth of the limit. */
#define DESCRIPTORS_RESERVE 64u
/* Most descriptors that the start of a session or process needs; a session keeps six, see shell/session/session.h. */
#define DESCRIPTORS_START 12u

/* The soft limit, at most UINT_MAX. */
unsigned descriptors_limit(void);

/* How many descriptors are open; 0 if /proc cannot be read. */
unsigned descriptors_open(void);

/* Whether a session or process may be started: 0, -EMFILE or -ENFILE. fd: any open descriptor. */
int descriptors_check(int fd);

/* The path of an open directory or file. Returns 0 or a negative errno. */
int descriptor_path(int fd, char ret_path[PATH_MAX]);

/*
 * Whether to warn that the reserve is near: true once, when *near changes to true. *near is kept by the caller; it
 * becomes false again once there is space for several starts. fd: any open descriptor.
 */
bool descriptors_should_warn(int fd, bool *near);
