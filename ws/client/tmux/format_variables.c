/* The built-in variables of formats. Those that have no meaning here are empty, as unknown ones in tmux. */
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/layout.h"
#include "ws/client/tmux/layout_text.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/target.h"
#include "ws/client/tmux/backend.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

/* What a place must have for a variable to have a value. */
enum need { NONE, SESSION, LINK, WINDOW, PANE };

struct fact {
	const char *name;
	enum need need;
	char *(*find)(const struct format *f);
};

static char *say(const struct format *f, const char *text)
{
	return arena_copy(&f->t->arena, text);
}

static char *number(const struct format *f, long long n)
{
	return arena_print(&f->t->arena, "%lld", n);
}

static char *flag(const struct format *f, bool yes)
{
	return say(f, yes ? "1" : "0");
}

/* A field of the pane's screen. */
static const json_t *screen(const struct format *f, const char *field)
{
	return json_object_get(backend_screen(f->t, f->at.pane), field);
}

static const json_t *part(const struct format *f, const char *object, const char *field)
{
	return json_object_get(screen(f, object), field);
}

static char *screen_number(const struct format *f, const char *object, const char *field)
{
	return number(f, json_integer_value(part(f, object, field)));
}

static char *mode(const struct format *f, const char *name)
{
	return flag(f, json_is_true(part(f, "modes", name)));
}

static const struct cell *cell(const struct format *f)
{
	static const struct cell none;
	return f->at.pane->cell ? f->at.pane->cell : &none;
}

static bool zoomed(const struct format *f)
{
	return f->at.window->zoomed && f->at.window->active == f->at.pane;
}

static int cols(const struct format *f)
{
	return zoomed(f) ? (int)f->at.window->cols : cell(f)->cols;
}

static int rows(const struct format *f)
{
	return zoomed(f) ? (int)f->at.window->rows : cell(f)->rows;
}

static char *host(const struct format *f, bool whole)
{
	char name[256] = "";
	gethostname(name, sizeof name - 1);
	if (!whole)
		name[strcspn(name, ".")] = '\0';
	return say(f, name);
}

static char *pane_title(const struct format *f)
{
	const struct pane *p = f->at.pane;
	const char *own = json_string_value(screen(f, "title"));
	if (p->title && strcmp(own ? own : "", p->title_replaced) == 0)
		return say(f, p->title);
	return own && *own ? say(f, own) : host(f, true);
}

static char *pane_tty(const struct format *f)
{
	char path[64], name[PATH_MAX];
	int pid = (int)json_integer_value(json_object_get(f->at.pane->info, "pid"));
	snprintf(path, sizeof path, "/proc/%d/fd/0", pid);
	ssize_t n = pid > 0 ? readlink(path, name, sizeof name - 1) : -1;
	return n > 0 && strncmp(name, "/dev/", 5) == 0 ? arena_copy_n(&f->t->arena, name, (size_t)n)
						       : say(f, "");
}

static unsigned attached(const struct session *s)
{
	unsigned most = 0;
	const struct link *l;
	const struct pane *p;
	DL_FOREACH (s->links, l) {
		DL_FOREACH (l->window->panes, p) {
			unsigned n = (unsigned)json_integer_value(
				json_object_get(p->info, "clients"));
			most = n > most ? n : most;
		}
	}
	return most;
}

static char *window_flags(const struct format *f, bool raw)
{
	const struct link *l = f->at.link;
	const struct pane *marked = f->t->model.marked < 0
		? NULL
		: model_pane_by_id(&f->t->model, (unsigned)f->t->model.marked);
	(void)raw; /* raw would not escape "#", the flag of activity, which is never set */
	return arena_print(&f->t->arena, "%s%s%s%s", l == l->session->current ? "*" : "",
		l == model_last_link(l->session) ? "-" : "",
		marked && marked->window == l->window ? "M" : "", l->window->zoomed ? "Z" : "");
}

static unsigned links_of(const struct format *f)
{
	return model_count_links_to(&f->t->model, f->at.window);
}

/* The name of the session of each link of a window, or of each current one, with commas. */
static char *sessions_of(const struct format *f, bool current)
{
	struct text names = {.arena = &f->t->arena};
	const struct session *s;
	const struct link *l;
	DL_FOREACH (f->t->model.sessions, s)
		DL_FOREACH (s->links, l)
			if (l->window == f->at.window && (!current || l == s->current))
				text_print(&names, "%s%s", names.length > 0 ? "," : "", s->name);
	return text_get(&names);
}

static unsigned current_in(const struct format *f)
{
	unsigned n = 0;
	const struct session *s;
	DL_FOREACH (f->t->model.sessions, s)
		n += s->current->window == f->at.window;
	return n;
}

/* The position of a window among those that were the current one, the latest first; 0: the current one, or never. */
static unsigned stack_index(const struct link *of)
{
	const struct link *l;
	unsigned n = 1;
	if (of->turn == 0 || of == of->session->current)
		return 0;
	DL_FOREACH (of->session->links, l)
		n += l != of->session->current && l->turn > of->turn;
	return n;
}

/* The indices of windows, the last used one first. */
static char *session_stack(const struct format *f)
{
	const struct link *l;
	const struct session *s = f->at.session;
	struct text indices = {.arena = &f->t->arena};
	text_print(&indices, "%d", s->current->index);
	for (unsigned i = 1; i < model_count_links(s); i++)
		DL_FOREACH (s->links, l)
			if (stack_index(l) == i)
				text_print(&indices, ",%d", l->index);
	return text_get(&indices);
}

static char *window_marked(const struct format *f)
{
	const struct pane *p = f->t->model.marked < 0
		? NULL
		: model_pane_by_id(&f->t->model, (unsigned)f->t->model.marked);
	return flag(f, p && p->window == f->at.link->window);
}

static char *mouse(const struct format *f, const char *kind)
{
	return flag(f, strcmp(answer_text(screen(f, "modes"), "mouse"), kind) == 0);
}

static char *mouse_sgr(const struct format *f)
{
	return flag(f, strncmp(answer_text(screen(f, "modes"), "mouseEncoding"), "sgr", 3) == 0);
}

/* The cursor before the alternate screen, which the server does not report. UINT_MAX, as in tmux: none. */
static char *saved(const struct format *f)
{
	return json_is_true(screen(f, "alternate")) ? say(f, "0") : number(f, UINT_MAX);
}

/* Default tab stops: the server does not report those that programs set. */
static char *pane_tabs(const struct format *f)
{
	struct text tabs = {.arena = &f->t->arena};
	for (int i = 8; i < cols(f); i += 8)
		text_print(&tabs, "%s%d", i > 8 ? "," : "", i);
	return text_get(&tabs);
}

static char *pane_mark(const struct format *f, bool is_set)
{
	return flag(f,
		f->t->model.marked >= 0 &&
			(is_set || (unsigned)f->t->model.marked == f->at.pane->id));
}

static char *start_command(const struct format *f)
{
	return say(f, f->at.pane->command);
}

static char *ended(const struct format *f, bool signalled)
{
	const struct pane *p = f->at.pane;
	return p->dead && p->signalled == signalled && p->status >= 0 ? number(f, p->status) : NULL;
}

static char *history(const struct format *f, bool size)
{
	int64_t first, limit, count = backend_history(f->t, f->at.pane, &first, &limit);
	return number(f, size ? count : limit);
}

#define FACT(name, expression)                           \
	static char *find_##name(const struct format *f) \
	{                                                \
		return expression;                       \
	}

FACT(host, host(f, true))
FACT(host_short, host(f, false))
FACT(pid, number(f, f->t->model.pid))
FACT(socket_path, say(f, f->t->path))
FACT(version, say(f, TMUX_VERSION))
FACT(uid, number(f, geteuid()))
FACT(empty, say(f, ""))
FACT(zero, say(f, "0"))
FACT(one, say(f, "1"))
FACT(session_name, say(f, f->at.session->name))
FACT(session_id, arena_print(&f->t->arena, "$%u", f->at.session->id))
FACT(session_windows, number(f, model_count_links(f->at.session)))
FACT(session_path, say(f, f->at.session->cwd))
FACT(session_attached, number(f, attached(f->at.session)))
FACT(session_many_attached, flag(f, attached(f->at.session) > 1))
FACT(session_marked,
	flag(f,
		f->t->model.marked >= 0 &&
			model_pane_by_id(&f->t->model, (unsigned)f->t->model.marked) &&
			model_link_of(f->at.session,
				model_pane_by_id(&f->t->model, (unsigned)f->t->model.marked)->window)))
FACT(window_index, number(f, f->at.link->index))
FACT(window_id, arena_print(&f->t->arena, "@%u", f->at.window->id))
FACT(window_name, backend_window_name(f->t, f->at.window))
FACT(window_active, flag(f, f->at.link == f->at.session->current))
FACT(window_last_flag, flag(f, f->at.link == model_last_link(f->at.session)))
FACT(window_start_flag, flag(f, f->at.link == f->at.session->links))
FACT(window_end_flag, flag(f, !f->at.link->next))
FACT(window_flags, window_flags(f, false))
FACT(window_raw_flags, window_flags(f, true))
FACT(window_panes, number(f, model_count_panes(f->at.window)))
FACT(window_width, number(f, f->at.window->cols))
FACT(window_height, number(f, f->at.window->rows))
FACT(window_layout, layout_text_write(&f->t->arena, f->at.window->layout))
FACT(window_visible_layout, layout_text_write_zoomed(&f->t->arena, f->at.window))
FACT(window_zoomed_flag, flag(f, f->at.window->zoomed))
FACT(window_linked, flag(f, links_of(f) > 1))
FACT(window_linked_sessions, number(f, links_of(f)))
FACT(window_cell_width, say(f, "0"))
FACT(session_stack, session_stack(f))
FACT(active_window_index, number(f, f->at.session->current->index))
FACT(last_window_index, number(f, f->at.session->links->prev->index))
FACT(next_session_id, arena_print(&f->t->arena, "$%u", f->t->model.next_session))
FACT(window_stack_index, number(f, stack_index(f->at.link)))
FACT(window_marked_flag, window_marked(f))
FACT(window_active_sessions, number(f, current_in(f)))
FACT(window_active_sessions_list, sessions_of(f, true))
FACT(window_linked_sessions_list, sessions_of(f, false))
FACT(pane_tabs, pane_tabs(f))
FACT(usual, say(f, "default"))
FACT(mouse_standard, mouse(f, "vt200"))
FACT(mouse_button, mouse(f, "drag"))
FACT(mouse_all, mouse(f, "any"))
FACT(pane_id, arena_print(&f->t->arena, "%%%u", f->at.pane->id))
FACT(pane_index, number(f, target_pane_index(f->t, f->at.pane)))
FACT(pane_active, flag(f, f->at.pane == f->at.window->active))
FACT(pane_last, flag(f, f->at.pane == f->at.window->last))
FACT(pane_width, number(f, cols(f)))
FACT(pane_height, number(f, rows(f)))
FACT(pane_left, number(f, zoomed(f) ? 0 : cell(f)->x))
FACT(pane_top, number(f, zoomed(f) ? 0 : cell(f)->y))
FACT(pane_right, number(f, (zoomed(f) ? 0 : cell(f)->x) + cols(f) - 1))
FACT(pane_bottom, number(f, (zoomed(f) ? 0 : cell(f)->y) + rows(f) - 1))
FACT(pane_at_left, flag(f, zoomed(f) || cell(f)->x == 0))
FACT(pane_at_top, flag(f, zoomed(f) || cell(f)->y == 0))
FACT(pane_at_right, flag(f, zoomed(f) || cell(f)->x + cell(f)->cols == (int)f->at.window->cols))
FACT(pane_at_bottom, flag(f, zoomed(f) || cell(f)->y + cell(f)->rows == (int)f->at.window->rows))
FACT(pane_title, pane_title(f))
FACT(pane_tty, pane_tty(f))
FACT(pane_pid, number(f, json_integer_value(json_object_get(f->at.pane->info, "pid"))))
FACT(pane_current_command, backend_command(f->t, f->at.pane))
FACT(pane_current_path, backend_directory(f->t, f->at.pane))
FACT(pane_path,
	say(f, json_string_value(screen(f, "cwd")) ? json_string_value(screen(f, "cwd")) : ""))
FACT(pane_start_command, start_command(f))
FACT(pane_start_path, say(f, f->at.pane->cwd))
FACT(pane_dead, flag(f, f->at.pane->dead))
FACT(pane_dead_status, ended(f, false))
FACT(pane_dead_signal, ended(f, true))
FACT(pane_pipe,
	flag(f,
		f->at.pane->pipe > 0 &&
			backend_process_start(f->at.pane->pipe) == f->at.pane->pipe_start_time))
FACT(pane_marked, pane_mark(f, false))
FACT(pane_marked_set, pane_mark(f, true))
FACT(pane_synchronized,
	flag(f, strcmp(settings_of_pane(f->t, f->at.pane, "synchronize-panes"), "on") == 0))
FACT(pane_input_off, flag(f, f->at.pane->input_off))
FACT(ringside_session, say(f, f->at.pane->session))
FACT(cursor_x, screen_number(f, "cursor", "col"))
FACT(cursor_y, screen_number(f, "cursor", "row"))
FACT(cursor_flag, flag(f, json_is_true(part(f, "cursor", "visible"))))
FACT(history_size, history(f, true))
FACT(history_limit, history(f, false))
FACT(history_bytes, number(f, json_integer_value(screen(f, "offset"))))
FACT(alternate_on, flag(f, json_is_true(screen(f, "alternate"))))
FACT(keypad_flag, mode(f, "applicationKeypad"))
FACT(keypad_cursor_flag, mode(f, "applicationCursor"))
FACT(wrap_flag, mode(f, "wraparound"))
FACT(origin_flag, mode(f, "origin"))
FACT(mouse_sgr_flag, mouse_sgr(f))
FACT(alternate_saved, saved(f))
FACT(insert_flag, mode(f, "insert"))
FACT(mouse_any_flag, flag(f, strcmp(answer_text(screen(f, "modes"), "mouse"), "none") != 0))
FACT(scroll_region_lower, number(f, rows(f) - 1))

static const struct fact facts[] = {
	{"host", NONE, find_host},
	{"host_short", NONE, find_host_short},
	{"pid", NONE, find_pid},
	{"socket_path", NONE, find_socket_path},
	{"version", NONE, find_version},
	{"uid", NONE, find_uid},
	{"session_name", SESSION, find_session_name},
	{"session_id", SESSION, find_session_id},
	{"session_windows", SESSION, find_session_windows},
	{"session_path", SESSION, find_session_path},
	{"session_attached", SESSION, find_session_attached},
	{"session_many_attached", SESSION, find_session_many_attached},
	{"session_grouped", SESSION, find_zero},
	{"session_group", SESSION, find_empty},
	{"session_alerts", SESSION, find_empty},
	{"session_attached_list", SESSION, find_empty},
	{"session_marked", SESSION, find_session_marked},
	{"session_format", NONE, find_zero},
	{"session_stack", SESSION, find_session_stack},
	{"active_window_index", SESSION, find_active_window_index},
	{"last_window_index", SESSION, find_last_window_index},
	{"next_session_id", NONE, find_next_session_id},
	{"window_stack_index", LINK, find_window_stack_index},
	{"window_marked_flag", LINK, find_window_marked_flag},
	{"window_active_clients", WINDOW, find_zero},
	{"window_active_sessions", WINDOW, find_window_active_sessions},
	{"window_active_sessions_list", WINDOW, find_window_active_sessions_list},
	{"window_linked_sessions_list", WINDOW, find_window_linked_sessions_list},
	{"window_index", LINK, find_window_index},
	{"window_active", LINK, find_window_active},
	{"window_last_flag", LINK, find_window_last_flag},
	{"window_start_flag", LINK, find_window_start_flag},
	{"window_end_flag", LINK, find_window_end_flag},
	{"window_flags", LINK, find_window_flags},
	{"window_raw_flags", LINK, find_window_raw_flags},
	{"window_id", WINDOW, find_window_id},
	{"window_name", WINDOW, find_window_name},
	{"window_panes", WINDOW, find_window_panes},
	{"window_width", WINDOW, find_window_width},
	{"window_height", WINDOW, find_window_height},
	{"window_layout", WINDOW, find_window_layout},
	{"window_visible_layout", WINDOW, find_window_visible_layout},
	{"window_zoomed_flag", WINDOW, find_window_zoomed_flag},
	{"window_linked", WINDOW, find_window_linked},
	{"window_linked_sessions", WINDOW, find_window_linked_sessions},
	{"window_cell_width", WINDOW, find_window_cell_width},
	{"window_cell_height", WINDOW, find_window_cell_width},
	{"window_activity_flag", WINDOW, find_zero},
	{"window_bell_flag", WINDOW, find_zero},
	{"window_silence_flag", WINDOW, find_zero},
	{"window_bigger", WINDOW, find_empty},
	{"pane_id", PANE, find_pane_id},
	{"pane_index", PANE, find_pane_index},
	{"pane_active", PANE, find_pane_active},
	{"pane_last", PANE, find_pane_last},
	{"pane_width", PANE, find_pane_width},
	{"pane_height", PANE, find_pane_height},
	{"pane_left", PANE, find_pane_left},
	{"pane_top", PANE, find_pane_top},
	{"pane_right", PANE, find_pane_right},
	{"pane_bottom", PANE, find_pane_bottom},
	{"pane_at_left", PANE, find_pane_at_left},
	{"pane_at_top", PANE, find_pane_at_top},
	{"pane_at_right", PANE, find_pane_at_right},
	{"pane_at_bottom", PANE, find_pane_at_bottom},
	{"pane_title", PANE, find_pane_title},
	{"pane_tty", PANE, find_pane_tty},
	{"pane_pid", PANE, find_pane_pid},
	{"pane_current_command", PANE, find_pane_current_command},
	{"pane_current_path", PANE, find_pane_current_path},
	{"pane_path", PANE, find_pane_path},
	{"pane_start_command", PANE, find_pane_start_command},
	{"pane_start_path", PANE, find_pane_start_path},
	{"pane_dead", PANE, find_pane_dead},
	{"pane_dead_status", PANE, find_pane_dead_status},
	{"pane_dead_signal", PANE, find_pane_dead_signal},
	{"pane_pipe", PANE, find_pane_pipe},
	{"pane_marked", PANE, find_pane_marked},
	{"pane_marked_set", PANE, find_pane_marked_set},
	{"pane_synchronized", PANE, find_pane_synchronized},
	{"pane_in_mode", PANE, find_zero},
	{"pane_mode", PANE, find_empty},
	{"pane_input_off", PANE, find_pane_input_off},
	{"pane_format", NONE, find_one},
	{"pane_search_string", PANE, find_empty},
	{"pane_tabs", PANE, find_pane_tabs},
	{"pane_fg", PANE, find_usual},
	{"pane_bg", PANE, find_usual},
	{"cursor_x", PANE, find_cursor_x},
	{"cursor_y", PANE, find_cursor_y},
	{"cursor_flag", PANE, find_cursor_flag},
	{"history_size", PANE, find_history_size},
	{"history_limit", PANE, find_history_limit},
	{"history_bytes", PANE, find_history_bytes},
	{"alternate_on", PANE, find_alternate_on},
	{"keypad_flag", PANE, find_keypad_flag},
	{"keypad_cursor_flag", PANE, find_keypad_cursor_flag},
	{"wrap_flag", PANE, find_wrap_flag},
	{"origin_flag", PANE, find_origin_flag},
	{"insert_flag", PANE, find_insert_flag},
	{"mouse_sgr_flag", PANE, find_mouse_sgr_flag},
	{"mouse_utf8_flag", PANE, find_zero},
	{"alternate_saved_x", PANE, find_alternate_saved},
	{"alternate_saved_y", PANE, find_alternate_saved},
	{"mouse_any_flag", PANE, find_mouse_any_flag},
	{"mouse_standard_flag", PANE, find_mouse_standard},
	{"mouse_button_flag", PANE, find_mouse_button},
	{"mouse_all_flag", PANE, find_mouse_all},
	{"scroll_region_upper", PANE, find_zero},
	{"scroll_region_lower", PANE, find_scroll_region_lower},
	{"ringside_session", PANE, find_ringside_session},
	{"window_format", NONE, find_zero},
	{"buffer_mode_format", NONE, find_empty},
};

static bool is_there(const struct format *f, enum need need)
{
	return need == NONE || (need == SESSION && f->at.session) || (need == LINK && f->at.link) ||
		(need == WINDOW && f->at.window) || (need == PANE && f->at.pane);
}

static time_t start_time(const struct format *f)
{
	return (time_t)f->t->model.started;
}

static time_t session_created(const struct format *f)
{
	return (time_t)(f->at.session->created / 1000000);
}

static time_t session_activity(const struct format *f)
{
	return (time_t)(f->at.session->activity / 1000000);
}

static time_t window_activity(const struct format *f)
{
	return (time_t)f->at.window->activity;
}

static time_t pane_dead_time(const struct format *f)
{
	return f->at.pane->dead ? (time_t)f->at.pane->died_at : 0;
}

/* Variables that are times; 0: none. */
static const struct {
	const char *name;
	enum need need;
	time_t (*find)(const struct format *f);
} times[] = {
	{"start_time", NONE, start_time},
	{"session_created", SESSION, session_created},
	{"session_activity", SESSION, session_activity},
	{"window_activity", WINDOW, window_activity},
	{"pane_dead_time", PANE, pane_dead_time},
};

#define FACTS (sizeof facts / sizeof *facts)
#define TIMES (sizeof times / sizeof *times)

const char *format_variables_name(size_t i)
{
	if (i < FACTS)
		return facts[i].name;
	return i - FACTS < TIMES ? times[i - FACTS].name : NULL;
}

char *format_variables_find(const struct format *f, const char *name, time_t *ret_time)
{
	for (size_t i = 0; i < FACTS; i++)
		if (strcmp(facts[i].name, name) == 0)
			return is_there(f, facts[i].need) ? facts[i].find(f) : NULL;
	*ret_time = 0;
	for (size_t i = 0; i < TIMES; i++)
		if (strcmp(times[i].name, name) == 0 && is_there(f, times[i].need))
			*ret_time = times[i].find(f);
	return NULL;
}
