/*
 * What the server has in its memory and in its environment is nobody else's: of processes of the same user, the
 * programs in its sessions among them, none may read it.
 */
#pragma once

/*
 * The memory may not be read by others of this user, nor written into a core file. What the kernel refuses is left.
 * Files in our /proc directory belong to root from here on: to ourselves they stay open.
 */
void privacy_begin(void);

/*
 * Take a variable out of the environment: it is wiped from the memory that /proc/PID/environ shows. All of the name are.
 * environment: as execve(2) has left it. Returns the (first) value, owned by the caller for privacy_forget(), or NULL
 * when there was none.
 */
char *privacy_take(char **environment, const char *name);

/* Wipe a text, and free it; NULL is fine. */
void privacy_forget(char *text);
