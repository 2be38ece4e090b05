/*
 * Screen: the terminal that a session's output draws, kept by the server. It behaves as xterm.js does,
 * byte for byte, for that is what people look at: whatever is wrong there is wrong here in the same way.
 *
 * Bytes and resizes go in, in the order of the session; state can be read at any time, as a snapshot
 * (bytes that bring a fresh terminal to the same state), as text, or cell by cell. Questions that programs
 * ask their terminal are answered through a callback. No input can make it crash, hang or grow without
 * bound. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCREEN_SIDE_MAX 1000u /* rows and columns */
#define SCREEN_COLS_MIN 2u    /* a wide character has to fit; fewer are taken for as many */
#define SCREEN_SCROLLBACK_DEFAULT 10000u
#define SCREEN_SCROLLBACK_MAX 1000000u
#define SCREEN_TITLE_MAX 4096u /* bytes of a title; more are cut off */
#define SCREEN_CWD_MAX 4096u
#define SCREEN_TITLES_MAX 10u  /* of each title stack */
#define SCREEN_KITTY_MAX 32u   /* of each stack of kitty keyboard flags */
#define SCREEN_LINK_MAX 8192u  /* bytes of an id and a URI together; longer links are ignored */
#define SCREEN_CLUSTER_MAX 32u /* code points of one cell; what else would join is dropped */

struct screen;

/* What characters take: columns by Unicode 11's tables, with marks that join; or whole clusters (mode 2027). */
enum screen_unicode { SCREEN_UNICODE_11, SCREEN_UNICODE_GRAPHEMES };

/* "11" and "graphemes". screen_unicode_parse() returns false for any other name. */
const char *screen_unicode_name(enum screen_unicode unicode);
bool screen_unicode_parse(const char *name, enum screen_unicode *ret_unicode);

/* Something that is no picture. */
enum screen_event_type {
	SCREEN_BELL,
	SCREEN_TITLE,        /* text: the new title */
	SCREEN_ICON,         /* text: the new icon name */
	SCREEN_CWD,          /* OSC 7; text: an absolute path */
	SCREEN_NOTIFICATION, /* OSC 9, 99, 777; text: what it says; detail: its title */
	SCREEN_CLIPBOARD,    /* OSC 52; text: base64; detail: the selections' letters */
	SCREEN_MARK,  /* OSC 133, 633; number: which of them; text: the rest, such as "D;0" */
	SCREEN_FOCUS, /* the program wants to be told of the focus from now on */
};

struct screen_event {
	enum screen_event_type type;
	uint64_t offset; /* behind its last byte */
	uint64_t line;   /* where the cursor was: lines above it since the session's birth */
	unsigned column; /* from 1 on */
	unsigned row,
		leftovers; /* a mark's: from 1 on; and enum leftover, see ring/screen/leftover.h */
	int number;
	const char *text; /* borrowed for the call; UTF-8 without controls, ends with a NUL */
	size_t length;
	const char *detail; /* likewise, or NULL */
	size_t detail_length;
};

/* Neither may call back into the screen. */
struct screen_callbacks {
	/* The answer to a query, to be typed into the session as it is. Never when muted. */
	void (*reply)(void *user, const char *bytes, size_t length);
	/* Never when muted. */
	void (*event)(void *user, const struct screen_event *event);
};

struct screen_options {
	unsigned rows, cols;
	unsigned scrollback;         /* lines kept above the screen */
	uint64_t offset;             /* of the first byte that will be fed */
	uint64_t version;            /* versions are counted from here on */
	enum screen_unicode unicode; /* until programs set mode 2027, and after a reset */
	const char *mark_secret; /* borrowed; only marks of OSC 133 that have it are kept; NULL: all */
	const struct screen_callbacks *callbacks; /* borrowed; NULL: always muted */
	void *user;
};

enum mouse_protocol { MOUSE_NONE, MOUSE_X10, MOUSE_VT200, MOUSE_DRAG, MOUSE_ANY };
enum mouse_encoding { MOUSE_DEFAULT, MOUSE_SGR, MOUSE_SGR_PIXELS };

/* The modes that programs set. */
struct screen_modes {
	bool application_cursor;   /* DECCKM, ?1 */
	bool application_keypad;   /* DECKPAM, ?66 */
	bool origin;               /* DECOM, ?6 */
	bool wraparound;           /* DECAWM, ?7 */
	bool reverse_wraparound;   /* ?45 */
	bool insert;               /* IRM, 4 */
	bool newline;              /* LNM, 20; a reset leaves it, as in xterm.js */
	bool cursor_hidden;        /* DECTCEM, ?25 */
	bool cursor_blink;         /* ?12; a reset leaves it */
	bool bracketed_paste;      /* ?2004 */
	bool focus;                /* ?1004 */
	bool synchronized_output;  /* ?2026 */
	bool graphemes;            /* ?2027 */
	bool color_scheme;         /* ?2031 */
	uint8_t cursor_style;      /* DECSCUSR: 0 to 6 */
	uint8_t modify_other_keys; /* XTMODKEYS 4 */
	uint8_t kitty_flags;       /* of the active buffer */
	enum mouse_protocol mouse;
	enum mouse_encoding mouse_encoding;
};

/* Make one. Returns 0, -EINVAL for sides out of range, or -ENOMEM. */
int screen_create(struct screen **ret_screen, const struct screen_options *options);
void screen_destroy(struct screen *s);

/*
 * Take output. work: about how many cells may be touched before it stops early, so that a few bytes
 * cannot keep everything else waiting. Returns the bytes taken, at least 1 of them.
 */
size_t screen_feed(struct screen *s, const void *bytes, size_t length, size_t work);

/* Cells touched by the last feed, about. */
size_t screen_work(const struct screen *s);

/* The terminal has this size now. Sides are clamped to what is possible. Returns 0 or -ENOMEM. */
int screen_resize(struct screen *s, unsigned rows, unsigned cols);

/* Whether replies and events are held back: while output is taken that has been taken before. */
void screen_mute(struct screen *s, bool muted);

/* Offset behind the bytes that have been taken. */
uint64_t screen_offset(const struct screen *s);

/*
 * Where a terminal that is in the present state has to go on: where the sequence or character begins
 * that the bytes so far leave unfinished, if they do.
 */
uint64_t screen_resume_offset(const struct screen *s);

unsigned screen_rows(const struct screen *s);
unsigned screen_cols(const struct screen *s);
const struct screen_modes *screen_modes(const struct screen *s);
bool screen_is_alternate(const struct screen *s);

/* The cursor, from 0; ret_col is the number of columns while a character waits to be wrapped. */
void screen_cursor(const struct screen *s, unsigned *ret_row, unsigned *ret_col);

/* Strings are borrowed until the next feed; "" when never set. */
const char *screen_title(const struct screen *s);
const char *screen_icon(const struct screen *s);
const char *screen_cwd(const struct screen *s);

/* Counts up with each feed and resize that may have changed something. */
uint64_t screen_version(const struct screen *s);

/* The version in which a row last changed. */
uint64_t screen_row_version(const struct screen *s, unsigned row);

/* Lines above the screen, and how many older ones have been dropped since the session's birth. */
unsigned screen_scrollback(const struct screen *s);
unsigned screen_scrollback_max(const struct screen *s);
uint64_t screen_dropped(const struct screen *s);

/*
 * In which line the cursor was when a mark of OSC 133 came, of a prompt's end (B) or a command's (D): counted from the
 * session's birth, and true for the screen as it is now. offset: behind the mark's last byte. *ret_left: it was at the left
 * edge. Returns false when that is not known: the line has been dropped or erased, or the mark has not been taken.
 */
bool screen_marked_line(const struct screen *s, uint64_t offset, uint64_t *ret_line, bool *ret_left);

/* Bytes of memory that it takes, about. */
size_t screen_memory(const struct screen *s);
