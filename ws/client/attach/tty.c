#include "ws/client/attach/tty.h"

#include "shell/write_all.h"
#include "ws/client/attach/downgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/*
 * Switches off everything that a session may have switched on, one by one, because RIS would clear
 * the user's scrollback. CAN and ST end an unfinished sequence.
 */
#define RESET                                                                                          \
	"\030\033\\"                                                                                   \
	"\033[?1047l"                               /* the alternate screen */                         \
	"\033[?9l\033[?1000l\033[?1002l\033[?1003l" /* mouse */                                        \
	"\033[?1005l\033[?1006l\033[?1015l\033[?1016l\033[?1007l"                                      \
	"\033[?1004l\033[?2004l\033[?2026l\033[?2031l" /* focus, paste, synchronized, colour scheme */ \
	"\033[<16u\033[=0;1u\033[>4m"                  /* keyboard protocols */                        \
	"\033[?1l\033>\033[4l\033[20l"                 /* cursor keys, keypad, insert, newline */      \
	"\033[?5l\033[?6l\033[?7h\033[?45l\033[?69l\033[r" /* reverse, origin, wrap, margins */        \
	"\033[m\033[0\"q\033]8;;\033\\"                    /* pen, link */                             \
	"\033(B\033)B\033*B\033+B\017"                                                                 \
	"\033[?5W"                                                 /* tab stops */                     \
	"\033[?25h\033[0 q"                                        /* cursor */                        \
	"\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\" /* colours */

static const char push_title[] = "\033[22;0t";
static const char reset_text[] = RESET;

/* RESET, cursor to the last row, restore the title. */
static const char leave[] = RESET "\033[999;1H\033[23;0t";

/*
 * RESET moves the cursor: save and restore it, then reset the pen and charsets that are saved with
 * it.
 */
static const char leave_inline[] = "\030\033\\\033[?1047l\0337" RESET "\0338\033[m\033(B\017";

/* Static, because the handler of a crash needs it. */
static struct {
	struct termios before, raw;
	int fd;
	bool open;
	bool ours; /* it is raw now */
	bool is_inline;
	struct downgrade downgrade;      /* filters output for this TERM */
	char crash[sizeof leave_inline]; /* written after a crash, already filtered */
	size_t crash_length;
} tty = {.fd = -1};

static bool write_tty(void *user, const void *bytes, size_t length)
{
	(void)user;
	return write_all(STDOUT_FILENO, bytes, length) == 0;
}

bool tty_write(const void *bytes, size_t length)
{
	return tty.downgrade.kind ? downgrade_write(&tty.downgrade, bytes, length)
				  : write_tty(NULL, bytes, length);
}

static const char *leave_text(size_t *ret_length)
{
	*ret_length = tty.is_inline ? sizeof leave_inline - 1 : sizeof leave - 1;
	return tty.is_inline ? leave_inline : leave;
}

static void restore(void)
{
	size_t length;
	if (!tty.ours)
		return;
	tty.ours = false;
	const char *text = leave_text(&length);
	tty_write(text, length);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &tty.before);
}

static void on_crash(int signo)
{
	/* restore() with async-signal-safe functions only. */
	if (tty.ours && write(STDOUT_FILENO, tty.crash, tty.crash_length) >= 0)
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &tty.before);
	signal(signo, SIG_DFL);
	raise(signo);
}

static bool append_to_crash(void *user, const void *bytes, size_t length)
{
	(void)user;
	if (length > sizeof tty.crash - tty.crash_length)
		return false;
	memcpy(tty.crash + tty.crash_length, bytes, length);
	tty.crash_length += length;
	return true;
}

/* Choose the filter for TERM, and filter the text for crashes. */
static void prepare_filters(void)
{
	size_t length;
	const char *text = leave_text(&length);
	downgrade_init(&tty.downgrade, getenv("TERM"), append_to_crash, NULL);
	tty.crash_length = 0;
	downgrade_write(&tty.downgrade, text, length);
	downgrade_init(&tty.downgrade, getenv("TERM"), write_tty, NULL);
}

static void make_raw(void)
{
	tty.ours = true;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &tty.raw);
	if (!tty.is_inline)
		tty_write(push_title, sizeof push_title - 1);
}

static int open_tty(bool is_inline)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	static bool prepared;
	char name[64];
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
		tcgetattr(STDIN_FILENO, &tty.before) < 0)
		return -ENOTTY;
	/* The shell shares the open file description, so open the terminal anew for O_NONBLOCK. */
	int rc = ttyname_r(STDIN_FILENO, name, sizeof name);
	if (rc != 0)
		return -rc;
	tty.fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (tty.fd < 0)
		return -errno;
	tty.raw = tty.before;
	cfmakeraw(&tty.raw);
	tty.raw.c_cc[VMIN] = 1;
	tty.raw.c_cc[VTIME] = 0;
	tty.open = true;
	tty.is_inline = is_inline;
	prepare_filters();
	for (size_t i = 0; !prepared && i < sizeof crashes / sizeof *crashes; i++)
		signal(crashes[i], on_crash);
	if (!prepared)
		atexit(tty_close);
	prepared = true;
	make_raw();
	return tty.fd;
}

int tty_open(void)
{
	return open_tty(false);
}

int tty_open_inline(void)
{
	return open_tty(true);
}

void tty_close(void)
{
	if (!tty.open)
		return;
	restore();
	tty.open = false;
	close(tty.fd);
}

void tty_suspend(void)
{
	restore();
}

void tty_resume(void)
{
	if (tty.open && !tty.ours)
		make_raw();
}

bool tty_reset(void)
{
	return tty.ours && tty_write(reset_text, sizeof reset_text - 1);
}

long tty_read(void *bytes, size_t size, int within_ms)
{
	struct pollfd wait = {.fd = tty.fd, .events = POLLIN};
	if (poll(&wait, 1, within_ms) <= 0)
		return 0;
	ssize_t n = read(tty.fd, bytes, size);
	return n > 0 ? n : n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

void tty_size(unsigned *ret_cols, unsigned *ret_rows)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
		size.ws_row > 0;
	*ret_cols = known ? size.ws_col : 80;
	*ret_rows = known ? size.ws_row : 24;
}

void tty_clear(bool scroll)
{
	unsigned cols, rows;
	char text[32];
	tty_size(&cols, &rows);
	tty_write(reset_text, sizeof reset_text - 1);
	/* Line feeds in the last row scroll the screen into the scrollback. */
	int n = snprintf(text, sizeof text, "\033[%u;1H", rows);
	tty_write(text, (size_t)n);
	for (unsigned i = 0; scroll && i < rows; i++)
		tty_write("\n", 1);
	tty_write("\033[H\033[J", 6);
}
