/* Options and environment of tmux: definitions, values, inheritance. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* What an option belongs to. */
enum setting_scope { SETTING_SERVER, SETTING_SESSION, SETTING_WINDOW };
/* How the value of an option is checked. */
enum setting_type {
	SETTING_TEXT,
	SETTING_NUMBER,
	SETTING_FLAG,
	SETTING_CHOICE,
	SETTING_STYLE,
	SETTING_OTHER
};

/* The definition of an option. */
struct setting {
	const char *name;
	enum setting_scope scope;
	enum setting_type type;
	const char *usual;   /* default value */
	const char *choices; /* separated by blanks; of a number: "MIN MAX"; or NULL */
	bool panes, array;   /* can be set for a pane; has several values, by index */
};

/* All options; the last one has no name. */
const struct setting *settings_table(void);
/* Find an option by name or unique prefix, ignoring a trailing "[N]". Returns NULL for none or several. */
const struct setting *settings_find(const char *name, bool *ret_ambiguous);

/* The global options of a scope; borrowed. */
json_t *settings_global(struct tmux *t, enum setting_scope scope);
/* Set the global options to their defaults, and import the environment of this process. */
void settings_set_defaults(struct tmux *t);

/* The value of an option for a session, own or inherited, or "". s may be NULL. */
const char *settings_get(struct tmux *t, const struct session *s, const char *name);
/* The value of an option for a window, own or inherited, or "". w may be NULL. */
const char *settings_of_window(struct tmux *t, const struct window *w, const char *name);
/* The value of an option for a pane, own or inherited, or "". p may be NULL. */
const char *settings_of_pane(struct tmux *t, const struct pane *p, const char *name);
/* The value of an option of any scope at a place, or NULL. */
const char *settings_find_value(struct tmux *t, const struct place *at, const char *name);

/* Parse a size such as "80x24". Returns false if it is invalid, or larger than a window can be. */
bool settings_parse_size(const char *text, int *ret_cols, int *ret_rows);

/* The environment of a new pane: global, and that of its session (may be NULL). Returns owned. */
json_t *settings_environment(struct tmux *t, const struct session *s);
