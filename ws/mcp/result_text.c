/*
 * Texts are written to a memory stream. Names that programs or guests choose are escaped to one
 * line, so that they cannot forge other lines of a result.
 */
#include "ws/mcp/result_text.h"

#include "ring/utf8.h"
#include "shell/memory_stream.h"
#include "ws/mcp/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORGED " (a program has tried to forge its end)"
#define COMMAND_BYTES 400u /* of a command in a list */

struct words {
	FILE *file; /* NULL: memory is short */
	char *text;
	size_t length;
};

static void begin_words(struct words *w)
{
	*w = (struct words){0};
	w->file = memory_stream(&w->text, &w->length);
}

/* Write a text with what is before and after it; NULL: write nothing. */
static void put_text(struct words *w, const char *before, const char *text, const char *after)
{
	size_t length = text ? strlen(text) : 0;
	char *seen = NULL;
	if (!w->file || !text)
		return;
	if (!visible_is_ascii(text, length) && (seen = malloc(VISIBLE_SIZE(length))))
		visible_text(text, length, false, seen);
	if (seen || visible_is_ascii(text, length))
		fprintf(w->file, "%s%s%s", before, seen ? seen : text, after);
	free(seen);
}

/*
 * Write a name that a program or guest may have chosen, escaped to one line; NULL: write nothing.
 */
static void put_name(struct words *w, const char *before, const char *name, const char *after)
{
	size_t length = name ? strlen(name) : 0;
	char *seen = name ? malloc(VISIBLE_SIZE(length)) : NULL;
	if (seen) {
		visible_text(name, length, true, seen);
		put_text(w, before, seen, after);
	}
	free(seen);
}

static void put_number(struct words *w, const char *before, json_int_t number, const char *after)
{
	if (w->file)
		fprintf(w->file, "%s%lld%s", before, (long long)number, after);
}

static char *end_words(struct words *w)
{
	if (!w->file)
		return NULL;
	fclose(w->file);
	return w->text;
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static json_int_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static bool has_number(const json_t *object, const char *name)
{
	return json_is_integer(json_object_get(object, name));
}

/* The state of the terminal: `waiting_input (password): sudo, quiet for 1.2 s`. */
static void put_terminal(struct words *w, const json_t *terminal)
{
	const char *status = text_of(terminal, "status");
	if (!status || !w->file)
		return;
	put_text(w, "terminal: ", status, "");
	put_text(w, " (", text_of(terminal, "input"), ")");
	put_name(w, ": ", text_of(json_object_get(terminal, "foreground"), "name"), "");
	put_name(w, " asks \"", text_of(terminal, "asks"), "\"");
	if (has_number(terminal, "quiet_ms") && strcmp(status, "prompt") != 0 &&
		strcmp(status, "exited") != 0)
		fprintf(w->file, ", quiet for %.1f s",
			(double)number_of(terminal, "quiet_ms") / 1000);
	put_text(w, "", json_is_false(json_object_get(terminal, "certain")) ? " (a guess)" : NULL,
		"");
	put_text(w, "", "\n", "");
	/* A model must not type secrets. */
	const char *input = text_of(terminal, "input");
	if (input && strcmp(input, "password") == 0) {
		bool asked = json_is_true(json_object_get(terminal, "elicited"));
		put_text(w, "A secret is asked for: ",
			asked ? "the person has been asked to type it, wait for that"
			      : "have a person type it into this terminal",
			"");
		put_text(w, ", at ", text_of(terminal, "human_url"), "");
		put_text(w, "", ".\n", "");
	}
}

/* Write the size of the output that follows, so that no line of it can be mistaken for ours. */
static void put_size(struct words *w, const json_t *exec)
{
	static const char *const outputs[] = {"output", "stdout", "stderr"};
	size_t bytes = 0;
	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
		bytes += json_string_length(json_object_get(exec, outputs[i]));
	json_int_t omitted = number_of(exec, "omitted_bytes");
	if (omitted > 0)
		put_number(w, ", ", (json_int_t)bytes, "");
	if (omitted > 0)
		put_number(w, " of ", (json_int_t)bytes + omitted, " bytes of output");
	else if (bytes > 0)
		put_number(w, ", ", (json_int_t)bytes, " bytes of output");
}

/* The state or the end of a command, always before its output. */
static void put_end(struct words *w, const json_t *exec)
{
	const char *state = text_of(exec, "state"), *by = text_of(exec, "ended_by");
	if (state && strcmp(state, "done") != 0) {
		put_text(w, "", state, "");
		put_text(w, ": exec_id ", text_of(exec, "exec_id"), "");
		put_number(w, ", cursor ", number_of(exec, "cursor"), "\n");
		if (json_is_true(json_object_get(exec, "unkillable")))
			put_text(w, "", "it cannot be killed\n", "");
		put_terminal(w, json_object_get(exec, "terminal"));
		return;
	}
	if (has_number(exec, "exit_code"))
		put_number(w, "exit code ", number_of(exec, "exit_code"), "");
	else if (by && strcmp(by, "unknown") == 0)
		put_text(w, "", "unknown: it may have run, or not, or in part", "");
	else
		put_text(w, "not run to its end: ", by ? by : "?", "");
	put_text(w, " (SIG", text_of(exec, "signal"), ")");
	if (json_is_true(json_object_get(exec, "timed_out")))
		put_text(w, "", ", timed out", "");
	if (json_is_true(json_object_get(exec, "suspect")))
		put_text(w, "", FORGED, "");
	if (has_number(exec, "duration_ms") && w->file)
		fprintf(w->file, ", %.2f s", (double)number_of(exec, "duration_ms") / 1000);
	put_size(w, exec);
	put_name(w, ", in ", text_of(exec, "cwd"), "");
	put_text(w, "", "\n", "");
	put_text(w, "next: ", text_of(exec, "next"), "\n");
}

char *mcp_exec_text(json_t *exec)
{
	struct words w;
	begin_words(&w);
	put_end(&w, exec);
	if (number_of(exec, "lost_bytes") > 0)
		put_number(&w, "", number_of(exec, "lost_bytes"),
			" bytes of output are no longer stored\n");
	if (number_of(exec, "lost_in_all") > 0)
		put_number(&w, "The output was not read in time: ", number_of(exec, "lost_in_all"),
			" bytes of it were lost in all\n");
	put_text(&w, "", text_of(exec, "output"), "");
	put_text(&w, "--- screen\n", text_of(exec, "screen"), "");
	put_text(&w, "--- stdout\n", text_of(exec, "stdout"), "");
	put_text(&w, "\n--- stderr\n", text_of(exec, "stderr"), "");
	return end_words(&w);
}

char *mcp_chunk_text(json_t *chunk)
{
	struct words w;
	begin_words(&w);
	put_text(&w, "Chunk ID: ", text_of(chunk, "chunk_id"), "\n");
	if (w.file)
		fprintf(w.file, "Wall time: %.4f seconds\n",
			json_number_value(json_object_get(chunk, "wall_time_seconds")));
	if (has_number(chunk, "exit_code"))
		put_number(&w, "Process exited with code ", number_of(chunk, "exit_code"),
			json_is_true(json_object_get(chunk, "suspect")) ? FORGED "\n" : "\n");
	put_text(&w, "Process was not run to its end: ", text_of(chunk, "ended_by"), "\n");
	put_text(&w, "next: ", text_of(chunk, "next"), "\n");
	if (has_number(chunk, "session_id"))
		put_number(&w, "Process running with session ID ", number_of(chunk, "session_id"),
			"\n");
	put_number(&w, "Original token count: ", number_of(chunk, "original_token_count"), "\n");
	put_text(&w, "Output:\n", text_of(chunk, "output"), "");
	return end_words(&w);
}

static void put_session(struct words *w, const json_t *session)
{
	put_text(w, "", text_of(session, "session_id"), "");
	put_name(w, " \"", text_of(session, "name"), "\"");
	put_text(w, ": ", text_of(session, "state"), "");
	put_name(w, ", ", text_of(session, "shell"), "");
	put_name(w, " in ", text_of(session, "cwd"), "");
	put_number(w, ", ", number_of(session, "cols"), "x");
	put_number(w, "", number_of(session, "rows"), "\n");
}

char *mcp_session_text(json_t *session)
{
	struct words w;
	begin_words(&w);
	put_text(&w, "", "session_id ", "");
	put_session(&w, session);
	return end_words(&w);
}

char *mcp_sessions_text(json_t *sessions)
{
	struct words w;
	size_t i;
	json_t *session;
	const json_t *list = json_object_get(sessions, "sessions");
	begin_words(&w);
	if (json_array_size(list) == 0)
		put_text(&w, "", "There are no sessions.\n", "");
	json_array_foreach (list, i, session)
		put_session(&w, session);
	put_text(&w, "more with cursor ", text_of(sessions, "next_cursor"), "\n");
	return end_words(&w);
}

char *mcp_screen_text(json_t *screen)
{
	struct words w;
	size_t i;
	json_t *row;
	const json_t *cursor = json_object_get(screen, "cursor");
	begin_words(&w);
	if (number_of(screen, "queued") > 0)
		put_number(&w,
			"bytes that the terminal has not read yet: ", number_of(screen, "queued"),
			"\n");
	put_terminal(&w, json_object_get(screen, "terminal"));
	if (cursor) {
		put_number(&w, "screen: cursor at row ", number_of(cursor, "row"), "");
		put_number(&w, ", column ", number_of(cursor, "column"), "");
		put_number(&w, ", version ", number_of(screen, "version"), "\n");
	}
	if (number_of(screen, "omitted_bytes") > 0)
		put_number(&w, "", number_of(screen, "omitted_bytes"),
			" bytes of output are left out\n");
	if (json_object_get(screen, "output") &&
		json_string_length(json_object_get(screen, "output")) == 0)
		put_text(&w, "", "nothing new\n", "");
	else
		put_text(&w, "---\n", text_of(screen, "output"), "");
	put_text(&w, "---\n", text_of(screen, "text"), "");
	json_array_foreach (json_object_get(screen, "changed"), i, row) {
		put_number(&w, "row ", number_of(row, "row"), ": ");
		put_text(&w, "", text_of(row, "text"), "\n");
	}
	return end_words(&w);
}

/* The note that the last owner of the keyboard has left. */
static void put_note(struct words *w, const json_t *note)
{
	if (!json_is_object(note))
		return;
	put_name(w, "note of ", text_of(note, "by"), ": ");
	put_text(w, "", text_of(note, "text"), "\n");
}

char *mcp_lease_text(json_t *lease)
{
	struct words w;
	const char *id = text_of(lease, "lease"), *owner = text_of(lease, "owner");
	begin_words(&w);
	if (id) {
		put_text(&w, "the keyboard is yours: lease ", id, "");
		put_text(&w, ", until ", text_of(lease, "expires_at"), "\n");
	} else if (owner) {
		put_name(&w, "", owner, " has the keyboard now\n");
	} else {
		put_text(&w, "", "the keyboard is free\n", "");
	}
	put_note(&w, json_object_get(lease, "note"));
	return end_words(&w);
}

char *mcp_wait_text(json_t *wait)
{
	struct words w;
	begin_words(&w);
	put_text(&w, "", text_of(wait, "type"), "");
	if (has_number(wait, "fired"))
		put_number(&w, " (condition ", number_of(wait, "fired"), ")");
	put_number(&w, " after ", number_of(wait, "elapsed_ms"), " ms\n");
	put_text(&w, "matched: ", text_of(wait, "text"), "\n");
	put_note(&w, json_object_get(wait, "note"));
	put_terminal(&w, json_object_get(wait, "terminal"));
	return end_words(&w);
}

static void put_block(struct words *w, const json_t *block)
{
	const char *command = text_of(block, "command");
	size_t length = command ? strlen(command) : 0;
	bool cut = length > COMMAND_BYTES;
	if (cut)
		length = COMMAND_BYTES - utf8_incomplete(command, COMMAND_BYTES);
	put_text(w, "", text_of(block, "id"), "");
	put_text(w, " ", text_of(block, "author"), "");
	put_name(w, " \"", text_of(block, "label"), "\"");
	if (has_number(block, "exit_code"))
		put_number(w, ", exit code ", number_of(block, "exit_code"), "");
	else
		put_text(w, ", ", text_of(block, "state"), "");
	if (json_is_true(json_object_get(block, "suspect")))
		put_text(w, "", FORGED, "");
	put_name(w, ", in ", text_of(block, "cwd"), "");
	char *beginning = command ? strndup(command, length) : NULL;
	put_name(w, ": ", beginning ? beginning : "(unknown)", cut ? "…\n" : "\n");
	free(beginning);
}

static void put_match(struct words *w, const json_t *match)
{
	if (has_number(match, "line"))
		put_number(w, "line ", number_of(match, "line"), ": ");
	else
		put_number(w, "offset ", number_of(match, "offset"), ": ");
	put_text(w, "", text_of(match, "text"), "\n");
}

char *mcp_history_text(json_t *history)
{
	struct words w;
	size_t i;
	json_t *one;
	begin_words(&w);
	json_array_foreach (json_object_get(history, "blocks"), i, one)
		put_block(&w, one);
	json_array_foreach (json_object_get(history, "matches"), i, one)
		put_match(&w, one);
	if (json_object_get(history, "block"))
		put_block(&w, json_object_get(history, "block"));
	put_text(&w, "", text_of(history, "output"), "");
	put_text(&w, "", text_of(history, "text"), "");
	if (has_number(history, "next"))
		put_number(&w, "older ones: before ", number_of(history, "next"), "\n");
	if (has_number(history, "next_line"))
		put_number(&w, "more from_line ", number_of(history, "next_line"), "\n");
	return end_words(&w);
}
