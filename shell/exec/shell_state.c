/*
 * The state of the shell's process, from the kernel, because marks and records may be missing:
 * whether it still has the integration, edits a line, or is before its first prompt. And the texts
 * that say why it cannot run a command.
 */
#include "ring/utf8.h"
#include "shell/clock.h"
#include "shell/exec/internal.h"
#include "shell/proc/foreground.h"
#include "shell/proc/peek.h"
#include "shell/store/directory.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <utlist.h>

#define START_MAX ((size_t)64 << 10) /* bytes read of its arguments, or of its environment */
#define LOOK_MS 60u                  /* between two looks at what reads the terminal */

struct peek_target exec_peek_target(const struct executor *x, pid_t pid)
{
	const struct link *link = &x->pane->held.link;
	return (struct peek_target){
		.pid = pid, .owner = link_owner_uid(link), .session = link->info.holder_pid};
}

struct foreground_target exec_foreground(const struct executor *x)
{
	const struct link *link = &x->pane->held.link;
	return (struct foreground_target){.peek = &x->all->peek,
		.owner = link_owner_uid(link),
		.holder = link->info.holder_pid,
		.shell = link->info.shell_pid,
		.master_fd = link->master_fd};
}

ssize_t exec_shell_directory(const struct executor *x, char *ret_path, size_t size)
{
	pid_t shell = x->pane->held.link.info.shell_pid;
	return peek_link(&x->all->peek, exec_peek_target(x, shell), "cwd", ret_path, size);
}

/* Whether the holder's child has not called exec yet. */
static bool is_before_exec(const struct executor *x)
{
	const struct link *link = &x->pane->held.link;
	struct peek *peek = &x->all->peek;
	uint64_t shell = peek_program(peek, exec_peek_target(x, link->info.shell_pid));
	uint64_t holder = peek_program(peek, exec_peek_target(x, link->info.holder_pid));
	return shell == 0 || holder == 0 || shell == holder;
}

/* Arguments of the shell (zsh: environment), NULs between. Owned by the caller; NULL: no access. */
static char *read_start(const struct executor *x, size_t *ret_length)
{
	pid_t pid = x->pane->held.link.info.shell_pid;
	const struct peek_target target = exec_peek_target(x, pid);
	struct peek *peek = &x->all->peek;
	char *text = malloc(START_MAX + 1);
	ssize_t n = !text                     ? 0
		: x->shell == INTEGRATION_ZSH ? peek_file(peek, target, "environ", text, START_MAX)
					      : peek_arguments(peek, target, text, START_MAX);
	if (n <= 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*ret_length = (size_t)n;
	return text;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);
	return length >= size && strcmp(text + length - size, end) == 0;
}

/* Whether a word, behind the word before, is one that we start this session's shell with. */
static bool is_ours(const struct executor *x, const char *word, const char *before)
{
	char directory[DIRECTORY_NAME_SIZE + sizeof DIRECTORY_SHELL];
	snprintf(directory, sizeof directory, "%s/" DIRECTORY_SHELL, x->pane->held.directory);
	switch (x->shell) {
	case INTEGRATION_BASH:
		return strcmp(before, "--rcfile") == 0 && strstr(word, directory) &&
			ends_with(word, "/init.bash");
	case INTEGRATION_FISH:
		return strcmp(before, "--init-command") == 0 && strstr(word, directory) &&
			ends_with(word, "/init.fish'");
	case INTEGRATION_ZSH:
		return strncmp(word, "ZDOTDIR=", 8) == 0 && ends_with(word, directory);
	default:
		return false;
	}
}

/*
 * After `exec bash` or the like, the process lacks our arguments. zsh has no arguments of ours;
 * instead its initial environment has our ZDOTDIR, which init.zsh unsets before users can pass it
 * on.
 */
bool exec_shell_is_ours(const struct executor *x)
{
	size_t length;
	char *text = read_start(x, &length);
	if (!text)
		return true; /* not readable, or it has exited, which is noticed elsewhere */
	bool given = length == START_MAX; /* ours may lie behind what was read */
	const char *before = "";
	for (const char *word = text; !given && word < text + length; word += strlen(word) + 1) {
		given = is_ours(x, word, before);
		before = word;
	}
	free(text);
	return given || is_before_exec(x);
}

bool exec_shell_is_foreground(const struct executor *x)
{
	const struct link *link = &x->pane->held.link;
	return tcgetpgrp(link->master_fd) == link->info.shell_pid;
}

bool exec_shell_reads_keys(const struct executor *x)
{
	struct termios modes;
	return tcgetattr(x->pane->held.link.master_fd, &modes) == 0 && !(modes.c_lflag & ICANON);
}

bool exec_shell_edits_line(const struct executor *x)
{
	return x->prompt == EXEC_PROMPT_READY && x->entered == 0 && !x->current &&
		exec_input_waiting(x) == 0 && exec_shell_is_foreground(x);
}

/* Whether it reads its prompt in canonical mode, without readline: our key has no effect. */
static bool lacks_editing(const struct executor *x)
{
	return x->prompt == EXEC_PROMPT_READY && x->entered == 0 && !x->current &&
		exec_shell_is_foreground(x) && !exec_shell_reads_keys(x) &&
		exec_now(x) >= x->prompt_ms + EXEC_UNMARKED_MS;
}

const char *exec_unable_reason(struct executor *x)
{
	if (!exec_shell_is_ours(x))
		return "Another program has taken the place of the session's shell";
	if (lacks_editing(x))
		return "The shell's line editing is switched off";
	if (!x->editor || !x->editor[0])
		return NULL;
	if (strcmp(x->editor, "keys") == 0)
		return "The shell's key bindings have been replaced: a command cannot be typed";
	snprintf(x->reason, sizeof x->reason,
		"%s edits the shell's lines in place of readline: a command cannot be typed",
		x->editor);
	return x->reason;
}

bool exec_shell_is_starting(const struct executor *x)
{
	return x->open && x->prompt == EXEC_PROMPT_NONE;
}

bool exec_shell_has_marks(const struct executor *x)
{
	return x->open && x->prompt > EXEC_PROMPT_NONE;
}

const char *exec_wait_reason(const struct exec *e)
{
	struct executor *x = e->executor;
	const char *why = e == x->queue || e->state == EXEC_DONE ? exec_obstacle(x)
								 : exec_busy_reason(x);
	return why ? why
		: exec_shell_is_starting(x)
		? "The shell is still starting: it has shown no prompt yet"
		: x->paste.open ? "A client is pasting into the shell"
				: "The shell is not at its prompt";
}

/* Returns whether a program other than the shell reads the terminal. */
static bool look(const struct executor *x, struct foreground *f)
{
	const struct foreground_target target = exec_foreground(x);
	foreground_look(&target, f);
	return f->waits != BLOCKED_NO && f->waiter != target.shell;
}

bool exec_shell_awaits_keys(const struct executor *x)
{
	struct foreground f;
	return !look(x, &f) && f.waits == BLOCKED_EVENT;
}

bool exec_shell_reads_terminal(const struct executor *x, bool unseen)
{
	struct foreground f;
	if (look(x, &f))
		return false;
	/* A guessed poll may be that of a program that makes the prompt. */
	bool seen = f.waits == BLOCKED_READ || (f.waits == BLOCKED_EVENT && !f.guessed);
	return seen || (unseen && (f.hidden || f.waits == BLOCKED_EVENT));
}

bool exec_has_unread_output(const struct executor *x)
{
	struct pollfd master = {.fd = x->pane->held.link.master_fd, .events = POLLIN};
	return poll(&master, 1, 0) > 0 || exec_is_behind(x);
}

/* Make a program's name printable: it may have any bytes, and the kernel cuts it anywhere. */
static void clean_name(const char *name, char ret_name[PROC_NAME])
{
	size_t length = strlen(name), n = 0;
	for (size_t i = 0; i < length; i++) {
		uint32_t code;
		unsigned size = utf8_decode((const uint8_t *)name + i, length - i, &code);
		bool fits = size > 0 && code >= ' ' && code != 0x7f && n + size < PROC_NAME;
		for (unsigned k = 0; fits && k < size; k++)
			ret_name[n++] = name[i + k];
		if (fits)
			i += size - 1;
		else if (n + 1 < PROC_NAME)
			ret_name[n++] = '?';
	}
	ret_name[n] = '\0';
}

/* Whether a program of the startup files keeps reading the terminal. Then x->reason says so. */
static bool is_kept_from_prompt(struct executor *x, struct foreground *f)
{
	const struct foreground_target target = exec_foreground(x);
	char name[PROC_NAME];
	if (!look(x, f))
		return false;
	foreground_descend(&target, f);
	clean_name(f->waiter_name, name);
	snprintf(x->reason, sizeof x->reason,
		"The shell has shown no prompt: its startup files run %s, which reads the terminal",
		name);
	return f->started_ms == 0 || clock_wall_ms() >= f->started_ms + EXEC_STARTUP_READER_MS;
}

const char *exec_startup_text(struct executor *x)
{
	struct foreground f;
	return is_kept_from_prompt(x, &f) ? x->reason : NULL;
}

const char *exec_foreground_text(struct executor *x)
{
	char name[PROC_NAME];
	struct foreground f;
	(void)look(x, &f);
	if (!f.name[0] || f.group == x->pane->held.link.info.shell_pid)
		return "Another program runs in the foreground";
	clean_name(f.name, name);
	snprintf(x->reason, sizeof x->reason, "%s runs in the foreground", name);
	return x->reason;
}

/* Before the first prompt, give held input to a program that reads; end execs that do not queue. */
static void look_at_startup(struct executor *x)
{
	struct foreground f;
	struct exec *e, *next;
	bool kept = is_kept_from_prompt(x, &f);
	if (f.waits != BLOCKED_NO)
		exec_release_input(x);
	if (!exec_shell_is_starting(x) || !kept)
		return;
	DL_FOREACH_SAFE (x->queue, e, next) {
		if (!e->patient)
			exec_finish(e, EXEC_END_BUSY);
	}
}

void exec_shell_tick(struct executor *x)
{
	uint64_t now = exec_now(x);
	bool newborn = exec_shell_is_starting(x), unable = x->queue && exec_unable_reason(x);
	struct exec *e, *next;
	DL_FOREACH_SAFE (x->queue, e, next) {
		if (unable)
			exec_finish(e, EXEC_END_NOT_STARTED);
		else if (newborn &&
			(now >= x->born_ms + EXEC_STARTUP_MS ||
				(e->timeout_ms > 0 && now >= x->born_ms + e->timeout_ms)))
			exec_finish(e, EXEC_END_BUSY);
	}
	if ((!newborn && x->prompt != EXEC_PROMPT_FIRST) ||
		(x->held_input_length == 0 && !x->queue) || now < x->looked_ms + LOOK_MS)
		return;
	x->looked_ms = now;
	look_at_startup(x);
}
