#include "shell/input/typing.h"

#include "shell/clock.h"
#include "shell/exec/internal.h"
#include "shell/session/sessions.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PASTE_BEGIN "\033[200~"
#define PASTE_END "\033[201~"
#define PASTE_END_C1 "\302\233201~" /* with CSI as one character */
#define INTERRUPT 0x03

static_assert(sizeof PASTE_BEGIN + sizeof PASTE_END - 2 == TYPING_PASTE_SIZE(0), "room for marks");

/* Paste */

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);
	return length >= size && memcmp(text + length - size, end, size) == 0;
}

size_t typing_paste(const char *text, size_t length, bool bracketed, char *dst)
{
	size_t begin = bracketed ? strlen(PASTE_BEGIN) : 0, n = begin;
	for (size_t i = 0; i < length; i++) {
		bool line_feed = text[i] == '\n';
		if (!bracketed && line_feed && i > 0 && text[i - 1] == '\r')
			continue;
		dst[n++] = line_feed && !bracketed ? '\r' : text[i];
		/* What is left of one may be another with what follows: hence at each byte. */
		if (bracketed && ends_with(dst + begin, n - begin, PASTE_END))
			n -= strlen(PASTE_END);
		else if (bracketed && ends_with(dst + begin, n - begin, PASTE_END_C1))
			n -= strlen(PASTE_END_C1);
	}
	if (bracketed) {
		memcpy(dst, PASTE_BEGIN, begin); /* NOLINT(bugprone-not-null-terminated-result) */
		for (const char *end = PASTE_END; *end; end++)
			dst[n++] = *end;
	}
	return n;
}

/* Lines */

static bool is_special(const struct termios *modes, unsigned which, unsigned char byte)
{
	return byte != _POSIX_VDISABLE && modes->c_cc[which] == byte;
}

/* Whether the kernel gives the line away at this byte, or drops it. */
static bool ends_line(const struct termios *modes, unsigned char byte)
{
	bool signals = modes->c_lflag & ISIG;
	if (byte == '\r')
		return modes->c_iflag & (ICRNL | IGNCR);
	if (byte == '\n')
		return !(modes->c_iflag & INLCR);
	return is_special(modes, VEOF, byte) || is_special(modes, VEOL, byte) ||
		is_special(modes, VEOL2, byte) || is_special(modes, VKILL, byte) ||
		(signals &&
			(is_special(modes, VINTR, byte) || is_special(modes, VQUIT, byte) ||
				is_special(modes, VSUSP, byte)));
}

bool typing_follow_line(
	struct typing_line *line, const struct termios *modes, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	bool fits = true;
	for (size_t i = 0; i < length; i++) {
		if (line->quoted) {
			line->quoted = false;
			line->length++;
		} else if ((modes->c_lflag & IEXTEN) && is_special(modes, VLNEXT, at[i])) {
			line->quoted = true;
		} else if (ends_line(modes, at[i])) {
			line->length = 0;
		} else if (is_special(modes, VERASE, at[i])) {
			line->length -= line->length > 0;
		} else {
			line->length++;
		}
		fits = fits && line->length <= TYPING_LINE_MAX;
	}
	return fits;
}

void typing_at_prompt(struct typing *t)
{
	t->line = (struct typing_line){0};
}

/* Who may */

bool typing_admits(const struct session *s, const char *lease)
{
	return lease_admits(&s->typing.lease, lease, clock_wall_ms());
}

static bool only_interrupts(const void *bytes, size_t length)
{
	const char *at = bytes;
	for (size_t i = 0; i < length; i++)
		if (at[i] != INTERRUPT)
			return false;
	return true;
}

/* What is shown */

static size_t first_line(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] == '\r' || bytes[i] == '\n')
			return i + 1;
	return length;
}

/*
 * How many of these bytes the terminal shows, as far as that is certain: the kernel when it echoes, readline at the
 * shell's prompt up to the end of the line. Other programs in raw mode may be asking for a password.
 */
static size_t shown(struct session *s, const struct termios *modes, const void *bytes, size_t length)
{
	const struct executor *x = &s->executor;
	if (modes->c_lflag & ECHO)
		return length;
	if ((modes->c_lflag & ICANON) || x->prompt != EXEC_PROMPT_READY || x->entered > 0 ||
		x->current || x->held_length > 0 || link_input_queued(&s->pane.held.link) > 0 ||
		!exec_shell_in_front(x))
		return 0;
	return first_line(bytes, length);
}

static void note(struct session *s, const struct typist *by, const void *bytes, size_t length,
	uint64_t offset, size_t kept)
{
	struct typed_note n = {.offset = offset,
		.at_ms = clock_wall_ms(),
		.client = by->client,
		.by = by->name,
		.bytes = bytes,
		.length = kept,
		.shown = true};
	typed_add(&s->typing.typed, &n);
	n.length = length - kept;
	n.shown = false;
	typed_add(&s->typing.typed, &n);
}

int typing_write(struct session *s, const struct typist *by, const void *bytes, size_t length,
	struct typing_result *ret_result)
{
	struct termios modes = {0};
	struct typing_line line = s->typing.line;
	if (s->state != SESSION_RUNNING)
		return -ENOTCONN;
	if (!typing_admits(s, by->lease) && !(by->person && only_interrupts(bytes, length)))
		return -EACCES;
	/* Of a terminal that has hung up nothing is known: then no more is shown, and nothing too long. */
	bool known = tcgetattr(s->pane.held.link.master_fd, &modes) == 0;
	if (!known || !(modes.c_lflag & ICANON))
		line = (struct typing_line){0};
	else if (!typing_follow_line(&line, &modes, bytes, length) && !by->person)
		return -EMSGSIZE;
	struct typing_result result = {.offset = session_head(s)};
	size_t before = link_input_queued(&s->pane.held.link) + s->executor.held_length;
	if (before + length > LINK_INPUT_MAX)
		return -ENOBUFS;
	size_t kept = known ? shown(s, &modes, bytes, length) : 0;
	int rc = session_write(s, bytes, length);
	if (rc < 0)
		return rc;
	result.queued = link_input_queued(&s->pane.held.link) + s->executor.held_length;
	result.written = before + length - result.queued;
	if (before > 0)
		result.written = 0;
	s->typing.line = line;
	note(s, by, bytes, length, result.offset, kept < result.written ? kept : result.written);
	if (ret_result)
		*ret_result = result;
	return 0;
}
