/* tmux formats such as "#{session_name}" and "#{?window_active,*,-}"; see FORMATS in tmux(1). */
#pragma once

#include "ws/client/tmux/tmux.h"

#include <time.h>

#define FORMAT_DEPTH_MAX 100u        /* nesting; deeper formats are empty, as in tmux */
#define FORMAT_STEPS_MAX 100000u     /* replacements in one text */
#define FORMAT_JOBS_MAX 32u          /* #(command) in one text */
#define FORMAT_BYTES_MAX (64u << 20) /* output of one text */

/* The state of one expansion. Zero-initialize it, except for t. */
struct format {
	struct tmux *t;
	struct place at;
	const json_t *more;    /* further variables with their texts; borrowed; NULL: none */
	bool times;            /* replace what strftime(3) replaces */
	bool silent;           /* do not run #(command) */
	bool loops_sessions;   /* within #{S:}, where no session is the current one */
	unsigned depth, steps; /* used so far */
	unsigned jobs;         /* started so far */
	size_t bytes;          /* written so far */
};

/* Expand a format. */
char *format_expand(struct format *f, const char *text);
/* Expand a format at a place, with default options. */
char *format_at(struct tmux *t, const struct place *at, const char *text);
/* Whether a text is true: neither empty nor "0". text may be NULL. */
bool format_is_true(const char *text);

/* How to change the value of a variable. */
enum {
	FORMAT_BASENAME = 1,
	FORMAT_DIRNAME = 2,
	FORMAT_TIME = 4,
	FORMAT_QUOTE = 8,
	FORMAT_QUOTE_STYLE = 16,
	FORMAT_TIME_PRETTY = 32
};

/*
 * The value of an option, a built-in variable or an environment variable, or NULL. how: FORMAT_*.
 * time_format: for strftime(3), or NULL.
 */
char *format_find(struct format *f, const char *name, unsigned how, const char *time_format);
/* The value of a built-in variable, or NULL. For a time, sets *ret_time (in seconds) and returns NULL. */
char *format_variables_find(const struct format *f, const char *name, time_t *ret_time);

/* #{e|…}: calculate with floating-point numbers. Returns NULL if an operand or the operator is invalid. */
char *format_calculate(struct format *f, const char *op, bool fractions, unsigned places,
	const char *left, const char *right);
/* #{m:…}: match a glob, or with "r" in how a regular expression; "i" ignores case. */
bool format_match(const char *pattern, const char *text, const char *how);
/* #{s/…/…/:}: replace all matches of a regular expression; "\1" in with is the first group. */
char *format_replace(
	struct format *f, const char *text, const char *pattern, const char *with, bool any_case);
/* The width in columns, without styles ("#[…]"); "##" counts as one "#". */
size_t format_width(struct arena *a, const char *text);
/* #(command): start it in the background. Returns "", as tmux does before the command has printed. */
char *format_run(struct format *f, const char *command);
/* The name of the i-th built-in variable, or NULL after the last. */
const char *format_variables_name(size_t i);
