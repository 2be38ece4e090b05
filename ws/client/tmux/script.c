/* The syntax of tmux commands: words, quotes, variables, blocks, comments, conditions; and shell commands. */
#include "ws/client/tmux/script.h"

#include "ring/utf8.h"
#include "ws/client/tmux/format.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CONDITIONS_MAX 64u /* nested */

/* An open %if. The first branch with a true condition is parsed, the rest is skipped. */
struct condition {
	bool was_true;  /* a branch was true */
	bool is_parsed; /* this branch is parsed */
	bool has_else;  /* %else was seen */
};

/* The state of parsing. */
struct reader {
	struct condition open[CONDITIONS_MAX];
	unsigned depth; /* of conditions */
	struct tmux *t;
	const char *at;
	unsigned line, words;
	const char *wrong; /* the first error, or NULL */
	struct text word;
};

static void fail(struct reader *r, const char *what)
{
	if (!r->wrong)
		r->wrong = arena_print(&r->t->arena, "line %u: %s", r->line, what);
}

/* Parse an octal escape, whose first digit was read: as in tmux it has three. */
static void read_octal(struct reader *r, char first)
{
	unsigned n = (unsigned)(first - '0');
	int digits = 1;
	for (; digits < 3 && *r->at >= '0' && *r->at <= '7'; digits++)
		n = n * 8 + (unsigned)(*r->at++ - '0');
	char byte = (char)n;
	if (digits < 3 || n == 0 || n > 127)
		fail(r, "invalid octal escape");
	text_add(&r->word, &byte, 1);
}

/* Parse the digits of \u (4) or \U (8). */
static void read_code_point(struct reader *r, char letter)
{
	char digits[9] = "", bytes[UTF8_MAX];
	size_t n = letter == 'u' ? 4 : 8;
	snprintf(digits, n + 1, "%s", r->at);
	uint32_t code = (uint32_t)strtoul(digits, NULL, 16);
	bool valid = strspn(digits, "0123456789abcdefABCDEF") == n && code > 0 &&
		utf8_is_character(code, utf8_size(code));
	if (!valid) {
		fail(r, letter == 'u' ? "invalid \\u argument" : "invalid \\U argument");
		return;
	}
	text_add(&r->word, bytes, utf8_encode(code, (uint8_t *)bytes));
	r->at += n;
}

/* Parse an escape: \n, \033, or any other character, which stands for itself. */
static void read_escape(struct reader *r)
{
	static const char letters[] = "abefnrstv", meant[] = "\a\b\033\f\n\r \t\v";
	char c = *r->at ? *r->at++ : '\0';
	const char *found = c ? strchr(letters, c) : NULL;
	if (c == '\n') {
		r->line++;
	} else if (c >= '0' && c <= '7') {
		read_octal(r, c);
	} else if (c == 'u' || c == 'U') {
		read_code_point(r, c);
	} else if (found) {
		text_add(&r->word, &meant[found - letters], 1);
	} else if (c) {
		text_add(&r->word, &c, 1);
	} else {
		fail(r, "syntax error");
	}
}

static void read_variable(struct reader *r)
{
	bool braces = *r->at == '{';
	const char *begin = r->at + braces, *end = begin;
	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	if ((end == begin || isdigit((unsigned char)*begin)) && !braces) {
		text_puts(&r->word, "$");
		return;
	}
	if (braces && *end != '}') {
		fail(r, "invalid environment variable");
		return;
	}
	char *name = arena_copy_n(&r->t->arena, begin, (size_t)(end - begin));
	const char *value = json_string_value(json_object_get(r->t->model.environment, name));
	text_puts(&r->word, value ? value : "");
	r->at = end + braces;
}

static void read_quoted(struct reader *r, char quote)
{
	while (*r->at && *r->at != quote && !r->wrong) {
		char c = *r->at++;
		r->line += c == '\n';
		if (quote == '"' && c == '\\')
			read_escape(r);
		else if (quote == '"' && c == '$')
			read_variable(r);
		else
			text_add(&r->word, &c, 1);
	}
	if (*r->at != quote)
		fail(r, "syntax error");
	else
		r->at++;
}

/* Parse a block in braces as one word. */
static void read_block(struct reader *r)
{
	unsigned depth = 1;
	char quote = '\0';
	const char *begin = r->at;
	for (; *r->at && depth > 0; r->at++) {
		char c = *r->at;
		r->line += c == '\n';
		if (c == '\\' && quote != '\'' && r->at[1])
			r->at++;
		else if (quote)
			quote = c == quote ? '\0' : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '{')
			depth++;
		else if (c == '}')
			depth--;
	}
	if (depth > 0)
		fail(r, "syntax error");
	else
		text_add(&r->word, begin, (size_t)(r->at - begin - 1));
}

static void read_word(struct reader *r)
{
	r->word = (struct text){.arena = &r->t->arena};
	if (*r->at == '{') {
		r->at++;
		read_block(r);
		return;
	}
	if (*r->at == '~' && (!r->at[1] || strchr("/ \t\n", r->at[1]))) {
		const char *home = getenv("HOME");
		text_puts(&r->word, home ? home : "~");
		r->at++;
	}
	while (*r->at && !strchr(" \t\n;", *r->at) && !r->wrong) {
		char c = *r->at++;
		if (c == '\\')
			read_escape(r);
		else if (c == '"' || c == '\'')
			read_quoted(r, c);
		else if (c == '$')
			read_variable(r);
		else
			text_add(&r->word, &c, 1);
	}
}

/* Skip blanks and a comment. Returns false at the end of the command. */
static bool skip_blanks(struct reader *r)
{
	for (;; r->at++) {
		if (r->at[0] == '\\' && r->at[1] == '\n') {
			r->at++;
			r->line++;
		} else if (*r->at != ' ' && *r->at != '\t') {
			break;
		}
	}
	if (*r->at == '#')
		r->at += strcspn(r->at, "\n");
	return *r->at && *r->at != '\n' && *r->at != ';';
}

static bool is_skipping(const struct reader *r)
{
	return r->depth > 0 && !r->open[r->depth - 1].is_parsed;
}

/* Evaluate a condition, without a current session, as tmux does while it reads a file. */
static bool read_condition(struct reader *r)
{
	struct format f = {.t = r->t, .silent = true};
	while (*r->at == ' ' || *r->at == '\t')
		r->at++;
	read_word(r);
	return format_is_true(format_expand(&f, text_get(&r->word)));
}

static void begin_condition(struct reader *r, bool within)
{
	if (r->depth >= CONDITIONS_MAX) {
		fail(r, "too many nested conditions");
		return;
	}
	bool yes = !within || read_condition(r);
	struct condition *c = &r->open[r->depth++];
	*c = (struct condition){.was_true = yes, .is_parsed = within && yes};
}

static void next_branch(struct reader *r, bool last)
{
	struct condition *c = r->depth > 0 ? &r->open[r->depth - 1] : NULL;
	if (!c || c->has_else) {
		fail(r, "syntax error");
		return;
	}
	bool yes = !c->was_true && (last || read_condition(r));
	c->is_parsed = yes;
	c->was_true = c->was_true || yes;
	c->has_else = last;
}

/* Parse %if, %elif, %else or %endif at the beginning of a line. Returns false if there is none. */
static bool parse_condition(struct reader *r)
{
	size_t blanks = strspn(r->at, " \t"), length;
	const char *word = r->at + blanks;
	if (*word != '%')
		return false;
	length = strcspn(word, " \t\n");
	char *name = arena_copy_n(&r->t->arena, word, length);
	r->at = word + length;
	if (strcmp(name, "%if") == 0)
		begin_condition(r, !is_skipping(r));
	else if (strcmp(name, "%elif") == 0)
		next_branch(r, false);
	else if (strcmp(name, "%else") == 0)
		next_branch(r, true);
	else if (strcmp(name, "%endif") == 0 && r->depth > 0)
		r->depth--;
	else
		fail(r, "syntax error");
	return true;
}

static struct script_line *read_line(struct reader *r)
{
	struct script_line *line = NULL;
	unsigned size = 0;
	while (skip_blanks(r) && !r->wrong) {
		if (!line) {
			line = arena_alloc(&r->t->arena, sizeof *line);
			line->number = r->line;
		}
		if (++r->words > SCRIPT_WORDS_MAX)
			fail(r, "too many words");
		if (r->wrong)
			break;
		if (line->count + 1 >= size) {
			char **more = arena_alloc(&r->t->arena, (size * 2 + 8) * sizeof *more);
			if (line->count > 0)
				memcpy(more, line->words, line->count * sizeof *more);
			line->words = more;
			size = size * 2 + 8;
		}
		read_word(r);
		line->words[line->count++] = text_get(&r->word);
	}
	return line;
}

char *script_parse(struct tmux *t, const char *text, struct script_line **ret_first)
{
	struct reader r = {.t = t, .at = text, .line = 1};
	struct script_line *first = NULL, **end = &first;
	while (*r.at && !r.wrong) {
		struct script_line *line = NULL;
		if (parse_condition(&r) || is_skipping(&r))
			r.at += strcspn(r.at, "\n");
		else
			line = read_line(&r);
		if (line) {
			*end = line;
			end = &line->next;
		}
		if (*r.at) {
			r.line += *r.at == '\n';
			r.at++;
		}
	}
	if (r.depth > 0)
		fail(&r, "syntax error");
	*ret_first = first;
	return (char *)r.wrong;
}

bool script_cannot_block(const char *path)
{
	struct stat st;
	if (strcmp(path, "-") == 0)
		return false;
	return stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

int script_read_file(const char *path, size_t max, struct text *into)
{
	char piece[65536];
	size_t n;
	bool own = strcmp(path, "-") == 0;
	FILE *f = own ? stdin : fopen(path, "re");
	if (!f)
		return errno;
	while ((n = fread(piece, 1, sizeof piece, f)) > 0 && into->length <= max)
		text_add(into, piece, n);
	/* To tmux a directory is an empty file. */
	int error = ferror(f) && errno != EISDIR ? errno : 0;
	if (!own)
		fclose(f);
	return error;
}

int script_run_background(struct tmux *t, const char *command, double delay)
{
	pid_t pid = fork();
	if (pid < 0)
		return tmux_error(t, "fork: %s", strerror(errno));
	if (pid > 0)
		return waitpid(pid, NULL, 0) < 0 ? 1 : 0;
	if (setsid() < 0 || fork() != 0)
		_exit(0);
	/* A copy of the lock's descriptor would keep it locked. */
	close_range(STDERR_FILENO + 1, ~0u, 0);
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	struct timespec wait = {
		.tv_sec = (time_t)delay, .tv_nsec = (long)((delay - (double)(time_t)delay) * 1e9)};
	nanosleep(&wait, NULL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

char *script_capture(struct tmux *t, const char *command, int *ret_status)
{
	struct text out = {.arena = &t->arena};
	char bytes[4096];
	size_t n;
	FILE *f = popen(command, "re"); // NOLINT(cert-env33-c): a shell is required
	if (ret_status)
		*ret_status = -1;
	if (!f)
		return text_get(&out);
	while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
		if (out.length < SCRIPT_OUTPUT_MAX)
			text_add(&out, bytes, n);
	int status = pclose(f);
	if (ret_status)
		*ret_status = status;
	return text_get(&out);
}
