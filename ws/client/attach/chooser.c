#include "ws/client/attach/chooser.h"

#include "ws/client/attach/tty.h"
#include "ws/client/attach/view.h"

#include <stdio.h>
#include <string.h>

/* The view. */
struct chooser {
	struct attachment *a;
	const struct session_menu *session_menu;
	size_t at, first; /* the selected entry; the one at the top */
	unsigned cols, rows;
};

static void draw_session(struct canvas *c, const struct chooser *ch, size_t index)
{
	char line[1024], name[300] = "", people[40] = "";
	const json_t *s = ch->session_menu->sessions[index];
	const char *id = answer_text(s, "id"), *called = answer_text(s, "name");
	json_int_t clients = json_integer_value(json_object_get(s, "clients"));
	if (*called && strcmp(called, id) != 0)
		snprintf(name, sizeof name, " (%.280s)", called);
	if (clients > 0)
		snprintf(people, sizeof people, ", %d attached", (int)clients);
	snprintf(line, sizeof line, "%s %.128s%s: %.400s%s%s", index == ch->at ? ">" : " ", id,
		name, answer_text(s, "cwd"), people, strcmp(id, ch->a->session) == 0 ? " *" : "");
	unsigned row = (unsigned)(index - ch->first);
	if (index == ch->at) {
		canvas_line(c, row, ch->cols, line);
		return;
	}
	canvas_move(c, 0, row);
	canvas_text(c, line, ch->cols);
}

static void draw(struct chooser *ch)
{
	struct canvas c = {0};
	tty_size(&ch->cols, &ch->rows);
	size_t shown = ch->rows > 1 ? ch->rows - 1 : 1;
	if (ch->at < ch->first)
		ch->first = ch->at;
	if (ch->at >= ch->first + shown)
		ch->first = ch->at + 1 - shown;
	canvas_clear(&c);
	if (ch->rows > 1)
		view_draw_footer(
			&c, ch->cols, ch->rows, " arrows choose, Enter shows it, q goes back");
	for (size_t i = ch->first; i < ch->session_menu->count && i < ch->first + shown; i++)
		draw_session(&c, ch, i);
	view_show(ch->a, &c);
}

static size_t move(const struct chooser *ch, enum key key)
{
	size_t last = ch->session_menu->count - 1, page = ch->rows > 2 ? ch->rows - 2 : 1;
	switch (key) {
	case KEY_UP:
		return ch->at > 0 ? ch->at - 1 : last;
	case KEY_DOWN:
		return ch->at < last ? ch->at + 1 : 0;
	case KEY_PAGE_UP:
		return ch->at > page ? ch->at - page : 0;
	case KEY_PAGE_DOWN:
		return ch->at + page < last ? ch->at + page : last;
	case KEY_FIRST:
		return 0;
	case KEY_LAST:
		return last;
	default:
		return ch->at;
	}
}

const char *chooser_run(struct attachment *a, const struct session_menu *r)
{
	struct chooser ch = {.a = a, .session_menu = r, .at = session_menu_find(r, a->session)};
	if (r->count == 0)
		return NULL;
	if (ch.at == r->count)
		ch.at = 0;
	for (;;) {
		draw(&ch);
		struct view_input input = view_read(a);
		if (input.event == VIEW_OVER || input.event == VIEW_ESCAPE)
			return NULL;
		if (input.event == VIEW_RESIZED)
			continue;
		/* Letters are keys, as in `ringside wall`. */
		enum key key = input.event == VIEW_TEXT ? key_feed(&a->keys, input.byte) : input.key;
		if (key == KEY_LEAVE)
			return NULL;
		if (key == KEY_ENTER)
			return answer_text(r->sessions[ch.at], "id");
		ch.at = move(&ch, key);
	}
}
