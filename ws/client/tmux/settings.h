/* Options and environment of tmux: what they may be, what they are, and where they are looked for. */
#pragma once

#include "ws/client/tmux/tmux.h"

enum setting_scope { SETTING_SERVER, SETTING_SESSION, SETTING_WINDOW };
enum setting_type {
	SETTING_TEXT,
	SETTING_NUMBER,
	SETTING_FLAG,
	SETTING_CHOICE,
	SETTING_STYLE,
	SETTING_OTHER
};

struct setting {
	const char *name;
	enum setting_scope scope;
	enum setting_type type;
	const char *usual;   /* its value by default */
	const char *choices; /* with blanks between; of a number: "LEAST MOST"; or NULL */
	bool panes, array;   /* also of panes; several values, by index */
};

/* All of them, ended by one without a name. */
const struct setting *settings_table(void);
/* One by its name, or its beginning. *ret_ambiguous: several. NULL: none. A "[N]" behind it is let be. */
const struct setting *settings_find(const char *name, bool *ret_ambiguous);

/* Everything global gets its usual value, and the environment is that of this process. */
void settings_begin(struct tmux *t);

/* The value for a session, a window, a pane: theirs, or what is inherited; "" where there is none. Any may be NULL. */
const char *settings_get(struct tmux *t, const struct session *s, const char *name);
const char *settings_of_window(struct tmux *t, const struct window *w, const char *name);
const char *settings_of_pane(struct tmux *t, const struct pane *p, const char *name);
/* NULL where it is not set anywhere: of a format, by place. */
const char *settings_look(struct tmux *t, const struct place *at, const char *name);

/* "80x24". Returns false where it is none, or no window can have it. */
bool settings_read_size(const char *text, int *ret_cols, int *ret_rows);

/* The environment of a new pane: global, and that of its session; owned. */
json_t *settings_environment(struct tmux *t, const struct session *s);
