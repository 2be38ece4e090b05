/*
 * The first process of a pid namespace, as in a container without an init: what loses its parent becomes its child, and has to be
 * waited for. Here that is a process of its own, in front of the server, so that no part of the server waits for children
 * that are another part's.
 */
#pragma once

/*
 * Where this is the first process, go on as its child, and have the first one wait for all children, pass SIGTERM and
 * SIGINT on to the server, and end as that does. Returns 0, or a negative errno when there can be no child. Before any thread is started.
 */
int first_process_step_behind(void);
