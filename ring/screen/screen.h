/*
 * Screen: the terminal that a session's output draws, kept by the server. It behaves exactly as
 * xterm.js does, bugs included, because that is what users see.
 *
 * Bytes and resizes go in, in the order of the session. State can be read at any time: as a
 * snapshot (bytes that bring a fresh terminal to the same state), as text, or cell by cell. Queries
 * are answered through a callback. No input can make it crash, hang or grow without bound. One
 * thread at a time.
 */
#pragma once

#include "ring/theme.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCREEN_SIDE_MAX 1000u /* rows and columns */
#define SCREEN_COLS_MIN 2u    /* smaller values are raised to this: a wide character must fit */
#define SCREEN_SCROLLBACK_DEFAULT 10000u
#define SCREEN_SCROLLBACK_MAX 1000000u
#define SCREEN_TITLE_MAX 4096u /* bytes of a title; longer ones are cut */
#define SCREEN_CWD_MAX 4096u
#define SCREEN_TITLES_MAX 10u  /* entries of each title stack */
#define SCREEN_KITTY_MAX 16u   /* entries of each stack of kitty keyboard flags */
#define SCREEN_LINK_MAX 8192u  /* bytes of an id and a URI together; longer links are ignored */
#define SCREEN_CLUSTER_MAX 32u /* code points of a cell; more are dropped */

/* A screen. */
struct screen;

/*
 * How characters map to cells: by code point, with combining marks, as wcwidth() counts columns; or
 * by grapheme cluster (mode 2027).
 */
enum screen_unicode { SCREEN_UNICODE_WCWIDTH, SCREEN_UNICODE_GRAPHEMES };

/* The name of a mode: "wcwidth" or "graphemes". */
const char *screen_unicode_name(enum screen_unicode unicode);

/* Parse such a name. Returns false if it is unknown. */
bool screen_unicode_parse(const char *name, enum screen_unicode *ret_unicode);

/* Types of events, and what their fields hold. */
enum screen_event_type {
	SCREEN_BELL,
	SCREEN_TITLE,        /* text: the new title */
	SCREEN_ICON,         /* text: the new icon name */
	SCREEN_CWD,          /* OSC 7; text: an absolute path */
	SCREEN_NOTIFICATION, /* OSC 9, 99, 777; text: the message; detail: its title */
	SCREEN_CLIPBOARD,    /* OSC 52; text: base64; detail: the selections' letters */
	SCREEN_MARK,         /* OSC 133, 633; number: 133 or 633; text: the rest, such as "D;0" */
	SCREEN_FOCUS,        /* the program enabled focus reports */
	SCREEN_COLOR_SCHEME, /* changed, and the program wants reports (mode 2031); number: 1 dark, 2 light */
};

/* Something in the output that is not drawn. */
struct screen_event {
	enum screen_event_type type;
	uint64_t offset;    /* offset after its last byte */
	uint64_t line;      /* cursor's line, counted from the session's birth */
	unsigned column;    /* cursor's column, from 1 on */
	unsigned row;       /* SCREEN_MARK: cursor's row, from 1 on */
	unsigned leftovers; /* SCREEN_MARK: of enum leftover, see ring/screen/leftover.h */
	int number;
	const char *text; /* borrowed for the call; UTF-8 without controls, NUL-terminated */
	size_t length;
	const char *detail; /* like text, or NULL */
	size_t detail_length;
};

/* Callbacks. They must not call the screen. */
struct screen_callbacks {
	/* A reply, to be written to the session's terminal as input. Not called while muted. */
	void (*reply)(void *user, const char *bytes, size_t length);
	/* An event. Not called while muted. */
	void (*event)(void *user, const struct screen_event *event);
};

/* Options of screen_create(). */
struct screen_options {
	unsigned rows, cols;
	unsigned scrollback;         /* lines kept above the screen */
	uint64_t offset;             /* offset of the first byte that will be fed */
	uint64_t version;            /* start of the version counter */
	enum screen_unicode unicode; /* initial mode, also after a reset */
	const char *mark_secret; /* borrowed; keep only OSC 133 marks that contain it; NULL: all */
	const struct screen_callbacks *callbacks; /* borrowed; NULL: always muted */
	void *user;
};

/* Which mouse events are reported: none, ?9, ?1000, ?1002, ?1003. */
enum mouse_protocol { MOUSE_NONE, MOUSE_X10, MOUSE_VT200, MOUSE_DRAG, MOUSE_ANY };

/* How mouse reports are encoded: default, ?1006, ?1016. */
enum mouse_encoding { MOUSE_DEFAULT, MOUSE_SGR, MOUSE_SGR_PIXELS };

/* State of a program's progress (OSC 9;4, as in ConEmu). */
enum progress_state {
	PROGRESS_NONE,
	PROGRESS_NORMAL,
	PROGRESS_ERROR,
	PROGRESS_INDETERMINATE,
	PROGRESS_PAUSED,
};

/* How far a program has come. */
struct progress {
	enum progress_state state;
	unsigned percent; /* at most 100; 0 if indeterminate */
};

/* Modes that programs set. */
struct screen_modes {
	bool application_cursor;   /* DECCKM, ?1 */
	bool application_keypad;   /* DECKPAM, ?66 */
	bool origin;               /* DECOM, ?6 */
	bool wraparound;           /* DECAWM, ?7 */
	bool reverse_wraparound;   /* ?45 */
	bool insert;               /* IRM, 4 */
	bool newline;              /* LNM, 20; a reset leaves it, as in xterm.js */
	bool cursor_hidden;        /* DECTCEM, ?25 */
	bool bracketed_paste;      /* ?2004 */
	bool focus;                /* ?1004 */
	bool synchronized_output;  /* ?2026 */
	bool graphemes;            /* ?2027 */
	bool color_scheme;         /* ?2031 */
	uint8_t cursor_style;      /* DECSCUSR: 0 to 6 */
	uint8_t modify_other_keys; /* XTMODKEYS 4 */
	uint8_t kitty_flags;       /* of the kitty keyboard protocol, in use now */
	enum mouse_protocol mouse;
	enum mouse_encoding mouse_encoding;
};

/* Create a screen. Returns 0, -EINVAL if a side is out of range, or -ENOMEM. */
int screen_create(struct screen **ret_screen, const struct screen_options *options);

/* Destroy a screen; NULL is allowed. */
void screen_destroy(struct screen *s);

/*
 * Feed output. work: approximate number of cells to touch before stopping early, so that a few
 * expensive bytes cannot block the thread. Returns the number of bytes consumed, at least 1.
 */
size_t screen_feed(struct screen *s, const void *bytes, size_t length, size_t work);

/* Approximate number of cells touched by the last feed. */
size_t screen_work(const struct screen *s);

/* Resize. Sides are clamped. Returns 0 or -ENOMEM. */
int screen_resize(struct screen *s, unsigned rows, unsigned cols);

/* Set the colours of the terminals that show the screen. May emit SCREEN_COLOR_SCHEME. */
void screen_set_theme(struct screen *s, const struct theme *theme);

/* Suppress replies and events, while output is fed that was processed before. */
void screen_mute(struct screen *s, bool muted);

/* Offset after the bytes fed so far. */
uint64_t screen_offset(const struct screen *s);

/*
 * Offset from which a terminal in this state must continue: the start of an unfinished sequence or
 * character, otherwise screen_offset().
 */
uint64_t screen_resume_offset(const struct screen *s);

/* Number of rows. */
unsigned screen_rows(const struct screen *s);

/* Number of columns. */
unsigned screen_cols(const struct screen *s);

/* Current modes, borrowed until the screen is destroyed. */
const struct screen_modes *screen_modes(const struct screen *s);

/* Whether the alternate buffer is in use. */
bool screen_is_alternate(const struct screen *s);

/* The cursor, from 0. *ret_col is the number of columns while a wrap is pending. */
void screen_cursor(const struct screen *s, unsigned *ret_row, unsigned *ret_col);

/* The window title; "" if never set. Borrowed until the next feed, as are the next two. */
const char *screen_title(const struct screen *s);

/* The icon name; "" if never set. */
const char *screen_icon(const struct screen *s);

/* The working directory from OSC 7; "" if never set. */
const char *screen_cwd(const struct screen *s);

/* The progress of the program that runs; none after the end of a command. */
struct progress screen_progress(const struct screen *s);

/* A counter that rises with each feed and resize. */
uint64_t screen_version(const struct screen *s);

/* The version in which a row last changed. */
uint64_t screen_row_version(const struct screen *s, unsigned row);

/* Number of lines in the scrollback. */
unsigned screen_scrollback(const struct screen *s);

/* Limit of the number of lines in the scrollback. */
unsigned screen_scrollback_max(const struct screen *s);

/* Number of lines dropped from the scrollback since the session's birth. */
uint64_t screen_dropped(const struct screen *s);

/*
 * Find the line of an OSC 133 mark: the end of a prompt (B) or of a command (D), counted from the
 * session's birth. offset: after the mark's last byte. *ret_left: the cursor was in the leftmost
 * column. Returns false if the line was dropped or erased, or the mark was not kept.
 */
bool screen_marked_line(const struct screen *s, uint64_t offset, uint64_t *ret_line, bool *ret_left);

/* Approximate memory in bytes. */
size_t screen_memory(const struct screen *s);
