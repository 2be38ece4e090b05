/* Targets, after cmd-find.c of tmux. A name is matched exactly, then as a prefix, then as a glob. */
#include "ws/client/tmux/target.h"

#include "ws/client/tmux/layout.h"
#include "ws/client/tmux/settings.h"
#include "ws/client/tmux/backend.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* The state of resolving a target. */
struct search {
	struct tmux *t;
	struct place here; /* current place */
	struct place at;   /* found so far */
	bool exact_session, exact_window, window_only, pane_only, indices;
};

/* Fill in a place of which only the pane, window or session is set. */
static void complete(struct tmux *t, struct place *p)
{
	if (p->pane)
		p->window = p->pane->window;
	if (p->window && p->session && !p->link)
		p->link = model_link_of(p->session, p->window);
	if (p->window && !p->link)
		p->link = model_last_used_link(&t->model, p->window);
	if (p->session && !p->link && !p->window)
		p->link = p->session->current;
	if (p->link) {
		p->session = p->link->session;
		p->window = p->link->window;
		p->index = p->link->index;
	}
	if (p->window && !p->pane)
		p->pane = p->window->active;
}

bool target_current(struct tmux *t, struct place *ret_place)
{
	struct place p = {.index = -1};
	if (t->pane >= 0)
		p.pane = model_pane_by_id(&t->model, (unsigned)t->pane);
	if (!p.pane)
		p.session = model_last_used_session(&t->model);
	complete(t, &p);
	*ret_place = p;
	return p.session != NULL;
}

unsigned target_pane_index(struct tmux *t, const struct pane *p)
{
	unsigned n = (unsigned)strtoul(
		settings_of_window(t, p->window, "pane-base-index"), NULL, 10);
	const struct pane *other;
	DL_FOREACH (p->window->panes, other) {
		if (other == p)
			break;
		n++;
	}
	return n;
}

/* Parse a whole word as a number. */
static bool read_index(const char *text, int *ret_number)
{
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	long n = strtol(text, &end, 10);
	if (*end || n > INT_MAX)
		return false;
	*ret_number = (int)n;
	return true;
}

static bool find_session(struct search *f, const char *name)
{
	size_t count;
	int id;
	struct session *found = NULL;
	if (*name == '$' && read_index(name + 1, &id)) {
		f->at.session = model_session_by_id(&f->t->model, (unsigned)id);
		return f->at.session != NULL;
	}
	f->at.session = model_session_by_name(&f->t->model, name);
	if (f->at.session || f->exact_session)
		return f->at.session != NULL;
	struct session **sorted = model_sessions_sorted(&f->t->model, &count);
	for (int patterns = 0; patterns < 2 && !found; patterns++) {
		for (size_t i = 0; i < count; i++) {
			bool fits = patterns ? fnmatch(name, sorted[i]->name, 0) == 0
					     : strncmp(name, sorted[i]->name, strlen(name)) == 0;
			if (fits && found)
				return false;
			found = fits ? sorted[i] : found;
		}
	}
	f->at.session = found;
	return found != NULL;
}

/* "+2", "-": a window relative to the current one. */
static bool find_offset(struct search *f, const char *text)
{
	int n = 1;
	struct session *s = f->at.session;
	struct link *l = s->current;
	if (text[1] && !read_index(text + 1, &n))
		return false;
	if (f->indices) {
		f->at.index = l->index + (*text == '+' ? n : -n);
		f->at.link = f->at.index < 0 ? NULL : model_link_at(s, f->at.index);
		return f->at.index >= 0;
	}
	unsigned count = model_count_links(s);
	for (unsigned i = 0; i < (unsigned)n % count; i++) {
		if (*text == '+')
			l = l->next ? l->next : s->links;
		else
			l = l->prev; /* in utlist, the first's prev is the last */
	}
	f->at.link = l;
	return true;
}

static bool find_window_by_name(struct search *f, const char *name)
{
	struct link *l, *found = NULL;
	for (int how = 0; how < (f->exact_window ? 1 : 3) && !found; how++) {
		DL_FOREACH (f->at.session->links, l) {
			const char *own = backend_window_name(f->t, l->window);
			bool fits = how == 0 ? strcmp(own, name) == 0
				: how == 1   ? strncmp(own, name, strlen(name)) == 0
					     : fnmatch(name, own, 0) == 0;
			if (fits && found)
				return false;
			found = fits ? l : found;
		}
	}
	f->at.link = found;
	return found != NULL;
}

static bool find_window_in(struct search *f, const char *name)
{
	struct session *s = f->at.session;
	int n;
	if (*name == '@' && read_index(name + 1, &n)) {
		struct window *w = model_window_by_id(&f->t->model, (unsigned)n);
		f->at.link = w ? model_link_of(s, w) : NULL;
		return f->at.link != NULL;
	}
	if (!f->exact_window && (*name == '+' || *name == '-'))
		return find_offset(f, name);
	if (!f->exact_window &&
		(strcmp(name, "!") == 0 || strcmp(name, "^") == 0 || strcmp(name, "$") == 0)) {
		f->at.link = *name == '!' ? model_last_link(s)
			: *name == '^'    ? s->links
					  : s->links->prev;
		return f->at.link != NULL;
	}
	if (read_index(name, &n)) {
		f->at.link = model_link_at(s, n);
		f->at.index = n;
		if (f->at.link || f->indices)
			return true;
	}
	f->at.index = -1;
	return find_window_by_name(f, name);
}

static bool find_window(struct search *f, const char *name)
{
	int n;
	if (*name == '@' && read_index(name + 1, &n)) {
		f->at.window = model_window_by_id(&f->t->model, (unsigned)n);
		if (f->at.window && f->here.session && model_link_of(f->here.session, f->at.window))
			f->at.session = f->here.session;
		return f->at.window != NULL;
	}
	f->at.session = f->here.session;
	if (f->at.session && find_window_in(f, name))
		return true;
	if (f->window_only || f->exact_window || !find_session(f, name))
		return false;
	f->at.link = f->at.session->current;
	f->at.index = -1;
	return true;
}

/* The pane at a side or corner of a window, such as "top-left", or NULL. */
static struct pane *find_described(const struct window *w, const char *name)
{
	static const char *const words[] = {"top", "bottom", "left", "right", "top-left",
		"top-right", "bottom-left", "bottom-right"};
	static const int wanted[][2] = {
		{1, 0}, {1, 2}, {0, 1}, {2, 1}, {0, 0}, {2, 0}, {0, 2}, {2, 2}};
	struct pane *p;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(words[i], name) != 0)
			continue;
		int x = wanted[i][0] * ((int)w->cols - 1) / 2,
		    y = wanted[i][1] * ((int)w->rows - 1) / 2;
		DL_FOREACH (w->panes, p)
			if (p->cell && x >= p->cell->x && x <= p->cell->x + p->cell->cols &&
				y >= p->cell->y && y <= p->cell->y + p->cell->rows)
				return p;
	}
	return NULL;
}

/* The neighbour of a pane on a side: l, r, u or d. At the edge of the window, the pane at the opposite edge. */
static struct pane *find_beside(struct pane *from, char side)
{
	struct pane *p, *best = NULL;
	const struct window *w = from->window;
	const struct cell *c = from->cell, *o;
	bool upright = side == 'u' || side == 'd';
	int edge = side == 'l' ? c->x
		: side == 'r'  ? c->x + c->cols + 1
		: side == 'u'  ? c->y
			       : c->y + c->rows + 1;
	if ((side == 'l' || side == 'u') && edge == 0)
		edge = (int)(upright ? w->rows : w->cols) + 1;
	if ((side == 'r' || side == 'd') && edge >= (int)(upright ? w->rows : w->cols))
		edge = 0;
	DL_FOREACH (w->panes, p) {
		o = p->cell;
		int far = upright ? o->y + o->rows + 1 : o->x + o->cols + 1,
		    near = upright ? o->y : o->x;
		int begin = upright ? o->x : o->y, end = upright ? o->x + o->cols : o->y + o->rows;
		int from_begin = upright ? c->x : c->y,
		    from_end = upright ? c->x + c->cols : c->y + c->rows;
		bool touches = (side == 'l' || side == 'u') ? far == edge : near == edge;
		if (p != from && touches && begin <= from_end && end >= from_begin &&
			(!best || p->turn > best->turn))
			best = p;
	}
	return best;
}

static bool find_pane_in(struct search *f, const char *name)
{
	struct window *w = f->at.window;
	struct pane *p = w->active;
	int n = 1;
	if (*name == '%' && read_index(name + 1, &n)) {
		p = model_pane_by_id(&f->t->model, (unsigned)n);
		f->at.pane = p && p->window == w ? p : NULL;
	} else if (strcmp(name, "!") == 0) {
		f->at.pane = w->last;
	} else if (strcmp(name, "{up-of}") == 0 || strcmp(name, "{down-of}") == 0 ||
		strcmp(name, "{left-of}") == 0 || strcmp(name, "{right-of}") == 0) {
		f->at.pane = find_beside(p, name[1]);
	} else if ((*name == '+' || *name == '-') && (!name[1] || read_index(name + 1, &n))) {
		unsigned steps = (unsigned)n % model_count_panes(w);
		for (unsigned i = 0; i < steps; i++)
			p = *name == '-' ? p->prev : p->next ? p->next : w->panes;
		f->at.pane = p;
	} else if (read_index(name, &n)) {
		f->at.pane = NULL;
		DL_FOREACH (w->panes, p)
			if ((int)target_pane_index(f->t, p) == n)
				f->at.pane = p;
	} else {
		f->at.pane = find_described(w, name);
	}
	return f->at.pane != NULL;
}

static bool find_pane(struct search *f, const char *name)
{
	int n;
	if (*name == '%' && read_index(name + 1, &n)) {
		f->at.pane = model_pane_by_id(&f->t->model, (unsigned)n);
		return f->at.pane != NULL;
	}
	f->at = (struct place){.session = f->here.session,
		.link = f->here.link,
		.window = f->here.window,
		.index = -1};
	if (f->at.window && find_pane_in(f, name))
		return true;
	f->at = (struct place){.index = -1};
	return !f->pane_only && find_window(f, name);
}

/* The parts of "session:window.pane"; NULL: not given. */
struct parts {
	char *session, *window, *pane;
};

static void map(char **part, const char *const table[][2])
{
	for (size_t i = 0; *part && table[i][0]; i++)
		if (strcmp(*part, table[i][0]) == 0)
			*part = (char *)table[i][1];
	if (*part && !**part)
		*part = NULL;
}

static struct parts split(struct search *f, const char *spec, enum target_type type)
{
	static const char *const windows[][2] = {{"{start}", "^"}, {"{last}", "!"}, {"{end}", "$"},
		{"{next}", "+"}, {"{previous}", "-"}, {NULL, NULL}};
	static const char *const panes[][2] = {{"{last}", "!"}, {"{next}", "+"},
		{"{previous}", "-"}, {"{top}", "top"}, {"{bottom}", "bottom"}, {"{left}", "left"},
		{"{right}", "right"}, {"{top-left}", "top-left"}, {"{top-right}", "top-right"},
		{"{bottom-left}", "bottom-left"}, {"{bottom-right}", "bottom-right"}, {NULL, NULL}};
	struct parts p = {0};
	char *copy = arena_copy(&f->t->arena, spec), *colon = strchr(copy, ':');
	char *period = strchr(colon ? colon : copy, '.');
	if (colon)
		*colon++ = '\0';
	if (period)
		*period++ = '\0';
	f->window_only = colon != NULL;
	f->pane_only = period != NULL;
	p.pane = period;
	if (colon) {
		p.session = copy;
		p.window = colon;
	} else if (period) {
		p.window = copy;
	} else if (*copy == '$' || (*copy != '@' && *copy != '%' && type == TARGET_SESSION)) {
		p.session = copy;
	} else if (*copy == '@' || (*copy != '%' && type == TARGET_WINDOW)) {
		p.window = copy;
	} else {
		p.pane = copy;
	}
	if (p.session && *p.session == '=') {
		p.session++;
		f->exact_session = true;
	}
	if (p.window && *p.window == '=') {
		p.window++;
		f->exact_window = true;
	}
	map(&p.session, (const char *const[][2]){{NULL, NULL}});
	map(&p.window, windows);
	map(&p.pane, panes);
	return p;
}

static int refuse(struct search *f, unsigned flags, const char *what, const char *name)
{
	return flags & TARGET_QUIET ? 1 : tmux_error(f->t, "can't find %s: %s", what, name);
}

/* Resolve session, window and pane in this order, each within the one before. */
static int find_parts(struct search *f, const struct parts *p, unsigned flags)
{
	if (p->session && !find_session(f, p->session))
		return refuse(f, flags, "session", p->session);
	if (p->window && !(p->session ? find_window_in(f, p->window) : find_window(f, p->window)))
		return refuse(f, flags, "window", p->window);
	if (!p->pane)
		return 0;
	if (!p->session && !p->window)
		return find_pane(f, p->pane) ? 0 : refuse(f, flags, "pane", p->pane);
	struct place at = f->at;
	complete(f->t, &at);
	f->at = at;
	f->at.pane = NULL;
	if (!f->at.window || !find_pane_in(f, p->pane))
		return refuse(f, flags, "pane", p->pane);
	return 0;
}

int target_find(struct tmux *t, const char *spec, enum target_type type, unsigned flags,
	struct place *ret_place)
{
	struct search f = {.t = t, .at = {.index = -1}, .indices = (flags & TARGET_INDEX) != 0};
	bool here = target_current(t, &f.here);
	*ret_place = (struct place){.index = -1};
	if (spec && (strcmp(spec, "{mouse}") == 0 || strcmp(spec, "=") == 0))
		return flags & TARGET_QUIET ? 1 : tmux_error(t, "no mouse target");
	if (spec && (strcmp(spec, "{marked}") == 0 || strcmp(spec, "~") == 0)) {
		f.at.pane = t->model.marked < 0
			? NULL
			: model_pane_by_id(&t->model, (unsigned)t->model.marked);
		if (!f.at.pane)
			return flags & TARGET_QUIET ? 1 : tmux_error(t, "no marked target");
	} else {
		struct parts parts = split(&f, spec ? spec : "", type);
		if (!parts.session && !parts.window && !parts.pane) {
			if (!here)
				return flags & TARGET_QUIET ? 1 : tmux_error(t, "no current target");
			*ret_place = f.here;
			ret_place->index = -1;
			return 0;
		}
		int rc = find_parts(&f, &parts, flags);
		if (rc != 0) {
			*ret_place = (struct place){
				.session = parts.session ? f.at.session : NULL, .index = -1};
			complete(t, ret_place);
			return rc;
		}
	}
	int index = f.at.index;
	if (!(f.indices && index >= 0 && !f.at.link))
		complete(t, &f.at);
	f.at.index = index;
	*ret_place = f.at;
	return 0;
}
