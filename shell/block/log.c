/*
 * The file "blocks": a line of JSON for each block that is done. Invalid lines are skipped. A failed write is counted,
 * and the whole file is written again when there is space.
 */
#include "shell/block/internal.h"
#include "shell/store/lines.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define LOG_MAX ((size_t)8 << 20)

/* null if text is NULL or not UTF-8 */
static json_t *text_or_null(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;
	return value ? value : json_null();
}

static json_t *make_line(const struct block *b)
{
	json_t *statuses = json_array();
	for (size_t i = 0; i < b->statuses_count; i++)
		json_array_append_new(statuses, json_integer(b->statuses[i]));
	return json_pack(
		"{s:I, s:I, s:b, s:o, s:s, s:s, s:i, s:o, s:o, s:o, s:I, s:I, s:b, s:b, s:s, s:I, s:I}",
		"start", (json_int_t)b->start, "end", (json_int_t)b->end, "exact", b->exact,
		"command", text_or_null(b->command), "label", b->label ? b->label : "", "exec",
		b->exec, "status", b->status, "statuses", statuses, "cwd", text_or_null(b->cwd),
		"cwdAfter", text_or_null(b->cwd_after), "started", (json_int_t)b->started_ms,
		"ended", (json_int_t)b->ended_ms, "interleaved", b->interleaved, "suspect",
		b->suspect, "author", b->author ? b->author : "", "inputMark",
		(json_int_t)b->input_mark, "endMark", (json_int_t)b->end_mark);
}

static struct block *read_line(json_t *root)
{
	json_int_t start, end, started, ended, input_mark = 0, end_mark = 0;
	int exact, interleaved;
	const char *label, *exec, *author = "";
	json_t *command, *statuses, *cwd, *after, *status;
	struct block *b = calloc(1, sizeof *b);
	size_t i;
	if (!b)
		return NULL;
	if (json_unpack(root,
		    "{s:I, s:I, s:b, s:o, s:s, s:s, s:i, s:o, s:o, s:o, s:I, s:I, s:b, s:s, s:I, s:I}",
		    "start", &start, "end", &end, "exact", &exact, "command", &command, "label",
		    &label, "exec", &exec, "status", &b->status, "statuses", &statuses, "cwd", &cwd,
		    "cwdAfter", &after, "started", &started, "ended", &ended, "interleaved",
		    &interleaved, "author", &author, "inputMark", &input_mark, "endMark",
		    &end_mark) < 0 ||
		end < start || start < 0 || strlen(label) > BLOCK_AUTHOR_MAX ||
		strlen(author) > BLOCK_AUTHOR_MAX || strlen(exec) > RECORD_ID_MAX) {
		free(b);
		return NULL;
	}
	b->start = (uint64_t)start;
	b->end = (uint64_t)end;
	b->started_ms = (uint64_t)started;
	b->ended_ms = (uint64_t)ended;
	b->input_mark = input_mark > 0 ? (uint64_t)input_mark : 0;
	b->end_mark = end_mark > 0 ? (uint64_t)end_mark : 0;
	b->exact = exact;
	b->interleaved = interleaved;
	b->suspect = json_is_true(json_object_get(root, "suspect"));
	b->done = b->settled = b->stored = b->has_record = true;
	block_set_author(b, author, label);
	snprintf(b->exec, sizeof b->exec, "%s", exec);
	b->command = json_is_string(command) ? strdup(json_string_value(command)) : NULL;
	b->cwd = json_is_string(cwd) ? strdup(json_string_value(cwd)) : NULL;
	b->cwd_after = json_is_string(after) ? strdup(json_string_value(after)) : NULL;
	json_array_foreach (statuses, i, status)
		if (i < RECORD_STATUSES_MAX)
			b->statuses[b->statuses_count++] = (uint8_t)json_integer_value(status);
	return b;
}

static void write_blocks(void *user, struct lines_writer *w)
{
	const struct blocks *b = user;
	struct block *block;
	DL_FOREACH (b->list, block)
		if (block->stored)
			lines_put(w, make_line(block));
}

static const struct lines_kind kind = {
	.name = "blocks", .max = LOG_MAX, .compact = LOG_MAX / 2, .tell = write_blocks};

void blocks_log_append(struct blocks *b, struct block *block)
{
	block->stored = true;
	if (lines_append(&b->log, &kind, b->pane->held.link.dir_fd, make_line(block), b) < 0)
		(*b->not_kept)++;
}

bool blocks_log_catch_up(struct blocks *b, int *ret_error)
{
	/* Before they are opened there is no session, and nothing to write. */
	return b->log.behind && lines_retry(&b->log, &kind, b->pane->held.link.dir_fd, b, ret_error);
}

static void load_block(void *user, json_t *line)
{
	struct blocks *b = user;
	struct block *block = read_line(line);
	const struct block *last = b->list ? b->list->prev : NULL;
	if (block && (!last || block->start > last->start))
		blocks_append(b, block);
	else if (block)
		block_free(block);
}

void blocks_log_load(struct blocks *b)
{
	lines_load(&b->log, &kind, b->pane->held.link.dir_fd, load_block, b);
}
