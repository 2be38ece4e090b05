/*
 * Only the visible page is fetched from the server. It does not change while the session continues.
 * Lines that were dropped meanwhile, or renumbered because the session has another width, are
 * noticed with the next request. Typed-ahead keys are handled before anything is fetched.
 */
#include "ws/client/attach/scroll.h"

#include "ws/client/attach/past.h"
#include "ws/client/attach/tty.h"
#include "ws/client/attach/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 200u /* bytes that are searched for */
#define TRIES_MAX 4u  /* attempts to fetch a page that changes meanwhile */

#define CONTROL(letter) ((letter) - '@')

/* The view. */
struct scroller {
	struct attachment *a;
	struct past past;
	struct picture page;
	unsigned cols, rows;                /* of the window */
	unsigned session_cols, screen_rows; /* of the session, from the latest answer */
	bool asking;                        /* the search text is being typed */
	char text[TEXT_MAX + 1];
	size_t length;
	char words[VIEW_WORDS_MAX]; /* error message, or "" */
};

static uint64_t number_of(const json_t *object, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(object, name));
	return n > 0 ? (uint64_t)n : 0;
}

/* Rows for lines: all but the last row of the window. */
static unsigned page_rows(const struct scroller *s)
{
	unsigned rows = s->rows > 1 ? s->rows - 1 : 1;
	return rows < PICTURE_ROWS_MAX ? rows : PICTURE_ROWS_MAX;
}

static bool get(struct scroller *s, char *path, struct answer *ret_answer)
{
	view_ask(s->a, "GET", path, NULL, ret_answer, s->words);
	return !s->words[0];
}

/* Update the range of lines. Returns false on an error. */
static bool find_ends(struct scroller *s)
{
	struct answer answer;
	bool good = get(s, call_path(s->a->session, "/screen"), &answer);
	if (good) {
		const json_t *scrollback = json_object_get(answer.json, "scrollback");
		uint64_t first = number_of(scrollback, "first");
		unsigned cols = (unsigned)number_of(answer.json, "cols");
		s->screen_rows = (unsigned)number_of(answer.json, "rows");
		uint64_t end = first + number_of(scrollback, "count") + s->screen_rows;
		if (cols == s->session_cols)
			past_extend(&s->past, first, end, page_rows(s));
		else
			past_renumber(&s->past, first, end, page_rows(s));
		s->session_cols = cols;
	}
	answer_finish(&answer);
	return good;
}

/*
 * Fetch lines of the page. Returns the next line; 0: an error, or fetch the page again
 * (*ret_again).
 */
static uint64_t fetch_part(struct scroller *s, uint64_t from, uint64_t to, bool *ret_again)
{
	struct answer answer;
	uint64_t next = 0;
	bool good = get(s,
		call_path(s->a->session, "/scrollback?cells=1&from=%" PRIu64 "&to=%" PRIu64, from,
			to),
		&answer);
	*ret_again = answer.status == 416 ||
		(good && number_of(answer.json, "cols") != s->session_cols);
	if (good && !*ret_again) {
		const json_t *scrollback = json_object_get(answer.json, "scrollback");
		uint64_t first = number_of(scrollback, "first");
		picture_set_lines(&s->page, answer.json, s->past.top);
		past_extend(&s->past, first,
			first + number_of(scrollback, "count") + s->screen_rows, s->past.rows);
		next = json_is_integer(json_object_get(answer.json, "next"))
			? number_of(answer.json, "next")
			: to;
	}
	answer_finish(&answer);
	return next;
}

/* Fetch the page. Returns whether it must be fetched again. */
static bool fetch_page(struct scroller *s)
{
	bool again = false;
	uint64_t top = s->past.top, from = top;
	uint64_t to = s->past.end - top < s->past.rows ? s->past.end : top + s->past.rows;
	if (picture_blank(&s->page, s->past.rows, s->session_cols) < 0) {
		snprintf(s->words, sizeof s->words, "%s", strerror(ENOMEM));
		return false;
	}
	while (from < to) {
		uint64_t next = fetch_part(s, from, to, &again);
		if (next <= from)
			break;
		from = next;
	}
	/* Lines may have been dropped meanwhile. */
	return again || s->past.top != top;
}

/*
 * Fetch the oldest lines without a number: during a flood of output, named lines may be gone
 * already.
 */
static void fetch_oldest(struct scroller *s)
{
	struct answer answer;
	if (get(s, call_path(s->a->session, "/scrollback?cells=1"), &answer) &&
		picture_blank(&s->page, s->past.rows, s->session_cols) == 0) {
		const json_t *scrollback = json_object_get(answer.json, "scrollback");
		uint64_t first = number_of(answer.json, "from");
		s->past.top = first;
		past_extend(&s->past, first,
			first + number_of(scrollback, "count") + s->screen_rows, s->past.rows);
		picture_set_lines(&s->page, answer.json, s->past.top);
	}
	answer_finish(&answer);
}

static void fetch(struct scroller *s)
{
	if (s->session_cols == 0)
		return;
	for (unsigned i = 0; i < TRIES_MAX; i++)
		if (!fetch_page(s) || !find_ends(s))
			return;
	fetch_oldest(s);
}

static void mark_found(struct scroller *s)
{
	const struct past *p = &s->past;
	for (size_t i = 0; i < p->found_count; i++) {
		const struct past_match *m = &p->found[i];
		if (m->line >= p->top && m->line - p->top < p->rows)
			picture_toggle(&s->page, (unsigned)(m->line - p->top), m->column, m->columns,
				i == p->at ? PEN_INVERSE | PEN_BOLD | PEN_UNDERLINE : PEN_INVERSE);
	}
}

static void draw_foot(const struct scroller *s, struct canvas *c)
{
	const struct past *p = &s->past;
	char line[VIEW_WORDS_MAX + 160], found[64] = "";
	uint64_t last = p->end - p->top < p->rows ? p->end : p->top + p->rows;
	if (p->found_count > 0)
		snprintf(found, sizeof found, "; match %zu of %zu", p->at + 1, p->found_count);
	if (s->asking)
		snprintf(line, sizeof line, "search: %s_", s->text);
	else if (s->words[0])
		snprintf(line, sizeof line, " %s; q goes back", s->words);
	else
		snprintf(line, sizeof line,
			" lines %" PRIu64 "-%" PRIu64 " of %" PRIu64
			"%s; / searches, n N older newer, q goes back",
			p->top - p->first + 1, last - p->first, p->end - p->first, found);
	view_draw_footer(c, s->cols, s->rows, line);
}

static void draw(struct scroller *s)
{
	struct canvas c = {0};
	mark_found(s);
	canvas_clear(&c);
	for (unsigned row = 0; row < s->page.rows && row + 1 < s->rows; row++) {
		canvas_move(&c, 0, row);
		canvas_row(&c, &s->page, row, s->cols);
	}
	draw_foot(s, &c);
	view_show(s->a, &c);
}

static void search(struct scroller *s)
{
	struct answer answer;
	char *text = call_encode(s->text);
	s->asking = false;
	if (s->length == 0) {
		s->past.found_count = s->past.at = 0;
		free(text);
		return;
	}
	char *path = text ? call_path(s->a->session, "/search?limit=%u&q=%s", PAST_FOUND_MAX, text)
			  : NULL;
	free(text);
	if (get(s, path, &answer) && !past_find(&s->past, answer.json))
		snprintf(s->words, sizeof s->words, "no line matches");
	answer_finish(&answer);
}

/* Edit the search text, which is UTF-8. */
static void edit_text(struct scroller *s, unsigned char byte)
{
	if (byte == '\r' || byte == '\n') {
		search(s);
	} else if (byte == CONTROL('C') || byte == CONTROL('G')) {
		s->asking = false;
	} else if (byte == CONTROL('U')) {
		s->length = 0;
	} else if (byte == 0x7f || byte == '\b') {
		while (s->length > 0 && (s->text[--s->length] & 0xc0) == 0x80)
			;
	} else if (byte >= ' ' && s->length < TEXT_MAX) {
		s->text[s->length++] = (char)byte;
	}
	s->text[s->length] = '\0';
}

static void start_search(struct scroller *s)
{
	s->asking = true;
	s->length = 0;
	s->text[0] = '\0';
}

static void ring_unless(bool good)
{
	if (!good)
		tty_write("\a", 1);
}

/* Returns whether to leave the view. */
static bool handle_key(struct scroller *s, enum key key)
{
	if (key == KEY_LEAVE)
		return true;
	/* New lines may have come. */
	if (key == KEY_LAST || key == KEY_REDRAW)
		find_ends(s);
	if (key != KEY_NONE)
		past_move(&s->past, key);
	return false;
}

static bool handle_text(struct scroller *s, unsigned char byte)
{
	switch (byte) {
	case '/':
	case '?':
		start_search(s);
		return false;
	case 'n':
		ring_unless(past_step(&s->past, 1));
		return false;
	case 'N':
		ring_unless(past_step(&s->past, -1));
		return false;
	case CONTROL('B'):
		return handle_key(s, KEY_PAGE_UP);
	case CONTROL('F'):
		return handle_key(s, KEY_PAGE_DOWN);
	default:
		return handle_key(s, key_feed(&s->a->keys, byte));
	}
}

/* Returns whether to leave the view. */
static bool handle_input(struct scroller *s, struct view_input input)
{
	s->words[0] = '\0';
	switch (input.event) {
	case VIEW_RESIZED:
		tty_size(&s->cols, &s->rows);
		find_ends(s);
		return false;
	case VIEW_ESCAPE:
		if (!s->asking)
			return true;
		s->asking = false;
		return false;
	case VIEW_TEXT:
		if (!s->asking)
			return handle_text(s, input.byte);
		edit_text(s, input.byte);
		return false;
	case VIEW_KEY:
		return !s->asking && handle_key(s, input.key);
	default:
		return true;
	}
}

void scroll_run(struct attachment *a, bool search)
{
	struct scroller *s = calloc(1, sizeof *s);
	if (!s)
		return;
	s->a = a;
	tty_size(&s->cols, &s->rows);
	if (find_ends(s))
		past_move(&s->past, KEY_LAST);
	if (search)
		start_search(s);
	for (bool left = false; !left; left = handle_input(s, view_read(a))) {
		if (a->typed_at < a->typed_length)
			continue;
		if (!s->words[0])
			fetch(s);
		draw(s);
	}
	picture_finish(&s->page);
	free(s);
}
