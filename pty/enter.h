/*
 * Sets control group, limits and user of a process and then executes a program. posix_spawn(3)
 * cannot do this, so ringside-holder does, when it is executed as
 *
 *   ringside-holder --enter [--group FD] [--tasks N] [--memory BYTES] [--cwd DIR]
 *       [--user UID --gid GID [--groups GID,...]] [--show] -- PROGRAM ARGUMENT...
 *
 * On failure it prints the reason and exits with ENTER_EXIT.
 *
 * Hidden environment variables: a client's variables travel with the prefix ENTER_HIDDEN_PREFIX, so that
 * they (LD_PRELOAD, say) have no effect on the programs in between, which still have the server's
 * rights or are not yet in the sandbox. With --show, PROGRAM gets the hidden variables, without the
 * prefix, and no other ones.
 */
#pragma once

#define ENTER_OPTION "--enter"
#define ENTER_HIDDEN_PREFIX "ringside." /* no loader or library reads such names */
#define ENTER_EXIT 126
