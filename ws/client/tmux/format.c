/*
 * Expands formats, after format.c of tmux. A format beyond the depth limit is empty, as in tmux; at the limits
 * of steps and size, the text is_end.
 */
#include "ws/client/tmux/format.h"

#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/backend.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define MODIFIERS_MAX 32u
#define ARGUMENTS_MAX 8u
#define SIDE_LIMIT 10000

/* One modifier with its arguments. */
struct modifier {
	char name[3];
	char *args[ARGUMENTS_MAX];
	unsigned count;
};

/* The modifiers of a format. */
struct modifiers {
	struct modifier list[MODIFIERS_MAX];
	unsigned count;
	/* Set by apply_modifier(): */
	unsigned how; /* FORMAT_* */
	const char *time_format, *marker;
	const struct modifier *compare, *substitute, *expression, *search;
	int limit, width;
	char loop, special; /* S, W or P; l, a, N, n or c */
	bool expand, expand_time, length, columns;
};

static char *copy_of(struct format *f, const char *text, size_t length)
{
	return arena_copy_n(&f->t->arena, text, length);
}

bool format_is_true(const char *text)
{
	return text && *text && strcmp(text, "0") != 0;
}

char *format_at(struct tmux *t, const struct place *at, const char *text)
{
	struct format f = {.t = t, .at = *at};
	return format_expand(&f, text);
}

/* Find the first of the characters in end that is not inside a nested format, or NULL. */
static char *skip(const char *s, const char *end)
{
	int brackets = 0;
	for (; *s; s++) {
		if (*s == '#' && s[1] == '{')
			brackets++;
		if (*s == '#' && s[1] && strchr(",#{}:", s[1])) {
			s++;
			continue;
		}
		if (*s == '}')
			brackets--;
		if (strchr(end, *s) && brackets == 0)
			return (char *)s;
	}
	return NULL;
}

static bool is_end(char c)
{
	return c == ';' || c == ':';
}

/* Parse a modifier with arguments: "=10", "s/a/b/". Returns the text behind it, or NULL. */
static const char *parse_arguments(struct format *f, const char *cp, struct modifier *m)
{
	char stops[] = "X;:";
	const char *end;
	m->name[0] = *cp;
	if (is_end(cp[1]))
		return cp + 1;
	if (!ispunct((unsigned char)cp[1]) || cp[1] == '-') {
		end = skip(cp + 1, ":;");
		if (end)
			m->args[m->count++] = format_expand(
				f, copy_of(f, cp + 1, (size_t)(end - cp - 1)));
		return end;
	}
	stops[0] = *++cp;
	do {
		if (*cp == stops[0] && is_end(cp[1]))
			return cp + 1;
		end = skip(cp + 1, stops);
		if (!end || m->count >= ARGUMENTS_MAX)
			return NULL;
		cp++;
		m->args[m->count++] = format_expand(f, copy_of(f, cp, (size_t)(end - cp)));
		cp = end;
	} while (!is_end(*cp));
	return cp;
}

/* Parse the modifiers before a colon. Returns the text behind it, or key if there are none. */
static const char *parse_modifiers(struct format *f, const char *key, struct modifiers *ret)
{
	static const char *const pairs[] = {"||", "&&", "!=", "==", "<=", ">="};
	const char *cp = key;
	while (cp && *cp && *cp != ':' && ret->count < MODIFIERS_MAX) {
		struct modifier *m = &ret->list[ret->count++];
		const char *next = NULL;
		if (*cp == ';')
			cp++;
		if (*cp && strchr("labcdnwETSWP<>", *cp) && is_end(cp[1])) {
			m->name[0] = *cp++;
			continue;
		}
		for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !next; i++)
			if (strncmp(cp, pairs[i], 2) == 0 && is_end(cp[2]))
				next = cp + 2;
		if (next)
			memcpy(m->name, cp, 2);
		else if (*cp && strchr("mCNst=peq", *cp))
			next = parse_arguments(f, cp, m);
		cp = next;
	}
	if (cp && *cp == ':' && cp != key)
		return cp + 1;
	ret->count = 0;
	return key;
}

static int number_of(const struct modifier *m)
{
	char *end;
	long n = m->count > 0 ? strtol(m->args[0], &end, 10) : 0;
	if (m->count == 0 || *end || n > SIDE_LIMIT || n < -SIDE_LIMIT)
		return 0;
	return (int)n;
}

static bool has_letter(const struct modifier *m, char c)
{
	return m->count > 0 && strchr(m->args[0], c) != NULL;
}

static void apply_time_modifier(struct modifiers *all, const struct modifier *m)
{
	all->how |= FORMAT_TIME;
	if (has_letter(m, 'p'))
		all->how |= FORMAT_TIME_PRETTY;
	else if (m->count >= 2 && has_letter(m, 'f'))
		all->time_format = m->args[1];
}

static void apply_modifier(struct modifiers *all, const struct modifier *m)
{
	char c = m->name[0];
	if (m->name[1] || c == 'm' || c == '<' || c == '>')
		all->compare = m;
	else if (c == 'C')
		all->search = m;
	else if (c == 's' && m->count >= 2)
		all->substitute = m;
	else if (c == 'e' && m->count >= 1 && m->count <= 3)
		all->expression = m;
	else if (c == '=') {
		all->limit = number_of(m);
		all->marker = m->count >= 2 ? m->args[1] : NULL;
	} else if (c == 'p')
		all->width = number_of(m);
	else if (c == 'n')
		all->length = true;
	else if (c == 'w')
		all->columns = true;
	else if (c == 'b' || c == 'd')
		all->how |= c == 'b' ? FORMAT_BASENAME : FORMAT_DIRNAME;
	else if (c == 't')
		apply_time_modifier(all, m);
	else if (c == 'q')
		all->how |= has_letter(m, 'e') || has_letter(m, 'h') ? FORMAT_QUOTE_STYLE
								     : FORMAT_QUOTE;
	else if (c == 'E' || c == 'T') {
		all->expand = c == 'E';
		all->expand_time = c == 'T';
	} else if (c == 'S' || c == 'W' || c == 'P')
		all->loop = c;
	else
		all->special = c == 'N' && has_letter(m, 's') ? 'n' : c;
}

/* Split "left,right". Returns false without a comma. */
static bool choose(
	struct format *f, const char *text, char **ret_left, char **ret_right, bool expand)
{
	const char *comma = skip(text, ",");
	if (!comma)
		return false;
	*ret_left = copy_of(f, text, (size_t)(comma - text));
	*ret_right = arena_copy(&f->t->arena, comma + 1);
	if (expand) {
		*ret_left = format_expand(f, *ret_left);
		*ret_right = format_expand(f, *ret_right);
	}
	return true;
}

static const char *compare(struct format *f, const struct modifier *m, const char *text)
{
	char *left, *right;
	const char *op = m->name;
	if (!choose(f, text, &left, &right, true))
		return NULL;
	int order = strcmp(left, right);
	bool yes = strcmp(op, "||") == 0 ? format_is_true(left) || format_is_true(right)
		: strcmp(op, "&&") == 0  ? format_is_true(left) && format_is_true(right)
		: strcmp(op, "==") == 0  ? order == 0
		: strcmp(op, "!=") == 0  ? order != 0
		: strcmp(op, "<") == 0   ? order < 0
		: strcmp(op, ">") == 0   ? order > 0
		: strcmp(op, "<=") == 0  ? order <= 0
		: strcmp(op, ">=") == 0  ? order >= 0
					: format_match(left, right, m->count > 0 ? m->args[0] : "");
	return yes ? "1" : "0";
}

static const char *expand_condition(struct format *f, const char *text, const struct modifiers *m)
{
	char *left, *right;
	const char *comma = skip(text, ",");
	if (!comma)
		return NULL;
	char *condition = copy_of(f, text, (size_t)(comma - text));
	char *found = format_find(f, condition, m->how, m->time_format);
	if (!found) {
		found = format_expand(f, condition);
		if (strcmp(found, condition) == 0)
			found = NULL;
	}
	if (!choose(f, comma + 1, &left, &right, false))
		return NULL;
	return format_expand(f, format_is_true(found) ? left : right);
}

/* Expand the body of a loop at a place. text: "FORMAT" or "FORMAT,FORMAT_OF_CURRENT". */
static void loop_once(
	struct format *f, const struct place *at, const char *text, bool current, struct text *out)
{
	char *all, *active;
	struct place before = f->at;
	bool sessions = f->loops_sessions;
	f->at = *at;
	if (!at->link || !at->pane || f->loops_sessions || !choose(f, text, &all, &active, false))
		all = active = arena_copy(&f->t->arena, text);
	f->loops_sessions = false;
	text_puts(out, format_expand(f, current ? active : all));
	f->loops_sessions = sessions;
	f->at = before;
}

static const char *loop(struct format *f, char which, const char *text)
{
	struct text out = {.arena = &f->t->arena};
	const struct place here = f->at;
	size_t count;
	if (which == 'S') {
		struct session **s = model_sessions_sorted(&f->t->model, &count);
		f->loops_sessions = true;
		for (size_t i = 0; i < count; i++) {
			struct link *l = s[i]->current;
			loop_once(f,
				&(struct place){.session = s[i],
					.link = l,
					.window = l->window,
					.pane = l->window->active},
				text, false, &out);
		}
		f->loops_sessions = false;
	} else if (which == 'W' && here.session) {
		struct link *l;
		DL_FOREACH (here.session->links, l)
			loop_once(f,
				&(struct place){.session = l->session,
					.link = l,
					.window = l->window,
					.pane = l->window->active},
				text, l == here.session->current, &out);
	} else if (which == 'P' && here.window) {
		struct pane *p;
		DL_FOREACH (here.window->panes, p)
			loop_once(f,
				&(struct place){.session = here.session,
					.link = here.link,
					.window = here.window,
					.pane = p},
				text, p == here.window->active, &out);
	}
	return text_get(&out);
}

static const char *calculate(struct format *f, const struct modifier *m, const char *text)
{
	char *left, *right;
	if (!choose(f, text, &left, &right, true))
		return NULL;
	bool fractions = m->count >= 2 && strchr(m->args[1], 'f');
	unsigned places = m->count >= 3 ? (unsigned)strtoul(m->args[2], NULL, 10) : 2;
	return format_calculate(f, m->args[0], fractions, places > 100 ? 100 : places, left, right);
}

/* Modifiers l, a, N, n and c: their text is not a variable. */
static const char *special(struct format *f, char which, const char *text)
{
	const char *own = which == 'l' ? text : format_expand(f, text);
	if (which == 'l')
		return own;
	if (which == 'a') {
		long n = strtol(own, NULL, 10);
		return n >= 32 && n <= 126 ? arena_print(&f->t->arena, "%c", (char)n) : "";
	}
	if (which == 'n')
		return model_session_by_name(&f->t->model, own) ? "1" : "0";
	const struct link *l = NULL;
	if (which == 'N' && f->at.session)
		DL_FOREACH (f->at.session->links, l)
			if (strcmp(backend_window_name(f->t, l->window), own) == 0)
				return "1";
	return which == 'N' ? "0" : "";
}

static const char *find_value(struct format *f, const struct modifiers *m, const char *text)
{
	if (m->special)
		return special(f, m->special, text);
	if (m->loop)
		return loop(f, m->loop, text);
	if (m->search)
		return "0";
	if (m->compare)
		return compare(f, m->compare, text);
	if (*text == '?')
		return expand_condition(f, text + 1, m);
	if (m->expression)
		return calculate(f, m->expression, text);
	if (strstr(text, "#{"))
		return format_expand(f, text);
	const char *found = format_find(f, text, m->how, m->time_format);
	return found ? found : "";
}

static char *pad(struct format *f, const char *value, int width)
{
	size_t has = quote_width(value), wanted = (size_t)(width < 0 ? -width : width);
	int missing = has < wanted ? (int)(wanted - has) : 0;
	if (width > 0)
		return arena_print(&f->t->arena, "%s%*s", value, missing, "");
	return arena_print(&f->t->arena, "%*s%s", missing, "", value);
}

static const char *modify(struct format *f, const struct modifiers *m, const char *value)
{
	struct arena *a = &f->t->arena;
	if (m->expand || m->expand_time) {
		bool times = f->times;
		f->times = m->expand_time;
		value = format_expand(f, value);
		f->times = times;
	}
	if (m->substitute)
		value = format_replace(f, value, m->substitute->args[0], m->substitute->args[1],
			m->substitute->count >= 3 && strchr(m->substitute->args[2], 'i'));
	if (m->limit != 0) {
		size_t limit = (size_t)(m->limit < 0 ? -m->limit : m->limit);
		const char *cut = quote_trim(a, value, limit, m->limit < 0);
		bool changed = strcmp(cut, value) != 0;
		if (changed && m->marker)
			cut = m->limit < 0 ? arena_print(a, "%s%s", m->marker, cut)
					   : arena_print(a, "%s%s", cut, m->marker);
		value = cut;
	}
	if (m->width != 0)
		value = pad(f, value, m->width);
	if (m->length)
		value = arena_print(a, "%zu", strlen(value));
	if (m->columns)
		value = arena_print(a, "%zu", format_width(a, value));
	return value;
}

/* The value of "#{key}", or NULL if it is invalid. */
static const char *expand_key(struct format *f, const char *key)
{
	struct modifiers *m = arena_alloc(&f->t->arena, sizeof *m);
	const char *text = parse_modifiers(f, key, m);
	for (unsigned i = 0; i < m->count; i++)
		apply_modifier(m, &m->list[i]);
	const char *value = find_value(f, m, text);
	return value ? modify(f, m, value) : NULL;
}

static const char *alias_of(char c)
{
	static const char letters[] = "DFHIPSTWh";
	static const char *const names[] = {"pane_id", "window_flags", "host", "window_index",
		"pane_index", "session_name", "pane_title", "window_name", "host_short"};
	const char *found = c ? strchr(letters, c) : NULL;
	return found ? names[found - letters] : NULL;
}

/* The length of the beginning of a style, "#[" or "##[", which is not expanded; or 0. */
static size_t measure_style(const char *at)
{
	size_t n = strspn(at, "#");
	return at[n] == '[' ? n + 1 : 0;
}

/* Expand what begins with the "#" there. Returns the text behind it, or NULL to stop. */
static const char *expand_one(struct format *f, const char *at, struct text *out)
{
	const char *value = NULL, *end, *alias;
	size_t style = measure_style(at);
	char c = at[1];
	if (style > 0) {
		text_add(out, at, style);
		return at + style;
	}
	if (c == '{' || c == '(') {
		end = c == '{' ? skip(at, "}") : strchr(at, ')');
		if (!end)
			return NULL;
		char *inner = copy_of(f, at + 2, (size_t)(end - at - 2));
		value = c == '{'    ? expand_key(f, inner)
			: f->silent ? ""
				    : format_run(f, format_expand(f, inner));
		if (value)
			text_puts(out, value);
		return value ? end + 1 : NULL;
	}
	if (!c) {
		text_puts(out, "#");
		return NULL;
	}
	alias = alias_of(c);
	if (alias)
		text_puts(out, expand_key(f, alias));
	else if (strchr("#},", c))
		text_add(out, &c, 1);
	else
		text_add(out, at, 2);
	return at + 2;
}

static const char *expand_times(struct format *f, const char *text)
{
	time_t now = time(NULL);
	struct tm tm;
	size_t room = strlen(text) * 4 + 256;
	char *out = arena_alloc(&f->t->arena, room);
	localtime_r(&now, &tm);
	/* The user gives the format, as for date(1). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return strftime(out, room, text, &tm) > 0 ? out : text;
#pragma GCC diagnostic pop
}

// NOLINTNEXTLINE(misc-no-recursion): the depth is limited
char *format_expand(struct format *f, const char *text)
{
	struct text out = {.arena = &f->t->arena};
	if (f->depth >= FORMAT_DEPTH_MAX || f->bytes > FORMAT_BYTES_MAX)
		return arena_copy(&f->t->arena, "");
	f->depth++;
	if (f->times && strchr(text, '%'))
		text = expand_times(f, text);
	while (text && *text) {
		size_t plain = strcspn(text, "#");
		text_add(&out, text, plain);
		text += plain;
		if (!*text || ++f->steps > FORMAT_STEPS_MAX)
			break;
		text = expand_one(f, text, &out);
	}
	f->depth--;
	f->bytes += out.length;
	return text_get(&out);
}
