/*
 * Typing into a session. It is refused before anything is written, or written whole, perhaps later: while a command of a
 * program is being typed, see exec_write(). Who typed it is noted with its text only as far as the terminal shows that.
 */
#include "shell/session/type.h"

#include "shell/clock.h"
#include "shell/exec/shell.h"

#include <errno.h>
#include <termios.h>
#include <unistd.h>

#define INTERRUPT 0x03

static bool only_interrupts(const void *bytes, size_t length)
{
	const char *at = bytes;
	for (size_t i = 0; i < length; i++)
		if (at[i] != INTERRUPT)
			return false;
	return true;
}

/* What is shown */

static size_t first_line(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] == '\r' || bytes[i] == '\n')
			return i + 1;
	return length;
}

/*
 * How many of these bytes the terminal shows, as far as that is certain: the kernel when it echoes, readline at the
 * shell's prompt up to the end of the line. Other programs in raw mode may be asking for a password.
 */
static size_t count_shown(
	const struct executor *x, const struct termios *modes, const void *bytes, size_t length)
{
	if (modes->c_lflag & ECHO)
		return length;
	return !(modes->c_lflag & ICANON) && exec_shell_edits(x) ? first_line(bytes, length) : 0;
}

static void note_typist(struct typed *t, const struct typist *by, const void *bytes, size_t length,
	uint64_t offset, size_t kept)
{
	struct typed_note n = {.offset = offset,
		.at_ms = clock_wall_ms(),
		.client = by->client,
		.author = by->author,
		.label = by->label,
		.bytes = bytes,
		.length = kept,
		.shown = true};
	typed_add(t, &n);
	n.length = length - kept;
	n.shown = false;
	typed_add(t, &n);
}

int session_type_as(struct session *s, const struct typist *by, const void *bytes, size_t length,
	struct typing_result *ret_result)
{
	struct termios modes = {0};
	struct typing_line line = s->typing.line;
	if (s->state != SESSION_RUNNING)
		return -ENOTCONN;
	if (!typing_admits(&s->typing, by->lease) && !(by->person && only_interrupts(bytes, length)))
		return -EACCES;
	/* Of a terminal that has hung up nothing is known: then no more is shown, and nothing too long. */
	bool known = tcgetattr(s->pane.held.link.master_fd, &modes) == 0;
	if (!known || !(modes.c_lflag & ICANON))
		line = (struct typing_line){0};
	else if (!typing_follow_line(&line, &modes, bytes, length) && !by->person)
		return -EMSGSIZE;
	struct typing_result result = {.offset = session_head(s)};
	size_t before = exec_input_waiting(&s->executor);
	if (before + length > LINK_INPUT_MAX)
		return -ENOBUFS;
	size_t kept = known ? count_shown(&s->executor, &modes, bytes, length) : 0;
	int rc = session_write(s, bytes, length);
	if (rc < 0)
		return rc;
	result.queued = exec_input_waiting(&s->executor);
	result.written = before + length - result.queued;
	if (before > 0)
		result.written = 0;
	s->typing.line = line;
	s->typing.answers += typing_answer(bytes, length) < length;
	kept = kept < result.written ? kept : result.written;
	note_typist(&s->typing.typed, by, bytes, length, result.offset, kept);
	if (ret_result)
		*ret_result = result;
	return 0;
}

bool session_line(const struct session *s, struct termios *ret_line)
{
	return tcgetattr(s->pane.held.link.master_fd, ret_line) == 0;
}

void session_prompt(const struct session *s, struct session_prompt *ret_prompt)
{
	*ret_prompt = (struct session_prompt){.offset = session_head(s),
		.answers = s->typing.answers,
		.group = tcgetpgrp(s->pane.held.link.master_fd)};
}

bool session_asks(const struct session *s, const struct session_prompt *prompt)
{
	struct session_prompt now;
	struct termios modes;
	if (s->state != SESSION_RUNNING)
		return false;
	session_prompt(s, &now);
	return now.offset == prompt->offset && now.answers == prompt->answers &&
		now.group == prompt->group && tcgetattr(s->pane.held.link.master_fd, &modes) == 0 &&
		!(modes.c_lflag & ECHO);
}
