/*
 * Descriptors of the server, and the reserve of them that sessions and processes leave to everything else: connections,
 * files, and the next server's adopting what there is. What would take from the reserve is refused before it is begun.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* How many, as far as an eighth of the limit goes. */
#define DESCRIPTORS_RESERVE 64u
/* What it takes at most to start a session or a process; a session keeps six of them, see shell/session/session.h. */
#define DESCRIPTORS_START 12u

/* The soft limit now, UINT_MAX at most; and how many are open, 0 when that cannot be said. */
unsigned descriptors_limit(void);
unsigned descriptors_open(void);

/* Whether a session or a process may be started: 0, or -EMFILE or -ENFILE. fd: any that is open. */
int descriptors_check(int fd);

/* The path of an open directory or file. Returns 0 or a negative errno. */
int descriptor_path(int fd, char ret_path[PATH_MAX]);

/*
 * Whether it has come near the reserve, and this is news: *near is what was said last, and goes back when there is
 * room for a while. fd: any that is open.
 */
bool descriptors_are_news(int fd, bool *near);
