/*
 * Input of terminal clients: typing and pastes. How a paste is typed depends on the modes of the program, so input waits until
 * the screen has all output so far.
 */
#include "ws/socket/terminal_internal.h"

#include "shell/input/typing.h"
#include "shell/session/type.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX (LINK_INPUT_MAX + LINK_INPUT_MAX / 4) /* bytes of held records */

/* What a client has sent while the session starts, or while the screen catches up. Its bytes follow. */
struct held_record {
	enum { HELD_INPUT, HELD_PASTE, HELD_PASTE_END } kind;
	size_t length; /* bytes that follow: of input, a struct message, or the id of the paste */
};

void terminal_refuse(struct terminal *t, const char *code, const char *message)
{
	t->error_code = code;
	t->error_message = message;
	terminal_pump(t);
	/* For clients with a session of their own an error ends the connection. */
	if (t->own)
		terminal_end(t, CLOSE_INTERNAL, message);
}

const char *terminal_lease(const struct terminal *t)
{
	return typing_is_allowed(&t->session->typing, t->lease) ? t->lease : NULL;
}

/* Why input is refused. */
static struct refusal refusal_of(int rc)
{
	switch (rc) {
	case -EACCES:
		return (struct refusal){
			409, "LEASED", "The session is leased to another client: input is refused"};
	case -ENOBUFS:
		return (struct refusal){
			409, "INPUT_OVERFLOW", "Too much input waits for a program to read it"};
	case -ENOMEM:
		return (struct refusal){500, "OUT_OF_MEMORY", "Out of memory"};
	default:
		return (struct refusal){
			409, "SESSION_TERMINATED", "The session has ended: input is refused"};
	}
}

/* Permission */

bool terminal_end_answered(struct terminal *t)
{
	if (!t->principal.answers ||
		(t->session && session_prompt_is_open(t->session, &t->principal.prompt)))
		return true;
	terminal_end(t, CLOSE_ACCESS_ENDED, "the prompt has been answered, or is no more");
	return false;
}

static const struct refusal only_watches = {
	403, "READ_ONLY", "This link may only watch: input is refused"};
static const struct refusal one_answer = {
	403, "READ_ONLY", "This link gives one answer: input after it is refused"};

/* Whether the client may type these bytes; otherwise *ret_refusal. */
static bool may_type(
	struct terminal *t, const void *bytes, size_t length, struct refusal *ret_refusal)
{
	*ret_refusal = only_watches;
	if (!t->principal.answers) {
		bool watches = t->principal.role == ROLE_VIEWER;
		t->all->metrics->viewer_input_refused += watches;
		return !watches;
	}
	*ret_refusal = one_answer;
	return typing_find_answer(bytes, length) + 1 >= length;
}

/* Pastes */

/* The rest of the paste is dropped. The client is told why. */
static void refuse_paste(struct terminal *t, struct refusal why)
{
	struct terminal_paste *p = &t->paste;
	if (p->pieces.begun)
		session_cancel_paste(t->session, &t->viewer);
	p->refused = true;
	if (t->refusals_count == TERMINAL_REFUSALS_MAX) {
		terminal_end(t, CLOSE_POLICY, "too many pastes were refused");
		return;
	}
	t->refusals[t->refusals_count++] = (struct paste_refusal){
		.id = p->id, .code = why.code, .message = why.message};
	terminal_pump(t);
}

/* Type the next piece of the paste. Returns how many of the bytes are its. */
static size_t take_paste(struct terminal *t, const uint8_t *bytes, size_t length)
{
	struct terminal_paste *p = &t->paste;
	struct refusal why = {0};
	if (p->id == 0)
		return 0;
	size_t own = length < p->pieces.left ? length : (size_t)p->pieces.left;
	if (p->refused || !may_type(t, bytes, own, &why)) {
		p->pieces.left -= own;
		session_refuse_input(t->session, &t->viewer, own);
		if (!p->refused)
			refuse_paste(t, why);
	} else {
		int rc = session_paste(
			t->session, &t->viewer, terminal_lease(t), &p->pieces, bytes, own);
		if (rc < 0)
			refuse_paste(t, refusal_of(rc));
	}
	if (p->pieces.left == 0)
		p->id = 0;
	return own;
}

static void type_keys(struct terminal *t, const void *bytes, size_t length)
{
	struct refusal why = {0};
	if (!may_type(t, bytes, length, &why)) {
		session_refuse_input(t->session, &t->viewer, length);
		terminal_refuse(t, why.code, why.message);
		return;
	}
	int rc = session_type(t->session, &t->viewer, terminal_lease(t), bytes, length);
	why = refusal_of(rc);
	/* The exit status of an own session is still to be sent. */
	if (rc < 0 && !(t->own && strcmp(why.code, "SESSION_TERMINATED") == 0))
		terminal_refuse(t, why.code, why.message);
}

static void take_input(struct terminal *t, const uint8_t *bytes, size_t length)
{
	size_t pasted = take_paste(t, bytes, length);
	/* The paste may have been the one answer of the client's link. */
	if (pasted < length && !t->closing && terminal_end_answered(t))
		type_keys(t, bytes + pasted, length - pasted);
	if (!t->closing && t->viewer.key > 0)
		terminal_schedule_receipt(t);
	(void)terminal_end_answered(t);
}

/* Whether what the client sends has to wait, and is held. Otherwise it has a session, or is closing. */
static bool has_to_wait(const struct terminal *t)
{
	return t->waiting || t->paste.look.state != LOOK_IDLE;
}

static void hold(struct terminal *t, struct held_record r, const void *bytes)
{
	struct terminal_paste *p = &t->paste;
	size_t size = sizeof r + r.length;
	uint8_t *grown = size <= HELD_MAX - p->held_length ? realloc(p->held, p->held_length + size)
							   : NULL;
	if (!grown) {
		terminal_end(t, CLOSE_POLICY, "too much input waits");
		return;
	}
	memcpy(grown + p->held_length, &r, sizeof r);
	memcpy(grown + p->held_length + sizeof r, bytes, r.length);
	p->held = grown;
	p->held_length += size;
}

void terminal_take_input(void *self, const void *bytes, size_t length)
{
	struct terminal *t = self;
	if (t->closing || length == 0)
		return;
	if (has_to_wait(t))
		hold(t, (struct held_record){HELD_INPUT, length}, bytes);
	else if (terminal_end_answered(t))
		take_input(t, bytes, length);
}

/* Process a held record. */
static void take_held(struct terminal *t, struct held_record r, const uint8_t *bytes)
{
	struct message m;
	uint64_t id;
	switch (r.kind) {
	case HELD_INPUT:
		terminal_take_input(t, bytes, r.length);
		break;
	case HELD_PASTE:
		memcpy(&m, bytes, sizeof m);
		terminal_begin_paste(t, &m);
		break;
	case HELD_PASTE_END:
		memcpy(&id, bytes, sizeof id);
		terminal_end_paste(t, id);
		break;
	}
}

void terminal_release_held(struct terminal *t)
{
	struct terminal_paste *p = &t->paste;
	struct held_record r;
	uint8_t *held = p->held;
	size_t length = p->held_length;
	p->held = NULL;
	p->held_length = 0;
	/* What is behind another paste may be held again. */
	for (size_t at = 0; at < length && !t->closing; at += sizeof r + r.length) {
		memcpy(&r, held + at, sizeof r);
		take_held(t, r, held + at + sizeof r);
	}
	free(held);
}

/* Why the program cannot get such a paste; code NULL = it can. */
static struct refusal check_paste(const struct terminal *t)
{
	const struct terminal_paste *p = &t->paste;
	struct termios modes;
	if (!p->pieces.bracketed && p->lines > 1 && !p->confirmed)
		return (struct refusal){409, "PASTE_UNBRACKETED",
			"The program cannot tell a paste from typing and will run each line at once"};
	/* The line that has been typed so far may be its beginning. */
	if (p->longest + t->session->typing.line.length > TYPING_LINE_MAX &&
		session_terminal_modes(t->session, &modes) && (modes.c_lflag & ICANON))
		return (struct refusal){409, "LINE_TOO_LONG",
			"A line of the paste is longer than the 4095 bytes that the terminal keeps for this program"};
	return (struct refusal){0};
}

/* The screen has all output: begin the paste in the modes of the program. */
static void on_modes_seen(void *user)
{
	struct terminal *t = user;
	struct terminal_paste *p = &t->paste;
	const struct screen *screen = pane_unlent_screen(&t->session->pane);
	p->pieces.bracketed = screen && screen_modes(screen)->bracketed_paste;
	struct refusal why = check_paste(t);
	if (why.code)
		refuse_paste(t, why);
	terminal_release_held(t);
}

void terminal_begin_paste(struct terminal *t, const struct message *m)
{
	struct terminal_paste *p = &t->paste;
	if (t->own)
		return; /* not a message of its dialect */
	if (has_to_wait(t)) {
		hold(t, (struct held_record){HELD_PASTE, sizeof *m}, m);
		return;
	}
	if (p->id) {
		terminal_end(t, CLOSE_POLICY, "a paste has begun already");
		return;
	}
	*p = (struct terminal_paste){.id = m->paste,
		.pieces = {.left = m->bytes},
		.lines = m->lines,
		.longest = m->longest,
		.confirmed = m->confirmed,
		.look = {.seen = on_modes_seen, .user = t}};
	if (pane_look(&t->session->pane, &p->look))
		on_modes_seen(t);
}

void terminal_end_paste(struct terminal *t, uint64_t id)
{
	struct terminal_paste *p = &t->paste;
	if (has_to_wait(t)) {
		hold(t, (struct held_record){HELD_PASTE_END, sizeof id}, &id);
		return;
	}
	if (p->id != id)
		return; /* it is complete, or was never begun */
	if (p->pieces.begun)
		session_cancel_paste(t->session, &t->viewer);
	p->id = 0;
}

void terminal_drop_paste(struct terminal *t)
{
	struct terminal_paste *p = &t->paste;
	look_cancel(&p->look);
	free(p->held);
	*p = (struct terminal_paste){0};
}
