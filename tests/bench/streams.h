/* Floods of terminal output, with CR LF. The bytes are the same in each run and on each machine. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum stream_kind {
	STREAM_TEXT, /* `cat` of source code, prose in several scripts, data and very long lines */
	STREAM_SEQ,  /* `seq`: numbers from 1 */
	STREAM_COMPILER,      /* a build's log: colours, diagnostics of gcc with links (OSC 8) */
	STREAM_REDRAW_80X24,  /* htop and vim in turn draw the whole alternate screen */
	STREAM_REDRAW_200X50, /* the same on a large screen */
	STREAM_KINDS
};

/* A short name for tables: "text", "seq", … */
const char *stream_name(enum stream_kind kind);

/*
 * Fill dst, cap bytes, borrowed. The output for a smaller cap is a prefix of that for a larger one. Returns bytes
 * written: at most cap, and less by at most one line, diagnostic or screenful, because all are whole.
 */
size_t stream_make(enum stream_kind kind, uint8_t *dst, size_t cap);

/* Remove links (OSC 8) in place. Returns the remaining length. */
size_t stream_without_links(uint8_t *bytes, size_t length);
