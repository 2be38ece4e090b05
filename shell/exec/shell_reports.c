/* Following a shell: how marks and records change the current exec, the prompt and the blocks. */
#include "shell/clock.h"
#include "shell/exec/internal.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void exec_move_prompt(struct executor *x, enum exec_prompt prompt)
{
	/* Any program can print marks, so nearly everything may follow the first one. */
	enum {
		SHOWN = 1u << EXEC_PROMPT_READY | 1u << EXEC_PROMPT_CONTINUATION |
			1u << EXEC_PROMPT_LEFT,
		STARTING = 1u << EXEC_PROMPT_NONE | 1u << EXEC_PROMPT_FIRST | SHOWN,
		LATER = 1u << EXEC_PROMPT_NONE | 1u << EXEC_PROMPT_COMING | SHOWN,
	};
	static const unsigned moves[] = {[EXEC_PROMPT_UNKNOWN] = LATER,
		[EXEC_PROMPT_NONE] = STARTING,
		[EXEC_PROMPT_FIRST] = STARTING,
		[EXEC_PROMPT_COMING] = LATER,
		[EXEC_PROMPT_READY] = LATER,
		[EXEC_PROMPT_CONTINUATION] = LATER,
		[EXEC_PROMPT_LEFT] = LATER};
	assert(moves[x->prompt] & 1u << prompt);
	x->prompt = prompt;
	x->prompt_ms = exec_now(x);
}

/* The shell is about to draw a prompt. */
static void expect_prompt(struct executor *x)
{
	if (x->prompt == EXEC_PROMPT_NONE)
		x->hold_until_ms = exec_now(x) + EXEC_PROMPT_MS;
	bool first = x->prompt == EXEC_PROMPT_NONE || x->prompt == EXEC_PROMPT_FIRST;
	exec_move_prompt(x, first ? EXEC_PROMPT_FIRST : EXEC_PROMPT_COMING);
}

/* The output of the command that runs */

/*
 * Terminal output is the command's between its marks. All FIFO output since the command was typed
 * is its own: the holder may read it before the start report or behind the end report.
 */
enum exec_stream exec_clip_output(const struct exec *e, enum event_source source, uint64_t offset,
	const void **bytes, size_t *length)
{
	enum exec_stream stream = exec_stream_of(e->plan.streams, source);
	uint64_t end = offset + *length;
	if (stream == EXEC_STREAMS || source != EVENT_SOURCE_TERMINAL)
		return stream;
	if (!e->start_marked || end <= e->start || (e->end_marked && offset >= e->end_offset))
		return EXEC_STREAMS;
	if (offset < e->start) {
		*bytes = (const uint8_t *)*bytes + (e->start - offset);
		*length = (size_t)(end - e->start);
		offset = e->start;
	}
	if (e->end_marked && end > e->end_offset)
		*length = (size_t)(e->end_offset - offset);
	return stream;
}

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	struct executor *x = user;
	struct exec *e = x->current;
	if (x->prompt != EXEC_PROMPT_READY)
		x->prompt_ms = exec_now(x);
	if (!e)
		return;
	enum exec_stream stream = exec_clip_output(e, source, offset, &bytes, &length);
	if (stream != EXEC_STREAMS)
		excerpt_add(&e->output[stream], bytes, length, &x->all->budget);
}

static void on_lost(void *user, uint64_t bytes)
{
	struct executor *x = user;
	if (x->current && x->current->state == EXEC_RUNNING)
		x->current->lost += bytes;
}

/* Marks */

/* The start mark has come; the start record follows. An adopting server reads the mark again. */
static void begin_output(struct exec *e, const struct mark *mark)
{
	if (e->start_marked && e->start != mark->end) {
		exec_note_unsealed(e, -1, 0);
		return;
	}
	e->start = mark->end;
	e->start_marked = true;
}

/* The shell has reported an entered line. */
static void note_line(struct executor *x)
{
	x->line_reported = true;
	x->entered -= x->entered > 0;
}

/* An open paste has ended, or its reader has. */
static void forget_pastes(struct executor *x)
{
	exec_forget_paste(x);
	typing_reset_paste(x->typing);
	control_note_paste(&x->pane->held.link.control, 0, 0);
}

static void on_start_mark(struct executor *x, const struct mark *mark)
{
	struct exec *e = x->current;
	exec_move_prompt(x, EXEC_PROMPT_LEFT);
	x->undo = 0;
	if (!mark->id[0] && (!e || e->state == EXEC_QUEUED))
		note_line(x);
	/* A line typed behind the paste runs, so the end of the paste has been read. */
	if (x->paste.open && x->paste_undisturbed)
		forget_pastes(x);
	if (e && strcmp(mark->id, e->id) == 0)
		begin_output(e, mark);
}

static void on_end_mark(struct executor *x, const struct mark *mark)
{
	struct exec *e = x->current;
	x->ends++;
	expect_prompt(x);
	if (!e || strcmp(mark->id, e->id) != 0)
		return;
	if (e->end_marked)
		return; /* that of the prompt, which may be drawn repeatedly */
	e->end_marked = true;
	e->end_offset = mark->start;
	if (mark->status >= 0)
		e->status = mark->status;
}

/* Whether a mark contradicts the current exec: an unsealed end (noted), or another start. */
static bool is_unsealed_mark(struct exec *e, const struct mark *mark)
{
	bool ours = e && strcmp(mark->id, e->id) == 0;
	if (ours && mark->kind == MARK_END && !exec_mark_is_sealed(e, mark)) {
		exec_note_unsealed(e, mark->status, mark->start);
		return true;
	}
	if (!e || e->state != EXEC_RUNNING || mark->kind != MARK_START)
		return false;
	if (ours)
		begin_output(e, mark);
	return !ours || e->start != mark->end;
}

static void on_mark(void *user, const struct mark *mark)
{
	struct executor *x = user;
	struct exec *e = x->current;
	if (is_unsealed_mark(e, mark) || exec_defer_line_end(x, mark))
		return;
	blocks_handle_mark(x->blocks, mark, mark->end > x->past_offset ? clock_wall_ms() : 0,
		e && e->state == EXEC_STARTING);
	if (x->blocks->record_due_ms > 0)
		executors_add_busy(x);
	switch (mark->kind) {
	case MARK_START:
		on_start_mark(x, mark);
		break;
	case MARK_END:
		on_end_mark(x, mark);
		break;
	case MARK_PROMPT:
		expect_prompt(x);
		break;
	case MARK_CONTINUATION:
		exec_move_prompt(x, EXEC_PROMPT_CONTINUATION);
		note_line(x);
		break;
	case MARK_CONTINUED:
		break;
	case MARK_INPUT:
		exec_move_prompt(x, EXEC_PROMPT_READY);
		x->prompt_offset = mark->end;
		typing_reset_line(x->typing);
		/* The end record follows, unless the prompt's hook has been removed. */
		if (e && e->end_marked && e->record_due_ms == 0) {
			e->over_offset = mark->end;
			e->record_due_ms = exec_now(x) + EXEC_RECORD_MS;
		}
		break;
	}
}

/* Records */

void exec_note_start(struct exec *e, uint64_t started_ms, uint64_t started_boot_ms)
{
	exec_move(e, EXEC_RUNNING);
	e->started_ms = started_ms;
	e->started_boot_ms = started_boot_ms;
	if (e->timeout_ms > 0) {
		/* It may have begun under an earlier server. */
		uint64_t now = clock_boot_ms();
		uint64_t ran = now > started_boot_ms ? now - started_boot_ms : 0;
		e->deadline_ms = exec_now(e->executor) +
			(ran < e->timeout_ms ? e->timeout_ms - ran : 0);
	}
}

static void on_started(
	struct executor *x, const struct record *record, const struct event_header *event)
{
	struct exec *e = x->current;
	exec_clear_unanswered(x);
	if (!e || strcmp(record->id, e->id) != 0)
		return;
	/* An adopting server reads the same record again; any other one is forged. */
	if (e->state == EXEC_RUNNING && e->started_ms != event->time_ns / 1000000) {
		exec_note_unsealed(e, -1, 0);
		return;
	}
	if (!e->start_marked)
		e->start = event->offset;
	exec_note_start(e, event->time_ns / 1000000, event->boot_ns / 1000000);
	exec_log_start(e);
	x->back_due = record->half_typed > 0;
	x->hold_until_ms = x->back_due ? exec_now(x) + EXEC_HOLD_MS : 0;
	if (!x->back_due)
		exec_release_input(x);
	exec_changed(e);
	if (e->cancelling == EXEC_CANCEL_DUE)
		exec_cancel(e, e->cancel_signal, e->grace_ms);
}

static void note_cwd(struct exec *e, const struct record *record)
{
	char there[PATH_MAX];
	const char *cwd = record->cwd;
	/* The record leaves out a directory that it cannot hold. */
	if (!cwd[0] && exec_shell_directory(e->executor, there, sizeof there) > 0)
		cwd = there;
	free(e->cwd);
	e->cwd = cwd[0] ? strdup(cwd) : NULL;
}

static void finish_by_record(struct exec *e, const struct record *record,
	const struct event_header *event, enum exec_end end)
{
	e->ended_ms = event->time_ns / 1000000;
	e->over_offset = event->offset;
	if (!e->end_marked)
		e->end_offset = event->offset;
	bool differs = e->end_marked && e->status != record->status;
	e->suspect |= differs;
	/* A program that read the seal in the mark could have replaced the record in the FIFO. */
	if (!differs)
		e->status = record->status;
	e->statuses_count = record->statuses_count;
	memcpy(e->statuses, record->statuses, record->statuses_count * sizeof *record->statuses);
	e->outlet = record->outlet;
	/* Earlier writers may have printed meanwhile. */
	if (e->outlet == RECORD_OUTLET_TERMINAL && e->executor->blocks->redirected)
		e->outlet = RECORD_OUTLET_REDIRECTED;
	note_cwd(e, record);
	exec_finish(e, end);
}

/* Forget all that was known of the old shell's prompt and input. */
static void reset_shell(struct executor *x)
{
	exec_move_prompt(x, EXEC_PROMPT_NONE);
	x->deferred_mark = (struct exec_deferred_mark){0};
	x->entered = 0;
	x->editor = NULL;
	x->line_reported = x->searching = false;
	x->back_due = x->environment_asked = false;
	x->column = x->undo = 0;
	x->startup_modes = EXEC_STARTUP_MODES_ALL;
	forget_pastes(x);
	x->hold_until_ms = 0;
	x->born_ms = exec_now(x);
}

/* A new shell replaces the old one; the blocks know it. keeps_input: it reads what was typed for the old one. */
static void on_shell_end(
	struct executor *x, int wait_status, const struct event_header *event, bool keeps_input)
{
	struct exec *e = x->current;
	reset_shell(x);
	if (!keeps_input)
		exec_clear_unanswered(x);
	x->all->callbacks->restarted(x->user, wait_status, !keeps_input);
	if (!e || (e->state == EXEC_STARTING && keeps_input))
		return;
	e->status = exec_status_of(wait_status);
	e->ended_ms = event->time_ns / 1000000;
	e->over_offset = event->offset;
	if (!e->end_marked)
		e->end_offset = event->offset;
	exec_finish(e,
		e->state == EXEC_RUNNING               ? EXEC_END_SHELL
			: exec_provably_not_started(e) ? EXEC_END_NOT_STARTED
						       : EXEC_END_UNKNOWN);
}

static void on_shell(void *user, const struct event_shell *shell, const struct event_header *event)
{
	struct executor *x = user;
	blocks_shell_ended(
		x->blocks, event->offset, exec_status_of(shell->status), event->time_ns / 1000000);
	on_shell_end(x, shell->status, event, false);
}

/* Whether a record that ends the current exec lacks its seal. Notes it. */
static bool is_unsealed_record(
	struct executor *x, const struct record *record, const struct event_header *event)
{
	struct exec *e = x->current;
	bool ours = e && strcmp(record->id, e->id) == 0;
	bool ends = record->kind == RECORD_END || record->kind == RECORD_PROMPT;
	/* A shell that replaces itself names the exec that it runs. */
	bool replaces = e && e->state == EXEC_RUNNING && record->kind == RECORD_EXIT;
	if (!(ours && ends) && !replaces)
		return false;
	if (ours && exec_record_is_sealed(e, record))
		return false;
	exec_note_unsealed(e, record->status, event->offset);
	return true;
}

/* Accept known names only, as any program of the user can write the record. */
static void note_editor(struct executor *x, const char *editor)
{
	static const char *const known[] = {"", "keys", "ble.sh"};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(editor, known[i]) == 0 && !x->current)
			x->editor = known[i];
}

static void on_record(void *user, const struct record *record, const struct event_header *event,
	uint64_t position)
{
	struct executor *x = user;
	struct exec *e = x->current;
	bool ours = e && strcmp(record->id, e->id) == 0;
	(void)position;
	if (is_unsealed_record(x, record, event))
		return;
	if (record->kind == RECORD_PROMPT && exec_refute_line_end(x, event->time_ns / 1000000))
		return;
	blocks_handle_record(x->blocks, record, event->time_ns / 1000000, event->offset);
	if (x->blocks->record_due_ms > 0)
		executors_add_busy(x);
	if (record->kind == RECORD_STATE) {
		exec_note_sign(x);
		shell_environment_answer(x);
	}
	if (record->kind == RECORD_START)
		on_started(x, record, event);
	else if (record->kind == RECORD_END && ours)
		finish_by_record(e, record, event, EXEC_END_COMMAND);
	else if (record->kind == RECORD_EXIT)
		on_shell_end(x, W_EXITCODE(record->status, 0), event, true);
	else if (record->kind == RECORD_PROMPT && ours)
		finish_by_record(e, record, event, EXEC_END_PROMPT);
	if (record->kind == RECORD_PROMPT) {
		note_editor(x, record->editor);
		if (!x->line_reported && !e)
			note_line(x); /* an empty or an abandoned one */
		x->line_reported = false;
		if (x->sign == EXEC_SIGN_ASKED)
			x->sign = EXEC_SIGN_DUE; /* the key may have gone to another program */
	}
	if (record->kind == RECORD_PROMPT && !exec_shell_has_marks(x))
		expect_prompt(x);
}

static const struct outline_callbacks callbacks = {
	.text = on_text, .mark = on_mark, .record = on_record, .shell = on_shell, .lost = on_lost};

/* If the shell is at its prompt, put the half-typed line back, and type what waits. */
static void serve_prompt(struct executor *x)
{
	static const char back[] = INTEGRATION_BACK;
	if (x->prompt != EXEC_PROMPT_READY || x->current)
		return;
	if (x->back_due && exec_shell_is_foreground(x)) {
		x->back_due = false;
		link_write(&x->pane->held.link, back, sizeof back - 1);
	}
	exec_undo_leftovers(x);
	exec_release_input(x);
	exec_ask_sign(x);
	shell_environment_at_prompt(x);
	exec_type_next(x);
}

uint64_t exec_follow(struct executor *x, uint64_t offset)
{
	if (!x->open)
		return UINT64_MAX;
	const struct exec *before = x->current;
	uint64_t from = x->outline.offset;
	outline_read(&x->outline, &x->pane->held.link.ring, offset, SIZE_MAX, &callbacks, x);
	if (x->current && x->current == before && x->outline.offset != from)
		exec_changed(x->current);
	serve_prompt(x);
	return x->outline.position;
}

/* Whether the text of an OSC 133 mark has this kind and our nonce. */
static bool is_our_mark(const struct executor *x, const char *text, char kind)
{
	const char *key = strstr(text, ";aid=");
	return x->open && text[0] == kind && text[1] == ';' && key &&
		strncmp(key + 5, x->nonce, strlen(x->nonce)) == 0;
}

void exec_screen_mark(struct executor *x, const struct screen_event *mark)
{
	struct exec_end_mark_place *end = &x->end_place;
	if (is_our_mark(x, mark->text, 'D') && end->marks++ == 0) {
		end->line = mark->line;
		end->column = mark->column;
		end->leftovers = mark->leftovers;
	} else if (is_our_mark(x, mark->text, 'B')) {
		/*
		 * readline assumes that the prompt begins in the first column. If output ends in
		 * front of it, readline redraws the prompt over that output before it draws the
		 * line that runs the script.
		 */
		bool first = end->marks > (x->shell == INTEGRATION_BASH ? 1 : 0);
		bool shifted = x->shell == INTEGRATION_BASH && first && mark->line == end->line &&
			mark->column > end->column;
		x->column = shifted ? mark->column - end->column + 1 : mark->column;
		x->undo = first ? end->leftovers & ~x->startup_modes : 0;
		if (x->startup_modes == EXEC_STARTUP_MODES_ALL)
			x->startup_modes = end->leftovers;
		x->undo_row = mark->row;
		x->undo_offset = mark->offset;
		*end = (struct exec_end_mark_place){0};
		exec_undo_leftovers(x);
	}
}
