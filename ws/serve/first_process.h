/*
 * Orphans become children of the first process of a pid namespace (a container without an init), which must reap them. If
 * the server is the first process, it forks: the parent reaps, so the parts of the server only wait for their own children.
 */
#pragma once

/*
 * If this is pid 1, continue in a child. Pid 1 reaps all children, forwards SIGTERM and SIGINT to the server, and exits with
 * the server's status. Returns 0 or a negative errno. Call it before any thread is started.
 */
int first_process_fork(void);
