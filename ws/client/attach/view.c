/*
 * Resizes and the end of the view are reported as events, like keys. Drawing uses synchronized
 * updates.
 */
#include "ws/client/attach/view.h"

#include "ws/client/attach/tty.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char begin_update[] = "\033[?2026h", end_update[] = "\033[?2026l";

/* Parse the next key of the input. Returns whether there is one. */
static bool next_key(struct attachment *a, struct view_input *ret)
{
	while (a->typed_at < a->typed_length) {
		unsigned char byte = (unsigned char)a->typed[a->typed_at++];
		bool last = a->typed_at == a->typed_length;
		if (a->options.detach_key >= 0 && byte == a->options.detach_key) {
			attach_end(a, 0, "detached");
			*ret = (struct view_input){.event = VIEW_OVER};
			return true;
		}
		if (byte == '\033' && last && a->keys.state == KEY_IN_TEXT) {
			*ret = (struct view_input){.event = VIEW_ESCAPE};
			return true;
		}
		bool is_text = a->keys.state == KEY_IN_TEXT && byte != '\033';
		enum key key = is_text ? KEY_NONE : key_feed(&a->keys, byte);
		if (!is_text && key == KEY_NONE)
			continue;
		*ret = (struct view_input){
			.event = is_text ? VIEW_TEXT : VIEW_KEY, .key = key, .byte = byte};
		return true;
	}
	return false;
}

struct view_input view_read(struct attachment *a)
{
	struct view_input input;
	a->hurried = false;
	for (;;) {
		if (a->over || a->uncovered)
			return (struct view_input){.event = VIEW_OVER};
		if (a->resized) {
			a->resized = false;
			overlay_clear();
			return (struct view_input){.event = VIEW_RESIZED};
		}
		if (next_key(a, &input))
			return input;
		attach_read_input(a);
		uv_run(&a->cli->loop, UV_RUN_ONCE);
	}
}

int view_ask(struct attachment *a, const char *method, char *path, json_t *body,
	struct answer *ret_answer, char words[VIEW_WORDS_MAX])
{
	struct cli *cli = a->cli;
	cli->patience_ms = ATTACH_PATIENCE_MS;
	cli->give_up = a->over ? &a->over : &a->hurried;
	words[0] = '\0';
	attach_read_input(a);
	int rc = call_try(cli, method, path, body, ret_answer);
	cli->patience_ms = 0;
	cli->give_up = NULL;
	const char *message = rc == 0 ? answer_text(ret_answer->json, "message") : "";
	if (rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -ETIMEDOUT)
		snprintf(words, VIEW_WORDS_MAX, "the server does not answer");
	else if (rc < 0)
		snprintf(words, VIEW_WORDS_MAX, "%s", strerror(-rc));
	else if (ret_answer->status < 200 || ret_answer->status >= 300)
		snprintf(words, VIEW_WORDS_MAX, "%.*s", (int)VIEW_WORDS_MAX - 1,
			*message ? message : "the server refuses");
	return rc;
}

void view_show(struct attachment *a, struct canvas *c)
{
	bool good = tty_write(begin_update, sizeof begin_update - 1) &&
		tty_write(c->bytes, c->length) && tty_write(end_update, sizeof end_update - 1);
	canvas_finish(c);
	if (!good)
		attach_end_no_terminal(a);
}

void view_draw_footer(struct canvas *c, unsigned cols, unsigned rows, const char *text)
{
	canvas_line(c, rows > 0 ? rows - 1 : 0, cols, text);
}

static void show_lines(struct attachment *a, const char *const *lines, size_t count)
{
	unsigned cols, rows;
	struct canvas c = {0};
	tty_size(&cols, &rows);
	canvas_clear(&c);
	for (unsigned i = 0; i < count && i + 1 < rows; i++) {
		canvas_move(&c, 0, i);
		canvas_text(&c, lines[i], cols);
	}
	view_draw_footer(&c, cols, rows, count == 1 && rows == 1 ? lines[0] : " any key goes back");
	view_show(a, &c);
}

void view_show_lines(struct attachment *a, const char *const *lines, size_t count)
{
	struct view_input input;
	do {
		show_lines(a, lines, count);
		input = view_read(a);
	} while (input.event == VIEW_RESIZED);
}

bool view_confirm(struct attachment *a, const char *question)
{
	for (;;) {
		unsigned cols, rows;
		struct canvas c = {0};
		tty_size(&cols, &rows);
		canvas_clear(&c);
		view_draw_footer(&c, cols, rows, question);
		view_show(a, &c);
		struct view_input input = view_read(a);
		if (input.event != VIEW_RESIZED)
			return input.event == VIEW_TEXT && input.byte == 'y';
	}
}
