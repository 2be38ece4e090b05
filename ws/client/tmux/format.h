/* Formats of tmux: "#{session_name}", "#{?window_active,*,-}" and all that. */
#pragma once

#include "ws/client/tmux/tmux.h"

#include <time.h>

#define FORMAT_DEPTH_MAX 100u    /* of formats in formats: what is deeper is empty, as in tmux */
#define FORMAT_STEPS_MAX 100000u /* replacements in one text */
#define FORMAT_JOBS_MAX 32u      /* commands of one text */
#define FORMAT_BYTES_MAX (64u << 20) /* of one text */

struct format {
	struct tmux *t;
	struct place at;
	const json_t *more;    /* further variables, texts; borrowed; NULL: none */
	bool times;            /* what strftime() replaces is replaced */
	bool silent;           /* #(command) is not run */
	bool loops_sessions;   /* of which there is no current one */
	unsigned depth, steps; /* of what is being expanded */
	unsigned jobs;         /* that have been begun */
	size_t bytes;
};

char *format_expand(struct format *f, const char *text);
/* The same, at a place. */
char *format_at(struct tmux *t, const struct place *at, const char *text);
bool format_is_true(const char *text);

enum {
	FORMAT_BASENAME = 1,
	FORMAT_DIRNAME = 2,
	FORMAT_TIME = 4,
	FORMAT_QUOTE = 8,
	FORMAT_QUOTE_STYLE = 16,
	FORMAT_TIME_PRETTY = 32
};

/* The value of a variable or an option; NULL: there is none. */
char *format_find(struct format *f, const char *name, unsigned how, const char *time_format);
/* What a variable is; NULL: there is none. *ret_time: a time in seconds instead. */
char *format_facts_find(const struct format *f, const char *name, time_t *ret_time);

/* #{e|…}, #{m:…}, #{s/…/…/:}, #{q:}: what is done with values. */
char *format_calculate(struct format *f, const char *op, bool fractions, unsigned places,
	const char *left, const char *right);
bool format_match(const char *pattern, const char *text, const char *how);
char *format_replace(
	struct format *f, const char *text, const char *pattern, const char *with, bool any_case);
char *format_quote(struct format *f, const char *text, const char *which);
/* Columns that it takes, without the styles ("#[…]") in it; "##" is one "#". */
size_t format_width(struct arena *a, const char *text);
/* Begin a command. There is nothing of it yet: tmux shows what one has printed the next time, to those that are attached. */
char *format_run(struct format *f, const char *command);
/* The names of all of them, by numbers from 0 on; NULL behind the last. */
const char *format_facts_name(size_t i);
