/*
 * The shell itself: whether it still is the bash that has the integration, whether it edits lines, whether it has
 * come as far as its first prompt. Facts of the kernel, since what would tell otherwise may be gone.
 */
#include "shell/exec/internal.h"
#include "shell/proc/foreground.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <utlist.h>

#define ARGUMENTS_MAX 4608u /* of the shell: "bash", "--rcfile", a path */
#define LOOK_MS 60u         /* between two looks at who reads */

/* Whether the holder's child has not become the shell yet. */
static bool is_unborn(const struct link *link)
{
	char path[32];
	struct stat shell, holder;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)link->info.shell_pid);
	if (stat(path, &shell) < 0)
		return true;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)link->info.holder_pid);
	return stat(path, &holder) < 0 ||
		(shell.st_ino == holder.st_ino && shell.st_dev == holder.st_dev);
}

/* What is done with `exec zsh` has other arguments, and `exec bash` as well. */
bool exec_shell_is_ours(const struct executor *x)
{
	char path[32], text[ARGUMENTS_MAX];
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)x->pane->held.link.info.shell_pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return true; /* it may not be looked at, or is no more: others will tell */
	text[n] = '\0';
	const char *option = text + strlen(text) + 1, *end = text + n;
	const char *file = option < end ? option + strlen(option) + 1 : end;
	size_t length = file < end ? strlen(file) : 0, size = sizeof INTEGRATION_FILE;
	bool given = option < end && strcmp(option, "--rcfile") == 0 && length > size &&
		strcmp(file + length - size + 1, INTEGRATION_FILE) == 0 &&
		strstr(file, x->pane->held.directory);
	return given || is_unborn(&x->pane->held.link);
}

bool exec_shell_in_front(const struct executor *x)
{
	const struct link *link = &x->pane->held.link;
	return tcgetpgrp(link->master_fd) == link->info.shell_pid;
}

bool exec_shell_reads_keys(const struct executor *x)
{
	struct termios modes;
	return tcgetattr(x->pane->held.link.master_fd, &modes) == 0 && !(modes.c_lflag & ICANON);
}

bool exec_shell_edits(const struct executor *x)
{
	return x->prompt == EXEC_PROMPT_READY && x->entered == 0 && !x->current &&
		exec_input_waiting(x) == 0 && exec_shell_in_front(x);
}

/* Whether it waits for a line at its prompt in the kernel's way, without readline: our key does nothing. */
static bool lacks_editing(const struct executor *x)
{
	return x->prompt == EXEC_PROMPT_READY && x->entered == 0 && !x->current &&
		exec_shell_in_front(x) && !exec_shell_reads_keys(x) &&
		exec_now(x) >= x->prompt_ms + EXEC_UNMARKED_MS;
}

const char *exec_unable(const struct executor *x)
{
	if (!exec_shell_is_ours(x))
		return "Another program has taken the place of the session's shell";
	return lacks_editing(x) ? "The shell's line editing is switched off" : NULL;
}

bool exec_is_newborn(const struct executor *x)
{
	return x->open && x->newborn && x->prompt == EXEC_PROMPT_NONE;
}

const char *exec_waits_for(struct executor *x)
{
	const char *why = exec_busy(x);
	return why                   ? why
		: exec_is_newborn(x) ? "The shell is still starting: it has shown no prompt yet"
				     : "The shell is not at its prompt";
}

/* Somebody reads the terminal before there was a prompt: what has been typed is for that. */
static bool is_read(const struct executor *x)
{
	struct foreground f;
	const struct link *link = &x->pane->held.link;
	const struct foreground_target target = {.holder = link->info.holder_pid,
		.shell = link->info.shell_pid,
		.master_fd = link->master_fd};
	foreground_look(&target, &f);
	return f.waits != BLOCKED_NO;
}

void exec_shell_tick(struct executor *x)
{
	uint64_t now = exec_now(x);
	bool newborn = exec_is_newborn(x), unable = x->queue && exec_unable(x);
	struct exec *e, *next;
	DL_FOREACH_SAFE (x->queue, e, next) {
		if (unable)
			exec_finish(e, EXEC_END_NOT_STARTED);
		else if (newborn &&
			(now >= x->born_ms + EXEC_STARTUP_MS ||
				(e->timeout_ms > 0 && now >= x->born_ms + e->timeout_ms)))
			exec_finish(e, EXEC_END_BUSY);
	}
	if ((!newborn && !x->first_due) || x->held_length == 0 || now < x->looked_ms + LOOK_MS)
		return;
	x->looked_ms = now;
	if (is_read(x))
		exec_release_input(x);
}
