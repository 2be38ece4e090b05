/*
 * Output in lines is shown from where the caller stopped reading. Output that moves the cursor is
 * shown as a screen. A caller that has seen the screen of a full-screen program, and has typed,
 * gets only the rows that changed since, and those around the cursor.
 */
#include "ws/mcp/look.h"

#include "ws/mcp/cursors.h"
#include "ws/mcp/exec.h"
#include "ws/mcp/field_names.h"
#include "ws/mcp/mcp.h"
#include "ws/mcp/own.h"
#include "ws/mcp/text.h"
#include "ws/mcp/result_text.h"
#include "ws/mcp/tool_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEW_MAX (UINT64_C(256) << 10) /* bytes of new output that are read */
#define NEW_SHOWN 16000u              /* bytes of it that are shown after typing */
#define SCREEN_SHOWN 4000u            /* bytes above which a screen is shown, without typing */
#define AROUND 1                      /* rows above and below the cursor */

/* The screen */

static json_t *row_json(const json_t *line)
{
	return json_pack("{s:I, s:O?}", "row", json_integer_value(json_object_get(line, "row")) + 1,
		"text", json_object_get(line, "text"));
}

static json_t *changed_of(const json_t *lines)
{
	size_t i;
	json_t *line, *changed = json_array();
	json_array_foreach (lines, i, line)
		json_array_append_new(changed, row_json(line));
	return changed;
}

/* The result for a screen. Rows and columns count from 1, as in send_keys. */
static json_t *screen_of(const struct mcp_call *c, const json_t *screen)
{
	static const char *const names[] = {"version", "alternate", "rows", "cols", "title", NULL};
	const json_t *cursor = json_object_get(screen, "cursor");
	bool verbose = mcp_flag_arg(c, "verbose", false);
	json_t *result = json_pack("{s:s, s:{s:I, s:I, s:O*}}", "session_id", c->session, "cursor",
		"row", json_integer_value(json_object_get(cursor, "row")) + 1, "column",
		json_integer_value(json_object_get(cursor, "col")) + 1, "visible",
		verbose ? json_object_get(cursor, "visible") : NULL);
	for (size_t i = 0; names[i] && (i < 2 || verbose); i++)
		json_object_set(result, names[i], json_object_get(screen, names[i]));
	return result;
}

/* End the call with a screen and c->kept (the state and what was typed). */
static void finish_screen(struct mcp_call *c, json_t *result)
{
	json_object_update(result, c->kept);
	mcp_finish_formatted(c, result, mcp_screen_text);
}

static void on_ansi(struct mcp_call *c, const struct mcp_answer *a)
{
	json_t *text = a->status < 400 ? json_stringn(a->body, a->length) : NULL;
	if (!mcp_succeeded(c, a))
		return;
	json_object_set_new(c->kept, "text", text);
	json_t *result = json_incref(c->kept);
	finish_screen(c, result);
}

void mcp_look_shown(struct mcp_call *c, const json_t *screen)
{
	mcp_set_shown_screen(c, mcp_offset(screen, "version"));
}

/* The rows changed since a version, and those around the cursor; NULL: the whole is shorter. */
static json_t *changes_of(const json_t *screen, uint64_t seen, const json_t *text)
{
	size_t i, length = 0;
	json_t *line, *changes = json_array();
	json_int_t at = json_integer_value(
		json_object_get(json_object_get(screen, "cursor"), "row"));
	json_array_foreach (json_object_get(screen, "lines"), i, line) {
		json_int_t row = json_integer_value(json_object_get(line, "row"));
		bool near = row >= at - AROUND && row <= at + AROUND;
		if (!near && mcp_offset(line, "version") <= seen)
			continue;
		length += json_string_length(json_object_get(line, "text")) + sizeof "row 10: ";
		json_array_append_new(changes, row_json(line));
	}
	if (length < json_string_length(text))
		return changes;
	json_decref(changes);
	return NULL;
}

static void on_screen(struct mcp_call *c, const struct mcp_answer *a)
{
	const char *format = mcp_text_arg(c, "format");
	bool since = json_object_get(c->args, "since") != NULL;
	if (!mcp_succeeded(c, a))
		return;
	json_t *lines = json_object_get(a->json, "lines"), *changes = NULL;
	mcp_set_shown_offset(c, mcp_offset(json_object_get(c->kept, "terminal"), "offset"));
	json_t *result = screen_of(c, a->json), *text = since ? NULL : mcp_lines_text(lines);
	if (c->typed && !since && mcp_shown_screen(c) > 0)
		changes = changes_of(a->json, mcp_shown_screen(c), text);
	if (since)
		changes = changed_of(lines);
	if (changes)
		json_object_set_new(result, "changed", changes);
	else
		json_object_set(result, "text", text);
	json_decref(text);
	mcp_look_shown(c, a->json);
	if (changes || !format || strcmp(format, "ansi") != 0) {
		finish_screen(c, result);
		return;
	}
	static const char *const params[] = {"format", "ansi", NULL};
	json_object_update(result, c->kept);
	json_decref(c->kept);
	c->kept = result;
	mcp_request(c, on_ansi, METHOD_GET, mcp_path(c, "/screen"), NULL, params);
}

static void ask_screen(struct mcp_call *c)
{
	char since[24];
	bool some = json_object_get(c->args, "since") != NULL;
	snprintf(since, sizeof since, "%lld", (long long)mcp_number_arg(c, "since", 0));
	const char *const params[] = {"format", "json", "since", some ? since : NULL, NULL};
	mcp_request(c, on_screen, METHOD_GET, mcp_path(c, "/screen"), NULL, params);
}

void mcp_keep_state(struct mcp_call *c, const struct mcp_answer *a)
{
	json_t *state = mcp_snake_case(json_object_get(a->json, "state"));
	if (!c->kept)
		c->kept = json_object();
	if (json_is_object(state))
		json_object_set(c->kept, "terminal", state);
	mcp_set_known_offset(c, mcp_offset(state, "offset"));
	json_decref(state);
}

/* New output */

/*
 * Whether output moves the cursor (CUP, HVP, VPA, CUU) or erases (ED 1 to 3), so that it must be
 * shown as a screen.
 */
static bool moves_cursor(const char *bytes, size_t length)
{
	for (size_t i = 0; i + 1 < length; i++) {
		if (bytes[i] != '\x1b' || bytes[i + 1] != '[')
			continue;
		size_t first = i + 2;
		for (i = first; i < length && bytes[i] >= ' ' && bytes[i] < '@'; i++)
			;
		char final = i < length ? bytes[i] : '\0';
		if (final == 'H' || final == 'f' || final == 'd' || final == 'A' ||
			(final == 'J' && bytes[first] >= '1' && bytes[first] <= '3'))
			return true;
	}
	return false;
}

/* Bytes up to the last exit from the alternate screen (xterm's private modes 47, 1047, 1049). */
static size_t alternate_end(const char *bytes, size_t length)
{
	static const char *const leaves[] = {"\x1b[?1049l", "\x1b[?1047l", "\x1b[?47l"};
	size_t behind = 0;
	for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
		size_t size = strlen(leaves[i]);
		const char *at = bytes;
		while ((at = memmem(at, length - (size_t)(at - bytes), leaves[i], size))) {
			at += size;
			if ((size_t)(at - bytes) > behind)
				behind = (size_t)(at - bytes);
		}
	}
	return behind;
}

/* The output that is new to the caller; after typing, the end of it if it is too long. */
static void on_new(struct mcp_call *c, const struct mcp_answer *a)
{
	uint64_t omitted = 0, head = mcp_answer_number(a, "Ringside-Head");
	if (a->status < 400 && c->typed && head > c->cursor + NEW_MAX) {
		c->skipped = head - NEW_MAX - c->cursor;
		c->cursor = head - NEW_MAX;
		mcp_request_output(c, on_new, 0);
		return;
	}
	size_t behind = a->status < 400 && a->length > 0 ? alternate_end(a->body, a->length) : 0,
	       length = a->length - behind;
	/* Show the screen if the output is gone, too long, or not text in lines. */
	if (a->status >= 400 || (!c->typed && length > SCREEN_SHOWN) ||
		moves_cursor(a->body + behind, length)) {
		ask_screen(c);
		return;
	}
	json_t *result = c->kept;
	char *text = mcp_clip(mcp_plain(a->body + behind, length, &length), NEW_SHOWN, &omitted);
	c->kept = NULL;
	mcp_set_shown_offset(c, c->cursor + a->length);
	json_object_set_new(result, "output", json_string(text ? text : ""));
	json_object_set_new(result, "omitted_bytes",
		json_integer((json_int_t)omitted + (json_int_t)c->skipped));
	free(text);
	mcp_finish_formatted(c, result, mcp_screen_text);
}

void mcp_look(struct mcp_call *c, const struct mcp_look *how)
{
	const json_t *terminal = json_object_get(c->kept, "terminal");
	c->cursor = how->known;
	c->skipped = 0;
	c->typed = how->typed;
	if (how->whole || how->known == 0 || json_is_true(json_object_get(terminal, "alternate")))
		ask_screen(c);
	else
		mcp_request_output(c, on_new, 0);
}

/* The tool */

static void on_state(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	uint64_t known = mcp_shown_offset(c);
	bool asked = json_object_get(c->args, "since") || mcp_text_arg(c, "format");
	mcp_keep_state(c, a);
	mcp_look(c,
		&(struct mcp_look){
			.known = known, .whole = asked || mcp_flag_arg(c, "whole", false)});
}

void mcp_snapshot(struct mcp_call *c, const struct mcp_answer *a)
{
	(void)a;
	mcp_request(c, on_state, METHOD_GET, mcp_path(c, "/state"), NULL, NULL);
}
