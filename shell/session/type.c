/*
 * Input of a session. It is refused before anything is written, or written as a whole, perhaps later: see exec_write().
 * The input log keeps the text only if the terminal shows it.
 */
#include "shell/session/type.h"

#include "ring/receipts.h"
#include "shell/clock.h"
#include "shell/exec/shell_state.h"
#include "shell/own_error.h"
#include "shell/session/sessions.h"

#include <errno.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define INTERRUPT 0x03

static bool is_only_interrupts(const void *bytes, size_t length)
{
	const char *at = bytes;
	if (length == 0)
		return false;
	for (size_t i = 0; i < length; i++)
		if (at[i] != INTERRUPT)
			return false;
	return true;
}

/* What the terminal shows */

static size_t first_line(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] == '\r' || bytes[i] == '\n')
			return i + 1;
	return length;
}

/*
 * How many of these bytes the terminal shows for certain: all if the kernel echoes, up to the end of the line if
 * readline does at the shell's prompt. Other programs in raw mode may be reading a password.
 */
static size_t count_shown(
	const struct executor *x, const struct termios *modes, const void *bytes, size_t length)
{
	if (modes->c_lflag & ECHO)
		return length;
	return !(modes->c_lflag & ICANON) && exec_shell_edits_line(x) ? first_line(bytes, length)
								      : 0;
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

/* Pastes */

/* bytes of a single key, which is not part of a paste */
#define KEY_MAX 8u

/* Ids of clients are below; another server assigns them anew. */
#define KEYS_BEGIN (UINT64_C(1) << 32)
#define UNKNOWN_TYPIST UINT64_C(1)

/* Note for the next server whether a paste is open behind the input so far. */
static void save_paste(const struct session *s)
{
	const struct typing *t = &s->typing;
	const struct control *c = &s->pane.held.link.control;
	uint64_t typist = t->paste_typist < KEYS_BEGIN ? UNKNOWN_TYPIST : t->paste_typist;
	control_note_paste(c, t->paste.open ? typist : 0,
		receipts_written(c) + exec_input_waiting(&s->executor));
}

void session_restore_paste(struct session *s)
{
	struct typing *t = &s->typing;
	const struct control *c = &s->pane.held.link.control;
	uint64_t typist;
	bool written = control_paste(c, receipts_written(c), &typist);
	/* If its last marker was lost, the state is that before. */
	t->paste.open = written == (typist > 0);
	t->paste_typist = written && typist >= KEYS_BEGIN ? typist : 0;
	s->executor.paste.open = t->paste.open;
	save_paste(s);
}

static int write_mark(struct session *s, const char *mark)
{
	int rc = session_write(s, mark, strlen(mark));
	if (rc < 0)
		return rc;
	typing_follow_paste(&s->typing.paste, mark, strlen(mark));
	save_paste(s);
	return 0;
}

/* End an open paste. The end mark is queued behind its bytes, for the program that reads them. */
static int cut_paste(struct session *s)
{
	uint64_t owner = s->typing.paste_typist;
	int rc = write_mark(s, TYPING_PASTE_END);
	if (rc == 0)
		s->typing.cut_paste_typist = owner;
	return rc;
}

/* Where Ctrl-C interrupts, the kernel drops unread input, and line editors drop their line. */
static bool is_interrupt(const struct termios *modes, const void *bytes, size_t length)
{
	return (modes->c_lflag & ISIG) && modes->c_cc[VINTR] == INTERRUPT &&
		memchr(bytes, INTERRUPT, length);
}

/* Whether these bytes continue a paste of the same client that was cut. A key or a new paste does not. */
static bool continues_paste(const void *bytes, size_t length)
{
	static const char begin[] = TYPING_PASTE_BEGIN;
	bool anew = length >= sizeof begin - 1 && memcmp(bytes, begin, sizeof begin - 1) == 0;
	return !anew && length > KEY_MAX;
}

int session_switch_paste(
	struct session *s, const struct typist *by, const void *bytes, size_t length)
{
	struct typing *t = &s->typing;
	uint64_t typist = typing_typist_id(by);
	struct termios modes;
	if (s->state != SESSION_RUNNING)
		return -ERR_NOT_RUNNING;
	/* An interrupt would discard the end of the paste as well: see note_paste(). */
	if (is_only_interrupts(bytes, length) && session_terminal_modes(s, &modes) &&
		is_interrupt(&modes, bytes, length))
		return 0;
	if (t->paste.open && t->paste_typist != typist) {
		int rc = cut_paste(s);
		if (rc < 0)
			return rc;
	}
	bool was_cut = t->cut_paste_typist == typist;
	if (t->paste.open || !(was_cut || by->pastes))
		return 0;
	if (was_cut)
		t->cut_paste_typist = 0;
	t->paste_typist = typist;
	return by->pastes || continues_paste(bytes, length) ? write_mark(s, TYPING_PASTE_BEGIN) : 0;
}

void session_end_paste(struct session *s, uint64_t typist)
{
	if (s->typing.paste.open && s->typing.paste_typist == typist &&
		s->state == SESSION_RUNNING && !s->table->leaves)
		(void)cut_paste(s); /* otherwise the next input does */
}

void session_complete_paste(struct session *s, uint64_t typist)
{
	struct typing *t = &s->typing;
	if (t->paste.open && t->paste_typist == typist && s->state == SESSION_RUNNING &&
		cut_paste(s) < 0)
		t->paste_typist = 0; /* the next input ends it, also of this typist */
	if (t->cut_paste_typist == typist)
		t->cut_paste_typist = 0; /* it does not go on */
}

void session_reopen_paste(struct session *s, uint64_t typist)
{
	if (!s->typing.paste.open || s->typing.paste_typist != typist)
		return;
	typing_reset_paste(&s->typing);
	exec_forget_paste(&s->executor);
	save_paste(s);
}

static void note_paste(struct session *s, const struct typist *by, const struct termios *modes,
	const void *bytes, size_t length)
{
	struct typing *t = &s->typing;
	bool was_open = t->paste.open, interrupts = is_interrupt(modes, bytes, length);
	uint64_t typist = typing_typist_id(by), owner = was_open ? t->paste_typist : 0;
	typing_follow_paste(&t->paste, bytes, length);
	if (t->paste.open && owner == 0)
		t->paste_typist = typist;
	if (interrupts) {
		typing_reset_paste(t);
		exec_forget_paste(&s->executor);
		if (owner != typist)
			t->cut_paste_typist = owner;
	}
	if (t->paste.open != was_open)
		save_paste(s);
}

int session_type_as(struct session *s, const struct typist *by, const void *bytes, size_t length,
	struct typing_result *ret_result)
{
	struct termios modes = {0};
	struct typing_line line = s->typing.line;
	if (s->state != SESSION_RUNNING)
		return -ERR_NOT_RUNNING;
	if (!typing_is_allowed(&s->typing, by->lease) &&
		!(by->person && is_only_interrupts(bytes, length)))
		return -EACCES;
	/* The modes of a hung-up terminal are unknown: assume no echo and no line limit. */
	bool known = tcgetattr(s->pane.held.link.master_fd, &modes) == 0;
	if (!known || !(modes.c_lflag & ICANON))
		line = (struct typing_line){0};
	else if (!typing_follow_line(&line, &modes, bytes, length) && !by->person)
		return -EMSGSIZE;
	int rc = session_switch_paste(s, by, bytes, length);
	if (rc < 0)
		return rc;
	struct typing_result result = {.offset = session_head(s)};
	size_t before = exec_input_waiting(&s->executor);
	if (before + length > LINK_INPUT_MAX)
		return -ENOBUFS;
	size_t kept = known ? count_shown(&s->executor, &modes, bytes, length) : 0;
	rc = session_write(s, bytes, length);
	if (rc < 0)
		return rc;
	note_paste(s, by, &modes, bytes, length);
	result.queued = exec_input_waiting(&s->executor);
	result.written = before + length - result.queued;
	if (before > 0)
		result.written = 0;
	s->typing.line = line;
	s->typing.answers += typing_find_answer(bytes, length) < length;
	kept = kept < result.written ? kept : result.written;
	note_typist(&s->typing.typed, by, bytes, length, result.offset, kept);
	if (ret_result)
		*ret_result = result;
	return 0;
}

bool session_terminal_modes(const struct session *s, struct termios *ret_line)
{
	return tcgetattr(s->pane.held.link.master_fd, ret_line) == 0;
}

void session_prompt(const struct session *s, struct prompt_id *ret_prompt)
{
	*ret_prompt = (struct prompt_id){.offset = session_head(s),
		.answers = s->typing.answers,
		.group = tcgetpgrp(s->pane.held.link.master_fd)};
}

bool session_prompt_is_open(const struct session *s, const struct prompt_id *prompt)
{
	struct prompt_id now;
	struct termios modes;
	if (s->state != SESSION_RUNNING)
		return false;
	session_prompt(s, &now);
	return now.offset == prompt->offset && now.answers == prompt->answers &&
		now.group == prompt->group && tcgetattr(s->pane.held.link.master_fd, &modes) == 0 &&
		!(modes.c_lflag & ECHO);
}
