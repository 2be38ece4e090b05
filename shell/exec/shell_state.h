/* The state of the shell's process, as the kernel shows it. */
#pragma once

#include "shell/exec/executor.h"
#include "shell/proc/foreground.h"

#include <stdbool.h>

/* Whether the shell itself is in the foreground. */
bool exec_shell_is_foreground(const struct executor *x);

/* Whether the terminal is in non-canonical mode: the shell reads keys one by one (readline). */
bool exec_shell_reads_keys(const struct executor *x);

/* Whether the shell edits a line at its prompt and no other input is pending. */
bool exec_shell_edits_line(const struct executor *x);

/* The working directory, with a NUL. Returns as peek_link(): bytes, 0 if gone or too long. */
ssize_t exec_shell_directory(const struct executor *x, char *ret_path, size_t size);

/* The target for foreground_look() at the session's terminal. */
struct foreground_target exec_foreground(const struct executor *x);

/* Whether the shell's process still is the one that was started with the integration. */
bool exec_shell_is_ours(const struct executor *x);

/* Whether the shell has not shown its first prompt yet. */
bool exec_shell_is_starting(const struct executor *x);

/* Whether the shell has marked a prompt, so executor.prompt says where it is. */
bool exec_shell_has_marks(const struct executor *x);
