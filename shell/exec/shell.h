/*
 * The shell itself, by facts of the kernel: whether it still is the bash that has the integration, whether it edits
 * lines, whether it has come as far as its first prompt.
 */
#pragma once

#include "shell/exec/executor.h"
#include "shell/proc/foreground.h"

#include <stdbool.h>

/* Whether the shell itself is in the foreground, and whether it reads keys one by one (readline). */
bool exec_shell_in_front(const struct executor *x);
bool exec_shell_reads_keys(const struct executor *x);

/* Whether it edits a line at its prompt, and nothing else is on its way there: what is typed now is shown. */
bool exec_shell_edits(const struct executor *x);

/* The directory that it is in, with a NUL. Returns bytes, 0 when it is no more or the path is longer, or as peek_link() does. */
ssize_t exec_shell_directory(const struct executor *x, char *ret_path, size_t size);

/* For looks at its terminal. */
struct foreground_target exec_foreground(const struct executor *x);

/* Whether it is the bash that has the integration. */
bool exec_shell_is_ours(const struct executor *x);

/* Whether it is on its way to its first prompt. */
bool exec_is_newborn(const struct executor *x);
