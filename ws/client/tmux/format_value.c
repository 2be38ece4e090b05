/* Operations on values of formats: arithmetic, patterns, replacement, quoting, commands. */
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/script.h"
#include "ws/client/tmux/settings.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Truncate to an integer. Beyond 64 bits the result is that of x86, as in tmux: INT64_MIN. */
static double truncate_number(double a)
{
	return a >= -0x1p63 && a < 0x1p63 ? (double)(long long)a : -0x1p63;
}

static double modulo(double a, double b)
{
	return b == 0 ? (double)NAN : a - b * truncate_number(a / b);
}

static double compare_numbers(const char *op, double a, double b)
{
	if (strcmp(op, "<") == 0)
		return a < b;
	if (strcmp(op, ">") == 0)
		return a > b;
	if (strcmp(op, "==") == 0)
		return fabs(a - b) < 1e-9;
	if (strcmp(op, "!=") == 0)
		return fabs(a - b) > 1e-9;
	if (strcmp(op, "<=") == 0)
		return a <= b;
	return strcmp(op, ">=") == 0 ? a >= b : (double)NAN;
}

char *format_calculate(struct format *f, const char *op, bool fractions, unsigned places,
	const char *left, const char *right)
{
	char *end_left, *end_right;
	double a = strtod(left, &end_left), b = strtod(right, &end_right), r = (double)NAN;
	if (end_left == left || *end_left || end_right == right || *end_right)
		return NULL;
	if (!fractions) {
		a = truncate_number(a);
		b = truncate_number(b);
	}
	bool compares = strchr("<>=!", *op) != NULL;
	if (compares)
		r = compare_numbers(op, a, b);
	else if (op[0] && !op[1])
		r = *op == '+'                     ? a + b
			: *op == '-'               ? a - b
			: *op == '*'               ? a * b
			: *op == '/'               ? a / b
			: *op == 'm' || *op == '%' ? modulo(a, b)
						   : (double)NAN;
	if (isnan(r) && !isnan(a) && !isnan(b) && !(*op == '/' || *op == 'm' || *op == '%'))
		return NULL;
	if (!fractions || compares)
		return arena_print(&f->t->arena, "%.0f", truncate_number(r));
	return arena_print(&f->t->arena, "%.*f", (int)places, r);
}

size_t format_width(struct arena *a, const char *text)
{
	struct text shown = {.arena = a};
	while (*text) {
		size_t hashes = strspn(text, "#"), plain = strcspn(text + hashes, "#");
		bool opens = text[hashes] == '[';
		for (size_t i = opens ? hashes / 2 : (hashes + 1) / 2; i > 0; i--)
			text_puts(&shown, "#");
		text += hashes;
		if (!opens || hashes % 2 == 0) {
			text_add(&shown, text, plain);
			text += plain;
			continue;
		}
		text = strchr(text, ']');
		if (!text)
			return 0;
		text++;
	}
	return quote_width(text_get(&shown));
}

bool format_match(const char *pattern, const char *text, const char *how)
{
	regex_t r;
	bool any_case = strchr(how, 'i') != NULL;
	if (!strchr(how, 'r'))
		return fnmatch(pattern, text, any_case ? FNM_CASEFOLD : 0) == 0;
	if (regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0)) != 0)
		return false;
	bool found = regexec(&r, text, 0, NULL, 0) == 0;
	regfree(&r);
	return found;
}

/* Append with, in which "\1" and the like are replaced by groups of the match. */
static void add_replacement(
	struct text *out, const char *with, const char *text, const regmatch_t *m)
{
	for (; *with; with++) {
		unsigned n = (unsigned)(with[1] - '0');
		if (*with != '\\' || n > 9) {
			text_add(out, with, 1);
			continue;
		}
		if (m[n].rm_so >= 0)
			text_add(out, text + m[n].rm_so, (size_t)(m[n].rm_eo - m[n].rm_so));
		with++;
	}
}

char *format_replace(
	struct format *f, const char *text, const char *pattern, const char *with, bool any_case)
{
	regex_t r;
	regmatch_t m[10];
	struct text out = {.arena = &f->t->arena};
	if (regcomp(&r, pattern, REG_EXTENDED | (any_case ? REG_ICASE : 0)) != 0)
		return arena_copy(&f->t->arena, text);
	for (int flags = 0; *text && regexec(&r, text, 10, m, flags) == 0; flags = REG_NOTBOL) {
		text_add(&out, text, (size_t)m[0].rm_so);
		add_replacement(&out, with, text, m);
		if (m[0].rm_eo > m[0].rm_so) {
			text += m[0].rm_eo;
		} else {
			/* Empty match: skip one character, so that the loop ends. */
			text += m[0].rm_so;
			text_add(&out, text, *text ? 1 : 0);
			text += *text ? 1 : 0;
		}
		if (*pattern == '^')
			break;
	}
	text_puts(&out, text);
	regfree(&r);
	return text_get(&out);
}

/* Escape the characters of which by a backslash, or by "#" if "#" is the first of them. */
static char *escape(struct format *f, const char *text, const char *which)
{
	struct text out = {.arena = &f->t->arena};
	for (; *text; text++) {
		if (strchr(which, *text))
			text_puts(&out, *which == '#' ? "#" : "\\");
		text_add(&out, text, 1);
	}
	return text_get(&out);
}

char *format_run(struct format *f, const char *command)
{
	if (f->jobs++ < FORMAT_JOBS_MAX)
		script_run_background(f->t, command, 0);
	return arena_copy(&f->t->arena, "");
}

static char *print_time(struct format *f, time_t when, unsigned how, const char *time_format)
{
	struct tm tm, today;
	char text[512] = "";
	time_t now = time(NULL);
	localtime_r(&when, &tm);
	localtime_r(&now, &today);
	const char *format = time_format ? time_format : "%a %b %e %H:%M:%S %Y";
	if (how & FORMAT_TIME_PRETTY)
		format = now - when < 24 * 3600       ? "%H:%M"
			: tm.tm_year == today.tm_year ? "%d%b"
						      : "%h%y";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	size_t n = strftime(text, sizeof text, format, &tm);
#pragma GCC diagnostic pop
	text[n] = '\0';
	return arena_copy(&f->t->arena, text);
}

static char *dirname_of(struct format *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return arena_copy(&f->t->arena, ".");
	return arena_copy_n(&f->t->arena, path, slash == path ? 1 : (size_t)(slash - path));
}

/* The value of an option, or NULL. Flags are "1" or "0", for conditions. */
static const char *find_option(struct format *f, const char *name)
{
	bool ambiguous;
	const char *found = settings_find_value(f->t, &f->at, name);
	const struct setting *s = found && *name != '@' ? settings_find(name, &ambiguous) : NULL;
	if (s && s->type == SETTING_FLAG)
		return strcmp(found, "on") == 0 ? "1" : "0";
	return found;
}

char *format_find(struct format *f, const char *name, unsigned how, const char *time_format)
{
	time_t when = 0;
	const char *found = find_option(f, name);
	if (!found)
		found = json_string_value(json_object_get(f->more, name));
	if (!found)
		found = format_variables_find(f, name, &when);
	if (!found && when == 0 && f->at.session)
		found = json_string_value(json_object_get(f->at.session->environment, name));
	if (!found && when == 0)
		found = json_string_value(json_object_get(f->t->model.environment, name));
	if (!found && when == 0)
		return NULL;
	if (when == 0 && (how & FORMAT_TIME))
		when = (time_t)strtoll(found, NULL, 10);
	if (how & FORMAT_TIME)
		found = when == 0 ? "" : print_time(f, when, how, time_format);
	else if (when != 0)
		found = arena_print(&f->t->arena, "%lld", (long long)when);
	if (how & FORMAT_BASENAME) {
		const char *slash = strrchr(found, '/');
		found = slash && slash[1] ? slash + 1 : found;
	}
	if (how & FORMAT_DIRNAME)
		found = dirname_of(f, found);
	if (how & FORMAT_QUOTE)
		found = escape(f, found, "|&;<>()$`\\\"'*?[# =%");
	if (how & FORMAT_QUOTE_STYLE)
		found = escape(f, found, "#");
	return arena_copy(&f->t->arena, found);
}
