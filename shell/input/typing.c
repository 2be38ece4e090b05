/* See typing.h. The line is tracked byte by byte as n_tty does, with the terminal's modes. */
#include "shell/input/typing.h"

#include "shell/clock.h"
#include "shell/hash.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

static_assert(sizeof TYPING_PASTE_BEGIN + sizeof TYPING_PASTE_END - 2 == TYPING_PASTE_SIZE(0),
	"space for both markers");

/* Paste */

#define C1_LEAD '\302' /* first byte of U+0080 to U+00BF in UTF-8 */

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static bool is_c1_trail(char byte)
{
	return (unsigned char)byte >= 0x80 && (unsigned char)byte < 0xa0;
}

/* The character to send for this one, NUL for none. */
static char clean(char byte, bool after_cr)
{
	if (byte == '\n')
		return after_cr ? '\0' : '\r';
	bool control = (unsigned char)byte < ' ' || byte == '\177';
	return control && byte != '\t' && byte != '\r' ? '\0' : byte;
}

size_t typing_clean(struct typing_cleaner *c, const char *text, size_t length, char *dst)
{
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		bool c1 = c->has_lead && is_c1_trail(text[i]);
		/* A lead without a trail is dropped: it could form a C1 behind a removed character. */
		if (c->has_lead && !c1 && is_continuation(text[i]))
			dst[n++] = C1_LEAD;
		c->has_lead = text[i] == C1_LEAD;
		char sent = c1 || c->has_lead ? '\0' : clean(text[i], c->after_cr);
		c->after_cr = text[i] == '\r';
		if (sent)
			dst[n++] = sent;
	}
	return n;
}

/* Copy a marker to dst, without its NUL. Returns its length. */
static size_t put_mark(char *dst, const char *mark)
{
	size_t n = 0;
	for (; mark[n]; n++)
		dst[n] = mark[n];
	return n;
}

size_t typing_paste(const char *text, size_t length, bool bracketed, char *dst)
{
	struct typing_cleaner c = {0};
	size_t n = bracketed ? put_mark(dst, TYPING_PASTE_BEGIN) : 0;
	n += typing_clean(&c, text, length, dst + n);
	return bracketed ? n + put_mark(dst + n, TYPING_PASTE_END) : n;
}

void typing_follow_paste(struct typing_pasting *paste, const void *bytes, size_t length)
{
	const char *at = bytes;
	for (size_t i = 0; i < length; i++) {
		const char *expected = paste->open ? TYPING_PASTE_END : TYPING_PASTE_BEGIN;
		if (at[i] != expected[paste->matched]) {
			paste->matched = at[i] == '\033';
		} else if (++paste->matched == strlen(expected)) {
			paste->open = !paste->open;
			paste->matched = 0;
		}
	}
}

static uint64_t hash_name(uint64_t hash, const char *name)
{
	return hash_text(hash_text(hash, name ? name : ""), "\xff");
}

void typing_reset_paste(struct typing *t)
{
	t->paste = (struct typing_pasting){0};
	t->cut_paste_typist = 0;
}

uint64_t typing_typist_id(const struct typist *by)
{
	if (by->key || by->client)
		return by->key ? by->key : by->client;
	return hash_name(hash_name(HASH_START, by->author), by->label);
}

/* Lines */

static bool is_special(const struct termios *modes, unsigned which, unsigned char byte)
{
	return byte != _POSIX_VDISABLE && modes->c_cc[which] == byte;
}

/* Whether this byte makes the kernel deliver or discard the line. */
static bool ends_line(const struct termios *modes, unsigned char byte)
{
	bool has_signals = modes->c_lflag & ISIG;
	if (byte == '\r')
		return modes->c_iflag & ICRNL;
	if (byte == '\n')
		return !(modes->c_iflag & INLCR);
	return is_special(modes, VEOF, byte) || is_special(modes, VEOL, byte) ||
		is_special(modes, VEOL2, byte) || is_special(modes, VKILL, byte) ||
		(has_signals &&
			(is_special(modes, VINTR, byte) || is_special(modes, VQUIT, byte) ||
				is_special(modes, VSUSP, byte)));
}

bool typing_follow_line(
	struct typing_line *line, const struct termios *modes, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	bool is_short_enough = true;
	for (size_t i = 0; i < length; i++) {
		if (line->quoted) {
			line->quoted = false;
			line->length++;
		} else if ((modes->c_lflag & IEXTEN) && is_special(modes, VLNEXT, at[i])) {
			line->quoted = true;
		} else if (at[i] == '\r' && (modes->c_iflag & IGNCR)) {
			continue; /* the kernel drops it */
		} else if (ends_line(modes, at[i])) {
			line->length = 0;
		} else if (is_special(modes, VERASE, at[i])) {
			line->length -= line->length > 0;
		} else {
			line->length++;
		}
		is_short_enough = is_short_enough && line->length <= TYPING_LINE_MAX;
	}
	return is_short_enough;
}

size_t typing_find_answer(const void *bytes, size_t length)
{
	static const char ends[] = "\r\n\003\004\032\034"; /* Ctrl-C, Ctrl-D, Ctrl-Z, Ctrl-\ */
	const char *at = bytes;
	for (size_t i = 0; i < length; i++)
		if (at[i] && strchr(ends, at[i]))
			return i;
	return length;
}

void typing_reset_line(struct typing *t)
{
	t->line = (struct typing_line){0};
}

/* Permission */

bool typing_is_allowed(const struct typing *t, const char *lease)
{
	return lease_allows(&t->lease, lease, clock_wall_ms());
}
