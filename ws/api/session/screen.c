/*
 * The screen, the scrollback and a search, for programs. Every answer is bounded and says where the
 * next request continues.
 */
#include "ring/screen/view/render.h"
#include "ring/search/search.h"
#include "ws/api/api.h"
#include "ws/api/session/with_screen.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BYTES_MAX ((size_t)4 << 20) /* of an answer; its last line may exceed it */
#define TEXT_LINES_MAX 5000u        /* of an answer in text */
#define JSON_LINES_MAX 2000u        /* of an answer in JSON; a screen has fewer */
#define JSON_RUNS_MAX 20000u        /* runs of cells of an answer in JSON */
#define MATCHES_DEFAULT 100u
#define MATCHES_MAX 1000u
#define SEARCH_WORK (UINT64_C(2) << 20) /* see ring/search/pattern.h: some milliseconds */

/* Forbids scripts in HTML that contains the output of arbitrary programs. */
static const char content_security_policy[] =
	"default-src 'none'; style-src-attr 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'; sandbox";

enum format { FORMAT_JSON, FORMAT_TEXT, FORMAT_ANSI, FORMAT_HTML };

struct view {
	unsigned format;
	bool cells;
	struct render_options options;
};

static bool parse_view(struct request *r, struct view *v)
{
	static const char *const formats[] = {"json", "text", "ansi", "html"};
	static const char *const wraps[] = {"keep", "join"};
	unsigned wrap = 0;
	if (!query_choice(r, "format", formats, sizeof formats / sizeof *formats, &v->format) ||
		!query_choice(r, "wrap", wraps, sizeof wraps / sizeof *wraps, &wrap) ||
		!query_flag(r, "cells", &v->cells) ||
		!query_number(r, "since", INT64_MAX, &v->options.since))
		return false;
	v->options.join = wrap == 1;
	v->options.max = BYTES_MAX;
	if (v->format == FORMAT_JSON || (!v->cells && v->options.since == 0))
		return true;
	return reply_invalid(r, v->cells ? "cells" : "since", "Needs format=json", "invalid");
}

static void reply_no_screen(struct request *r, const struct session *s)
{
	if (session_is_readable(s))
		reply_error(r, "OUT_OF_MEMORY", "Out of memory for the session's screen",
			json_pack("{s:s}", "sessionId", session_id(s)));
	else
		reply_error(r, "RESOURCE_BUSY", "The session is not running yet",
			json_pack("{s:s}", "sessionId", session_id(s)));
}

static const struct screen *find_screen(struct request *r, const struct session *s)
{
	const struct screen *screen = pane_unlent_screen(&s->pane);
	if (!screen)
		reply_no_screen(r, s);
	return screen;
}

static uint64_t base_of(const struct screen *screen)
{
	return screen_dropped(screen) + screen_scrollback(screen);
}

static uint64_t end_of(const struct screen *screen)
{
	return base_of(screen) + screen_rows(screen);
}

/* JSON */

static json_t *make_text(const char *text, size_t length)
{
	json_t *value = json_stringn(text, length);
	return value ? value : json_null();
}

static void set_flag(json_t *object, const char *name, bool value)
{
	if (value)
		json_object_set_new(object, name, json_true());
}

/* An index of the palette, or "#rrggbb". */
static void set_color(json_t *object, const char *name, uint32_t color)
{
	uint32_t value = color & COLOR_VALUE;
	if ((color & COLOR_MODE) == COLOR_RGB)
		json_object_set_new(object, name, json_sprintf("#%06x", value));
	else if ((color & COLOR_MODE) != COLOR_DEFAULT)
		json_object_set_new(object, name, json_integer(value));
}

static json_t *run_json(const struct render_run *run)
{
	static const struct {
		const char *name;
		uint16_t flag;
	} flags[] = {{"bold", STYLE_BOLD}, {"dim", STYLE_DIM}, {"italic", STYLE_ITALIC},
		{"blink", STYLE_BLINK}, {"inverse", STYLE_INVERSE}, {"conceal", STYLE_CONCEAL},
		{"strike", STYLE_STRIKE}, {"overline", STYLE_OVERLINE}};
	static const char *const underlines[] = {
		"single", "single", "double", "curly", "dotted", "dashed"};
	const struct style *style = &run->style;
	json_t *cells = json_pack("{s:i, s:i, s:o}", "column", (int)run->column, "columns",
		(int)run->columns, "text", make_text(run->text, run->length));
	set_color(cells, "fg", style->fg);
	set_color(cells, "bg", style->bg);
	for (size_t i = 0; style->flags && i < sizeof flags / sizeof *flags; i++)
		set_flag(cells, flags[i].name, style->flags & flags[i].flag);
	if (style->flags & STYLE_UNDERLINE) {
		json_object_set_new(cells, "underline", json_string(underlines[style->underline]));
		set_color(cells, "underlineColor", style->underline_color);
	}
	if (run->link)
		json_object_set_new(cells, "link", make_text(run->link, run->link_length));
	return cells;
}

static json_t *line_json(const struct render_line *line, uint64_t base, const struct view *v)
{
	json_t *object = json_pack("{s:I, s:I, s:b, s:o}", "line", (json_int_t)line->number,
		"offset", (json_int_t)line->offset, "wrapped", line->wrapped, "text",
		make_text(line->text, line->length));
	if (line->number >= base)
		json_object_set_new(object, "row", json_integer((json_int_t)(line->number - base)));
	if (line->version > 0)
		json_object_set_new(object, "version", json_integer((json_int_t)line->version));
	if (v->options.join)
		json_object_set_new(object, "lines", json_integer(line->count));
	if (!v->cells)
		return object;
	json_t *cells = json_array();
	for (size_t i = 0; i < line->run_count; i++)
		json_array_append_new(cells, run_json(&line->runs[i]));
	json_object_set_new(object, "cells", cells);
	return object;
}

/* Lines as JSON. *ret_to: the next line. Returns NULL without memory. */
static json_t *lines_json(const struct screen *screen, const struct view *v, uint64_t *ret_to)
{
	struct render *render;
	struct render_line line;
	size_t bytes = 0, runs = 0;
	json_t *lines = json_array();
	int rc = render_create(&render, screen, &v->options);
	if (rc < 0) {
		json_decref(lines);
		return NULL;
	}
	while (runs < JSON_RUNS_MAX && bytes < BYTES_MAX && (rc = render_next(render, &line)) > 0) {
		bytes += line.length;
		for (size_t i = 0; v->cells && i < line.run_count; i++)
			bytes += line.runs[i].length + line.runs[i].link_length;
		runs += v->cells ? line.run_count : 0;
		json_array_append_new(lines, line_json(&line, base_of(screen), v));
	}
	*ret_to = render_position(render);
	render_destroy(render);
	if (rc >= 0)
		return lines;
	json_decref(lines);
	return NULL;
}

static json_t *cursor_json(const struct screen *screen)
{
	static const char *const styles[] = {
		"block", "block", "block", "underline", "underline", "bar", "bar"};
	const struct screen_modes *m = screen_modes(screen);
	unsigned row, col;
	screen_cursor(screen, &row, &col);
	bool waits = col == screen_cols(screen);
	bool blink = m->cursor_style % 2 == 1;
	return json_pack("{s:i, s:i, s:b, s:s, s:b, s:b}", "row", (int)row, "col",
		(int)(waits ? col - 1 : col), "visible", !m->cursor_hidden, "style",
		styles[m->cursor_style], "blink", blink, "pendingWrap", waits);
}

static json_t *modes_json(const struct screen_modes *m)
{
	static const char *const mice[] = {[MOUSE_NONE] = "none",
		[MOUSE_X10] = "x10",
		[MOUSE_VT200] = "vt200",
		[MOUSE_DRAG] = "drag",
		[MOUSE_ANY] = "any"};
	static const char *const encodings[] = {
		[MOUSE_DEFAULT] = "default", [MOUSE_SGR] = "sgr", [MOUSE_SGR_PIXELS] = "sgrPixels"};
	return json_pack(
		"{s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:i, s:i, s:s, s:s}",
		"applicationCursor", m->application_cursor, "applicationKeypad",
		m->application_keypad, "origin", m->origin, "wraparound", m->wraparound,
		"reverseWraparound", m->reverse_wraparound, "insert", m->insert, "newline",
		m->newline, "bracketedPaste", m->bracketed_paste, "focus", m->focus,
		"synchronizedOutput", m->synchronized_output, "colorScheme", m->color_scheme,
		"modifyOtherKeys", (int)m->modify_other_keys, "kittyKeyboard", (int)m->kitty_flags,
		"mouse", mice[m->mouse], "mouseEncoding", encodings[m->mouse_encoding]);
}

static json_t *scrollback_json(const struct screen *screen)
{
	return json_pack("{s:I, s:i, s:i}", "first", (json_int_t)screen_dropped(screen), "count",
		(int)screen_scrollback(screen), "max", (int)screen_scrollback_max(screen));
}

static json_t *name_json(const char *text)
{
	return make_text(text, strlen(text));
}

static json_t *screen_json(const struct screen *screen)
{
	return json_pack("{s:I, s:I, s:i, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "version",
		(json_int_t)screen_version(screen), "offset", (json_int_t)screen_offset(screen),
		"rows", (int)screen_rows(screen), "cols", (int)screen_cols(screen), "alternate",
		screen_is_alternate(screen), "cursor", cursor_json(screen), "title",
		name_json(screen_title(screen)), "icon", name_json(screen_icon(screen)), "cwd",
		name_json(screen_cwd(screen)), "modes", modes_json(screen_modes(screen)),
		"scrollback", scrollback_json(screen));
}

/* Replies */

/* body: owned. to: the requested end. */
static void reply_lines(
	struct request *r, const struct screen *screen, struct view *v, json_t *body, uint64_t to)
{
	uint64_t next;
	json_t *lines = lines_json(screen, v, &next);
	if (!lines) {
		json_decref(body);
		refuse_memory(r);
		return;
	}
	json_object_set_new(body, "next", next < to ? json_integer((json_int_t)next) : json_null());
	json_object_set_new(body, "lines", lines);
	reply_success(r, body);
}

static void reply_text(struct request *r, const struct screen *screen, const struct view *v)
{
	static const enum render_format formats[] = {
		[FORMAT_TEXT] = RENDER_TEXT, [FORMAT_ANSI] = RENDER_ANSI, [FORMAT_HTML] = RENDER_HTML};
	struct rendered text;
	if (render_lines(screen, formats[v->format], &v->options, &text) < 0) {
		refuse_memory(r);
		return;
	}
	reply_header_number(r, "Ringside-From", text.from);
	reply_header_number(r, "Ringside-To", text.to);
	reply_header_number(r, "Ringside-First", screen_dropped(screen));
	reply_header_number(r, "Ringside-Screen", base_of(screen));
	reply_header_number(r, "Ringside-End", end_of(screen));
	reply_header_number(r, "Ringside-Version", screen_version(screen));
	if (v->format == FORMAT_HTML)
		reply_header(r, "Content-Security-Policy", content_security_policy);
	reply_bytes(r, 200,
		v->format == FORMAT_HTML ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
		text.bytes, text.length, text.bytes);
}

/* Handlers */

static void show_screen(struct request *r, struct session *s)
{
	struct view v = {0};
	const struct screen *screen = parse_view(r, &v) ? find_screen(r, s) : NULL;
	if (!screen)
		return;
	v.options.from = base_of(screen);
	v.options.to = end_of(screen);
	/* A future version is of another screen. */
	if (v.options.since > screen_version(screen))
		v.options.since = 0;
	if (v.format == FORMAT_JSON)
		reply_lines(r, screen, &v, screen_json(screen), v.options.to);
	else
		reply_text(r, screen, &v);
}

static void reply_lines_gone(struct request *r, const struct session *s, const struct screen *screen)
{
	reply_error(r, "RANGE_GONE", "The lines are no longer or not yet in the scrollback",
		json_pack("{s:s, s:I, s:I, s:I}", "sessionId", session_id(s), "first",
			(json_int_t)screen_dropped(screen), "screen", (json_int_t)base_of(screen),
			"end", (json_int_t)end_of(screen)));
}

static void show_scrollback(struct request *r, struct session *s)
{
	struct view v = {0};
	const struct screen *screen = parse_view(r, &v) ? find_screen(r, s) : NULL;
	if (!screen)
		return;
	uint64_t first = screen_dropped(screen), base = base_of(screen);
	uint64_t end = end_of(screen), from = first, to = base;
	if (!query_number(r, "from", INT64_MAX, &from) || !query_number(r, "to", INT64_MAX, &to))
		return;
	if (from < first || from > end) {
		reply_lines_gone(r, s, screen);
		return;
	}
	to = to > end ? end : to;
	unsigned most = v.format == FORMAT_JSON ? JSON_LINES_MAX : TEXT_LINES_MAX;
	v.options.since = 0;
	v.options.from = from;
	v.options.to = to > from + most ? from + most : to;
	if (v.format != FORMAT_JSON)
		reply_text(r, screen, &v);
	else
		reply_lines(r, screen, &v,
			json_pack("{s:I, s:i, s:o}", "from", (json_int_t)from, "cols",
				(int)screen_cols(screen), "scrollback", scrollback_json(screen)),
			to);
}

/* Searching */

struct search_query {
	const char *text;
	bool regex, exact_case;
	uint64_t limit;
	uint64_t before_line, before_offset; /* search backwards from here; UINT64_MAX: the end */
};

static bool parse_query(struct request *r, struct search_query *q)
{
	*q = (struct search_query){.text = request_param(r, "q"),
		.limit = MATCHES_DEFAULT,
		.before_line = UINT64_MAX,
		.before_offset = UINT64_MAX};
	if (!query_flag(r, "regex", &q->regex) || !query_flag(r, "case", &q->exact_case) ||
		!query_number(r, "limit", MATCHES_MAX, &q->limit) ||
		!query_number(r, "beforeLine", INT64_MAX, &q->before_line) ||
		!query_number(r, "beforeOffset", INT64_MAX, &q->before_offset))
		return false;
	if (q->text && *q->text && q->limit > 0)
		return true;
	return reply_invalid(r, q->limit == 0 ? "limit" : "q",
		q->limit == 0 ? "Must be at least 1" : "A text to search for is required",
		q->limit == 0 ? "invalid" : "required");
}

static json_t *match_json(const struct search_match *m)
{
	return json_pack("{s:o, s:I, s:i, s:i, s:o, s:o}", "line",
		m->line == SEARCH_NO_LINE ? json_null() : json_integer((json_int_t)m->line),
		"offset", (json_int_t)m->offset, "column", (int)m->column, "length",
		(int)m->columns, "match", make_text(m->match, m->match_length), "text",
		make_text(m->text, m->text_length));
}

/* Where to continue: {"beforeLine": N} or {"beforeOffset": N}; null: nothing is left. */
static json_t *next_json(const struct search *search)
{
	if (search->next_line > 0)
		return json_pack("{s:I}", "beforeLine", (json_int_t)search->next_line);
	if (search->next_offset > 0)
		return json_pack("{s:I}", "beforeOffset", (json_int_t)search->next_offset);
	return json_null();
}

/* A search on a worker. */
struct search_job {
	struct look_task task;
	struct search_query query; /* without the text */
	struct pattern *pattern;
	struct search found;
	const struct stream *bytes; /* of the session, which outlives the task */
	bool searched;              /* there was a screen */
	int error;
};

/* Search the lines, then the older output in the ring, as far as requested. */
static int search_all(struct search_job *q, const struct screen *screen)
{
	struct search *search = &q->found;
	uint64_t border = search_border(screen);
	bool lines = q->query.before_offset == UINT64_MAX;
	int rc = lines ? search_screen(search, screen, q->query.before_line) : 0;
	if (rc < 0 || search->next_line > 0)
		return rc;
	if (!lines && q->query.before_offset < border)
		border = q->query.before_offset;
	if (search->work > 0 && search->count < search->limit)
		return search_ring(search, q->bytes, border);
	search->next_offset = border > stream_oldest(q->bytes) ? border : 0;
	return 0;
}

static void run_search(struct look_task *task, const struct screen *screen)
{
	struct search_job *q = (struct search_job *)(void *)task; /* its first member */
	q->searched = screen != NULL;
	q->error = screen ? search_all(q, screen) : 0;
}

static void destroy_search(struct look_task *task)
{
	struct search_job *q = (struct search_job *)(void *)task;
	search_finish(&q->found);
	pattern_destroy(q->pattern);
	free(q);
}

/* Parse the query; the pattern is owned by the caller. Returns false after it has answered r. */
static bool parse_search(struct request *r, struct search_query *q, struct pattern **ret_pattern)
{
	const char *problem;
	if (!parse_query(r, q))
		return false;
	unsigned flags = (q->regex ? PATTERN_REGEX : 0u) | (q->exact_case ? 0u : PATTERN_ANY_CASE);
	int rc = pattern_create(ret_pattern, q->text, strlen(q->text), flags, &problem);
	if (rc == -EINVAL) {
		char message[128];
		snprintf(message, sizeof message, "Invalid pattern: %s", problem);
		return reply_invalid(r, "q", message, "invalid");
	}
	return rc == 0 || refuse_memory(r);
}

static void reply_search(struct request *r, struct session *s, struct look_task *task)
{
	struct search_job *q = (struct search_job *)(void *)task;
	if (!q->searched) {
		reply_no_screen(r, s);
	} else if (q->error < 0) {
		refuse_memory(r);
	} else {
		json_t *matches = json_array();
		for (size_t i = 0; i < q->found.count; i++)
			json_array_append_new(matches, match_json(&q->found.matches[i]));
		reply_success(r,
			json_pack("{s:o, s:o}", "next", next_json(&q->found), "matches", matches));
	}
	destroy_search(task);
}

/* Requests are validated before they wait for the screen. */

static void wait_and_show_screen(struct request *r, struct session *s)
{
	struct view v = {0};
	if (parse_view(r, &v))
		with_screen_in_turn(r, s, show_screen);
}

static void wait_and_show_scrollback(struct request *r, struct session *s)
{
	struct view v = {0};
	if (parse_view(r, &v))
		with_screen_in_turn(r, s, show_scrollback);
}

static void search_session(struct request *r, struct session *s)
{
	struct search_query query;
	struct pattern *pattern;
	if (!parse_search(r, &query, &pattern))
		return;
	struct search_job *q = malloc(sizeof *q);
	if (!q) {
		pattern_destroy(pattern);
		refuse_memory(r);
		return;
	}
	query.text = NULL; /* borrowed from the request */
	*q = (struct search_job){.task = {.work = run_search, .destroy = destroy_search},
		.query = query,
		.pattern = pattern,
		.found = {.pattern = pattern, .limit = (unsigned)query.limit, .work = SEARCH_WORK},
		.bytes = session_bytes(s)};
	with_screen_task(r, s, &q->task, reply_search);
}

const struct route_row api_screen_rows[] = {
	{METHOD_GET, "/api/session/{}/screen", ROUTE_VIEWER, .session = wait_and_show_screen},
	{METHOD_GET, "/api/session/{}/scrollback", ROUTE_VIEWER, .session = wait_and_show_scrollback},
	{METHOD_GET, "/api/session/{}/search", ROUTE_VIEWER, .session = search_session},
	{.path = NULL},
};
