/* Protects the server's memory and environment from other processes of its user, such as programs in its sessions. */
#pragma once

/*
 * Make the process not dumpable, so that other processes of this user cannot read its memory, and disable core files. Errors
 * are ignored. The files in /proc/self belong to root afterwards, but stay accessible to the process itself.
 */
void privacy_begin(void);

/*
 * Remove all variables of a name from the environment, and wipe them from the memory that /proc/PID/environ shows.
 * environment: as passed by execve(2). Returns the first value, to be freed by privacy_wipe(), or NULL.
 */
char *privacy_remove_variable(char **environment, const char *name);

/* Wipe a text and free it; NULL is fine. */
void privacy_wipe(char *text);
