/* Who descends from whom, as /proc tells. Libc only: the holder asks, too. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* The parent of a process; 0 for one without, -1 when there is no such process. */
pid_t parentage_parent(pid_t pid);

/* Whether pid is the ancestor or below it. So is one that has ended meanwhile: nobody can tell any more. */
bool parentage_is_below(pid_t pid, pid_t ancestor);
