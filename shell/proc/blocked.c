/* See blocked.h. A program's memory may be garbage, or change while it is read. */
#include "shell/proc/blocked.h"

#include "pty/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* devices.txt of Linux: /dev/tty, the controlling terminal of the process that opens it. */
#define TTY_MAJOR 5u
#define TTY_MINOR 0u
#define TEXT_MAX 256u
#define NAME_SIZE 64u

bool blocked_parse(const char *text, struct blocked_call *ret_call)
{
	struct blocked_call call;
	char *end;
	call.number = strtol(text, &end, 10);
	if (end == text || call.number < 0)
		return false;
	for (unsigned i = 0; i < BLOCKED_ARGUMENTS; i++) {
		const char *at = end;
		call.arguments[i] = strtoull(at, &end, 16);
		if (end == at)
			return false;
	}
	*ret_call = call;
	return true;
}

/* Compare the path that the file was opened by, without accessing the file. */
static bool is_terminal_by_name(const struct blocked_process *p, const char *name)
{
	char target[NAME_SIZE], wanted[NAME_SIZE];
	ssize_t n = readlinkat(p->fd, name, target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(wanted, sizeof wanted, "/dev/pts/%u", minor(p->terminal));
	return strcmp(target, wanted) == 0 || (p->controlling && strcmp(target, "/dev/tty") == 0);
}

/* AT_STATX_DONT_SYNC: never wait for a file server; the kernel's cache suffices. */
static bool is_terminal(struct blocked_process *p, int fd)
{
	char name[NAME_SIZE];
	struct statx st;
	if (fd < 0 || p->looks == 0)
		return false;
	p->looks--;
	snprintf(name, sizeof name, "fd/%d", fd);
	int rc = statx(p->fd, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st);
	if (rc < 0 && errno == EPERM)
		return is_terminal_by_name(p, name); /* a sandbox that is older than statx(2) */
	if (rc < 0 || !S_ISCHR(st.stx_mode))
		return false;
	if (st.stx_rdev_major == TTY_MAJOR && st.stx_rdev_minor == TTY_MINOR)
		return p->controlling;
	return st.stx_rdev_major == major(p->terminal) && st.stx_rdev_minor == minor(p->terminal);
}

static bool read_memory(const struct blocked_process *p, uint64_t address, void *dst, size_t length)
{
	return p->peek && address > 0 && peek_memory(p->peek, p->target, address, dst, length);
}

/*
 * If the process may not be traced (Yama), or its memory cannot be read in time, wchan still has
 * the kernel function that it sleeps in, but not the descriptor. Assume standard input.
 */
static enum blocked guess(struct blocked_process *p, const char *thread)
{
	static const struct {
		const char *name;
		enum blocked blocked;
	} functions[] = {{"n_tty_read", BLOCKED_READ}, {"wait_woken", BLOCKED_READ},
		{"do_select", BLOCKED_EVENT}, {"do_poll", BLOCKED_EVENT},
		{"do_sys_poll", BLOCKED_EVENT}, {"poll_schedule_timeout", BLOCKED_EVENT},
		{"ep_poll", BLOCKED_EVENT}, {"do_epoll_wait", BLOCKED_EVENT}};
	char name[NAME_SIZE], text[TEXT_MAX] = "";
	snprintf(name, sizeof name, "%swchan", thread);
	if (proc_read(p->fd, name, text, sizeof text) <= 0 || strcmp(text, "0") == 0)
		return BLOCKED_UNKNOWN;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		/* The compiler may add a suffix such as ".constprop.0". */
		size_t length = strlen(functions[i].name);
		if (strncmp(text, functions[i].name, length) == 0 && strchr(".", text[length]) &&
			is_terminal(p, STDIN_FILENO)) {
			p->guessed = true;
			return functions[i].blocked;
		}
	}
	return BLOCKED_UNKNOWN;
}

static enum blocked event_or_no(bool waits)
{
	return waits ? BLOCKED_EVENT : BLOCKED_NO;
}

static enum blocked check_poll(
	struct blocked_process *p, const char *thread, uint64_t address, uint64_t count)
{
	struct pollfd list[BLOCKED_POLL_MAX];
	bool waits = false;
	if (count == 0 || count > BLOCKED_POLL_MAX)
		return BLOCKED_NO;
	if (!read_memory(p, address, list, (size_t)count * sizeof *list))
		return guess(p, thread);
	for (size_t i = 0; i < count && !waits; i++)
		waits = (list[i].events & (POLLIN | POLLRDNORM)) && is_terminal(p, list[i].fd);
	return event_or_no(waits);
}

static enum blocked check_select(
	struct blocked_process *p, const char *thread, uint64_t count, uint64_t address)
{
	uint64_t words[BLOCKED_SELECT_MAX / 64];
	bool waits = false;
	/* Programs often pass a count larger than any descriptor: only the first ones matter. */
	size_t bits = count < BLOCKED_SELECT_MAX ? (size_t)count : BLOCKED_SELECT_MAX;
	size_t bytes = (bits + 63) / 64 * 8;
	if (bits == 0 || address == 0)
		return BLOCKED_NO;
	if (!read_memory(p, address, words, bytes))
		return guess(p, thread);
	for (size_t i = 0; i < bits && !waits; i++)
		waits = (words[i / 64] >> i % 64 & 1) && is_terminal(p, (int)i);
	return event_or_no(waits);
}

bool blocked_parse_epoll(const char *text, bool (*visit)(void *user, int fd), void *user)
{
	/* "tfd: 0 events: 19 data: ...", see proc(5); the events are hexadecimal. */
	for (const char *at = text; (at = strstr(at, "tfd:"));) {
		char *end;
		at += 4;
		long fd = strtol(at, &end, 10);
		const char *events = end + strspn(end, " ");
		if (end == at || strncmp(events, "events:", 7) != 0)
			continue;
		unsigned long mask = strtoul(events + 7, NULL, 16);
		if ((mask & (EPOLLIN | EPOLLRDNORM)) && fd >= 0 && fd <= INT32_MAX &&
			visit(user, (int)fd))
			return true;
	}
	return false;
}

static bool visit_terminal(void *user, int fd)
{
	return is_terminal(user, fd);
}

/*
 * Read by the helper: the kernel may hold the epoll lock while it polls a file that is being added.
 */
static enum blocked check_epoll(struct blocked_process *p, const char *thread, uint64_t fd)
{
	char name[NAME_SIZE], text[BLOCKED_EPOLL_MAX];
	if (fd > INT32_MAX)
		return BLOCKED_NO;
	snprintf(name, sizeof name, "fdinfo/%d", (int)fd);
	ssize_t n = p->peek ? peek_file(p->peek, p->target, name, text, sizeof text - 1) : -ENOSYS;
	if (n < 0)
		return guess(p, thread);
	text[n] = '\0';
	return event_or_no(blocked_parse_epoll(text, visit_terminal, p));
}

static enum blocked decode(
	struct blocked_process *p, const char *thread, const struct blocked_call *call)
{
	const uint64_t *a = call->arguments;
	switch (call->number) {
	case SYS_read:
	case SYS_readv:
		return a[0] <= INT32_MAX && is_terminal(p, (int)a[0]) ? BLOCKED_READ : BLOCKED_NO;
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
	/* Resumed after a stop: a poll, if its arguments are a list like poll's. */
	case SYS_restart_syscall:
		return check_poll(p, thread, a[0], a[1]);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return check_select(p, thread, a[0], a[1]);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		return check_epoll(p, thread, a[0]);
	default:
		return BLOCKED_NO;
	}
}

/* bash sleeps in wait, zsh in sigsuspend, fish on a thread of its own that gets the signal. */
bool blocked_is_awaiting_child(int fd)
{
	static const char *const functions[] = {"do_wait", "sigsuspend", "futex_"};
	char text[TEXT_MAX];
	struct blocked_call call;
	if (proc_read(fd, "syscall", text, sizeof text) > 0)
		return blocked_parse(text, &call) &&
			(call.number == SYS_wait4 || call.number == SYS_waitid ||
				call.number == SYS_rt_sigsuspend || call.number == SYS_futex);
	/* It may not be traced, see guess(). */
	if (proc_read(fd, "wchan", text, sizeof text) <= 0)
		return false;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strncmp(text, functions[i], strlen(functions[i])) == 0)
			return true;
	return false;
}

enum blocked blocked_check_thread(struct blocked_process *p, const char *thread)
{
	char name[NAME_SIZE], text[TEXT_MAX];
	struct blocked_call call;
	snprintf(name, sizeof name, "%ssyscall", thread);
	ssize_t n = proc_read(p->fd, name, text, sizeof text);
	if (n == -ESRCH || n == 0)
		return BLOCKED_NO; /* the thread has exited meanwhile */
	if (n < 0)
		return guess(p, thread);
	return blocked_parse(text, &call) ? decode(p, thread, &call) : BLOCKED_NO;
}
