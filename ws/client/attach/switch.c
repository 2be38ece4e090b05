/*
 * The actions of keys behind the prefix. Another session is shown as if it had just been attached.
 * Input that was typed before goes to the old session, and its connection is closed only then;
 * later input waits for the new one. An action that fails changes nothing and reports the error.
 */
#include "ws/client/attach/attachment.h"

#include "ws/client/attach/chooser.h"
#include "ws/client/attach/scroll.h"
#include "ws/client/attach/tty.h"
#include "ws/client/attach/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_MAX 24u

static void ring(void)
{
	tty_write("\a", 1);
}

/* Show an error message until a key is pressed. */
static void report(struct attachment *a, const char *words)
{
	if (a->over)
		return;
	bool covered = a->covered;
	if (!covered)
		overlay_open(a);
	view_show_lines(a, &words, 1);
	if (!covered)
		overlay_close(a);
}

/* Fetch the list of sessions. Returns false on an error, which has been shown. */
static bool fetch_roll(struct attachment *a, struct session_menu *r)
{
	struct answer answer;
	char words[VIEW_WORDS_MAX];
	r->list = NULL;
	r->count = 0;
	view_ask(a, "GET", strdup("/api/session/list"), NULL, &answer, words);
	if (words[0]) {
		report(a, words);
		answer_finish(&answer);
		return false;
	}
	session_menu_set(r, answer.json, a->session, attach_own_session(a->cli));
	answer_finish(&answer);
	return true;
}

/* Show another session. */
static void show(struct attachment *a, const char *id)
{
	char next[ATTACH_ID_MAX + 1];
	snprintf(next, sizeof next, "%s", id);
	socket_flush(a);
	if (a->over)
		return;
	socket_disconnect(a);
	uv_timer_stop(&a->fence);
	uv_timer_stop(&a->size);
	snprintf(a->session, sizeof a->session, "%s", next);
	a->begun = a->synced = a->passed = a->waited = a->drawn = false;
	a->differs = a->dirty = a->foreign = false;
	a->early_length = 0;
	a->epoch[0] = a->reason[0] = '\0';
	a->offset = a->live = a->snapshot_left = 0;
	a->pause_ms = 0;
	delivery_clear(&a->delivery);
	a->keyboard.fenced = a->keyboard.pasted = false;
	a->kept.whole = false;
	mirror_begin(a);
	a->wanted = PREFIX_NONE;
	socket_connect(a);
}

static void step(struct attachment *a, int by)
{
	struct session_menu r;
	if (!fetch_roll(a, &r))
		return;
	const char *id = session_menu_step(&r, a->session, by);
	if (id)
		show(a, id);
	else
		ring();
	session_menu_finish(&r);
}

/* The session has ended: show another one, or end the attachment. */
static void show_next_or_end(struct attachment *a)
{
	struct session_menu r;
	if (!fetch_roll(a, &r)) {
		attach_end(a, a->status, a->how);
		return;
	}
	const char *id = session_menu_step(&r, a->session, 1);
	if (id)
		show(a, id);
	else
		attach_end(a, a->status, a->how);
	session_menu_finish(&r);
}

static void choose(struct attachment *a)
{
	struct session_menu r;
	char id[ATTACH_ID_MAX + 1] = "";
	overlay_open(a);
	if (!a->over && fetch_roll(a, &r)) {
		const char *chosen = chooser_run(a, &r);
		if (chosen && strcmp(chosen, a->session) != 0)
			snprintf(id, sizeof id, "%s", chosen);
		session_menu_finish(&r);
	}
	overlay_close(a);
	if (id[0] && !a->over)
		show(a, id);
}

static void create(struct attachment *a)
{
	struct answer answer;
	char words[VIEW_WORDS_MAX], *path = call_path(a->session, "%s", "");
	unsigned cols, rows;
	display_size(a, &cols, &rows);
	json_t *body = json_pack("{s:i, s:i}", "cols", (int)cols, "rows", (int)rows);
	/* Start in the current directory of this session. */
	view_ask(a, "GET", path, NULL, &answer, words);
	const char *cwd = answer_text(json_object_get(answer.json, "data"), "cwd");
	if (!words[0] && *cwd)
		json_object_set_new(body, "cwd", json_string(cwd));
	answer_finish(&answer);
	view_ask(a, "POST", strdup("/api/session/create"), body, &answer, words);
	const char *id = answer_text(json_object_get(answer.json, "data"), "id");
	if (words[0])
		report(a, words);
	else if (*id)
		show(a, id);
	answer_finish(&answer);
}

static void end_session(struct attachment *a)
{
	struct answer answer;
	char words[VIEW_WORDS_MAX] = "";
	char question[ATTACH_ID_MAX + 80];
	snprintf(question, sizeof question, "end session %s, and all that runs in it? (y/n)",
		a->session);
	overlay_open(a);
	bool sure = view_confirm(a, question);
	if (sure && !a->over) {
		view_ask(a, "POST", strdup("/api/session/delete"),
			json_pack("{s:s}", "sessionId", a->session), &answer, words);
		if (words[0])
			report(a, words);
		answer_finish(&answer);
	}
	overlay_close(a);
}

static void scroll(struct attachment *a, bool search)
{
	overlay_open(a);
	scroll_run(a, search);
	overlay_close(a);
}

static void toggle_status(struct attachment *a)
{
	if (a->mirror.on)
		mirror_close(a);
	else
		mirror_open(a);
}

static void help(struct attachment *a)
{
	char first[80], key[8];
	const char *lines[HELP_MAX] = {first};
	size_t count = 1;
	keyboard_name(a->keyboard.prefix, key);
	snprintf(first, sizeof first, "Keys behind %s:", key);
	for (const char *line; count < HELP_MAX && (line = prefix_help(count - 1)); count++)
		lines[count] = line;
	overlay_open(a);
	view_show_lines(a, lines, count);
	overlay_close(a);
}

void switch_run(struct attachment *a, enum prefix_action action)
{
	if (action == PREFIX_ENDED) {
		show_next_or_end(a);
		return;
	}
	if ((a->options.read_only && action == PREFIX_KILL) || !overlay_await_session(a)) {
		ring();
		return;
	}
	switch (action) {
	case PREFIX_NEXT:
		step(a, 1);
		break;
	case PREFIX_PREVIOUS:
		step(a, -1);
		break;
	case PREFIX_CHOOSE:
		choose(a);
		break;
	case PREFIX_CREATE:
		create(a);
		break;
	case PREFIX_KILL:
		end_session(a);
		break;
	case PREFIX_SCROLL:
	case PREFIX_SEARCH:
		scroll(a, action == PREFIX_SEARCH);
		break;
	case PREFIX_STATUS:
		toggle_status(a);
		break;
	case PREFIX_HELP:
		help(a);
		break;
	default:
		break;
	}
}
