/* Writing to the terminal: commands, our keys, and input of clients, which waits for those. */
#include "ring/screen/leftover.h"
#include "shell/clock.h"
#include "shell/exec/internal.h"
#include "shell/own_error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Whether the shell has had time to report the lines that were entered. */
static bool is_settled(const struct executor *x)
{
	uint64_t now = exec_now(x);
	return x->entered == 0 ||
		(now >= x->entered_ms + EXEC_SETTLE_MS && now >= x->prompt_ms + EXEC_SETTLE_MS);
}

bool exec_is_ready(struct executor *x)
{
	uint64_t now = exec_now(x);
	if (x->current || x->sign != EXEC_SIGN_NONE || x->paste.open || x->held_input_length > 0 ||
		x->back_due || !x->pane->life.runs || link_input_queued(&x->pane->held.link) > 0)
		return false;
	if (x->prompt == EXEC_PROMPT_CONTINUATION)
		return false;
	if (!exec_shell_is_foreground(x) || !exec_shell_reads_keys(x))
		return false;
	/* A signal may yet reach the shell itself, which then discards its input. */
	if (x->signalled_ms > 0 && now < x->signalled_ms + EXEC_SETTLE_MS)
		return false;
	if (!is_settled(x))
		return false;
	if (x->prompt == EXEC_PROMPT_READY) {
		x->entered = 0; /* the rest went to a program, or into the line */
		return exec_shell_is_ours(x);
	}
	/*
	 * The prompt and its hook may have been replaced. Then the kernel shows that the shell
	 * reads a line; not before the first prompt, when a program of the startup files may be
	 * reading.
	 */
	if (exec_shell_is_starting(x) || now < x->prompt_ms + EXEC_UNMARKED_MS ||
		!exec_shell_reads_terminal(x, now >= x->prompt_ms + EXEC_UNSEEN_MS) ||
		exec_has_unread_output(x))
		return false;
	x->column = 0;
	return exec_shell_is_ours(x);
}

/*
 * Compute where the line that runs the script begins, seen from the cursor after it was accepted.
 * If the line has filled its last row, readline is on the next row already and prints no further
 * newline (_rl_update_final()).
 */
static void locate_line(const struct executor *x, struct integration_command *plan)
{
	size_t line = integration_line_length(x->shell);
	unsigned cols = pane_cols(x->pane);
	plan->column = x->column;
	size_t filled = x->column ? x->column - 1 + line : 0;
	bool joined = x->shell == INTEGRATION_BASH && filled > 0 && filled % cols == 0;
	plan->up = 1 + (unsigned)(filled / cols) - joined;
}

static int write_script(struct executor *x, struct exec *e)
{
	size_t length;
	char *header = exec_log_header(e);
	char *script = header ? integration_script(&e->plan, &length) : NULL;
	int rc = script ? 0 : -ENOMEM;
	size_t header_length = header ? strlen(header) : 0;
	errno = 0; /* a short write sets none */
	if (rc == 0 &&
		(ftruncate(x->script_fd, 0) < 0 ||
			pwrite(x->script_fd, header, header_length, 0) != (ssize_t)header_length ||
			pwrite(x->script_fd, script, length, (off_t)header_length) !=
				(ssize_t)length))
		rc = errno ? -errno : -EIO;
	e->header_length = header_length;
	free(header);
	free(script);
	return rc;
}

int exec_type(struct exec *e)
{
	char keys[sizeof INTEGRATION_LOAD + SEAL_TYPED + 1], seal[SEAL_TYPED + 1];
	struct executor *x = e->executor;
	struct integration_command *plan = &e->plan;
	exec_move(e, EXEC_STARTING);
	e->typed_ms = exec_now(x);
	e->typed_offset = x->outline.offset;
	e->typed_position = x->outline.position;
	e->events_lost = x->outline.events_lost;
	plan->id = e->id;
	plan->shell = x->shell;
	plan->command = e->command;
	plan->length = e->length;
	plan->input = e->input;
	locate_line(x, plan);
	plan->error_terminal = x->error_terminal;
	int rc = seal_make(&e->seal, seal);
	if (rc == 0)
		rc = write_script(x, e);
	int length = snprintf(keys, sizeof keys, INTEGRATION_LOAD "%s\r", seal);
	if (rc == 0)
		rc = exec_type_key(x, keys, (size_t)length);
	if (rc < 0) {
		x->all->callbacks->failed(x->user, "cannot type a command", rc);
		return rc;
	}
	exec_move_prompt(x, EXEC_PROMPT_LEFT);
	for (int i = 0; i < EXEC_STREAMS; i++)
		excerpt_init(&e->output[i], e->output_max);
	e->collecting = true;
	exec_changed(e);
	return 0;
}

/* Input of clients */

void exec_forget_paste(struct executor *x)
{
	x->paste = (struct typing_pasting){0};
}

/* Whether a byte ends a line: CR, LF, Ctrl-C, Ctrl-D or Ctrl-O. */
static bool ends_line(char c)
{
	return c == '\r' || c == '\n' || c == 0x03 || c == 0x04 || c == 0x0f;
}

/*
 * readline: Ctrl-R and Ctrl-S begin or continue a history search. Ctrl-H, Ctrl-Q, Ctrl-V, Ctrl-W
 * and Ctrl-Y edit its text; other control characters end it. With IXON, Ctrl-S stops the terminal.
 */
static void note_search(struct executor *x, char c)
{
	static const char changes[] = "\010\021\026\027\031";
	struct termios modes;
	int master = x->pane->held.link.master_fd;
	bool ready = x->prompt == EXEC_PROMPT_READY && !x->paste.open;
	if (c == 0x12)
		x->searching = ready;
	else if (c == 0x13 && tcgetattr(master, &modes) == 0 && !(modes.c_iflag & IXON))
		x->searching = ready;
	else if (c >= 0 && c < ' ' && c != 0x13 && !(c && strchr(changes, c)))
		x->searching = false;
}

/* In a history search our key would end the search and be typed in part. Ctrl-G leaves it. */
int exec_type_key(struct executor *x, const char *keys, size_t length)
{
	static const char leave[] = "\007";
	struct link *link = &x->pane->held.link;
	if (x->editor && x->editor[0])
		return -ENOTSUP;
	if (x->searching && x->shell == INTEGRATION_BASH)
		(void)link_write(link, leave, sizeof leave - 1);
	x->searching = false;
	return error_of_holder(link_write(link, keys, length));
}

/* Whether the shell reads a line at its prompt and no input is pending. */
static bool is_at_rest(const struct executor *x)
{
	return x->prompt == EXEC_PROMPT_READY && !x->current && !x->paste.open &&
		exec_input_waiting(x) == 0 && is_settled(x) && exec_shell_is_foreground(x) &&
		exec_shell_reads_keys(x);
}

/* The shell prints the bytes that undo it, and redraws its prompt. */
void exec_undo_leftovers(struct executor *x)
{
	char bytes[LEFTOVER_UNDO_MAX];
	char keys[sizeof INTEGRATION_UNDO + INTEGRATION_UNDO_LENGTH] = INTEGRATION_UNDO;
	char *at = keys + sizeof INTEGRATION_UNDO - 1;
	if (!x->undo || x->undo_offset > x->prompt_offset)
		return;
	if (x->undo_offset < x->prompt_offset || exec_now(x) > x->prompt_ms + EXEC_UNDO_MS) {
		x->undo = 0; /* of an earlier prompt, or the shell does not come to rest */
		return;
	}
	executors_add_busy(x);
	if (!is_at_rest(x))
		return;
	size_t length = leftover_undo(x->undo, x->undo_row, bytes);
	for (size_t i = 0; i < INTEGRATION_UNDO_LENGTH; i++) {
		char byte = i < length ? bytes[i] : ' ';
		*at++ = byte == '\033' ? 'E' : byte == '\017' ? 'O' : byte;
	}
	x->undo = 0;
	if (exec_type_key(x, keys, (size_t)(at - keys)) >= 0)
		exec_move_prompt(x, EXEC_PROMPT_COMING);
}

/* Whether a command has been typed and has not begun: the shell would take input for its line. */
static bool is_typing(const struct executor *x)
{
	return x->current && x->current->state == EXEC_STARTING;
}

/* Whether to hold input back. Signal keys such as Ctrl-C wait only until the command has begun. */
static bool has_to_wait(const struct executor *x, const char *text, size_t length)
{
	if (is_typing(x))
		return true;
	/*
	 * Keep the order of held input. Before the first prompt, startup files could read it; while
	 * that prompt is being drawn, the kernel would echo it and readline would again.
	 */
	if (x->held_input_length == 0 && !exec_shell_is_starting(x) &&
		(!(x->back_due || x->prompt == EXEC_PROMPT_FIRST) || exec_now(x) >= x->hold_until_ms))
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] == 0x03 || text[i] == 0x1a || text[i] == 0x1c)
			return false;
	return true;
}

/* Returns 0 or -ENOBUFS. */
static int hold_input(struct executor *x, const void *bytes, size_t length)
{
	/* It must fit into the link's queue afterwards. */
	if (x->held_input_length + length + link_input_queued(&x->pane->held.link) > LINK_INPUT_MAX)
		return -ENOBUFS;
	uint8_t *grown = realloc(x->held_input, x->held_input_length + length);
	if (!grown)
		return -ENOBUFS;
	x->held_input = grown;
	memcpy(x->held_input + x->held_input_length, bytes, length);
	x->held_input_length += length;
	executors_add_busy(x);
	pane_note_typed(x->pane); /* its bytes are counted when they are written */
	return 0;
}

size_t exec_input_waiting(const struct executor *x)
{
	return link_input_queued(&x->pane->held.link) + x->held_input_length;
}

/* Write input now. Returns 0 or a negative errno. */
static int write_input(struct executor *x, const void *bytes, size_t length)
{
	const char *text = bytes;
	struct exec *e = x->current;
	for (size_t i = 0; i < length; i++) {
		bool was_open = x->paste.open;
		typing_follow_paste(&x->paste, text + i, 1);
		if (x->paste.open && !was_open)
			x->paste_undisturbed = x->entered == 0;
		note_search(x, text[i]);
		if (ends_line(text[i]) && !x->paste.open) {
			x->entered++;
			x->entered_ms = exec_now(x);
		}
	}
	if (e)
		e->interleaved = true;
	if (e && e->state == EXEC_RUNNING && memchr(bytes, 0x03, length))
		exec_note_interrupt(e);
	return pane_write(x->pane, bytes, length);
}

int exec_write(struct executor *x, const void *bytes, size_t length)
{
	struct pane *p = x->pane;
	if (!p->life.runs)
		return -ERR_NOT_RUNNING;
	if (!x->open || length == 0)
		return pane_write(p, bytes, length);
	if (!has_to_wait(x, bytes, length))
		return write_input(x, bytes, length);
	int rc = hold_input(x, bytes, length);
	p->counters->input_refused += rc < 0;
	return rc;
}

/*
 * Whether the terminal, in canonical mode while a command runs, would cut the held input, which was
 * typed for the shell's line editor. The end of a paste could get lost, for which the shell would
 * then wait for ever.
 */
static bool would_be_cut(const struct executor *x)
{
	struct termios modes;
	struct typing_line line = {0};
	if (x->held_input_length <= TYPING_LINE_MAX ||
		(x->prompt == EXEC_PROMPT_READY && !x->current))
		return false;
	return tcgetattr(x->pane->held.link.master_fd, &modes) == 0 && (modes.c_lflag & ICANON) &&
		!typing_follow_line(&line, &modes, x->held_input, x->held_input_length);
}

void exec_release_input(struct executor *x)
{
	if (x->held_input_length == 0 || is_typing(x) || would_be_cut(x))
		return;
	uint8_t *held = x->held_input;
	size_t length = x->held_input_length;
	x->held_input = NULL;
	x->held_input_length = 0;
	if (!x->pane->life.runs || write_input(x, held, length) < 0)
		x->all->callbacks->failed(
			x->user, "input that waited for a command to begin was lost", -ENOBUFS);
	free(held);
}
