/* A real holder with a real shell, which the test follows through a link as the server does. */
#pragma once

#include "pty/enter.h"
#include "pty/link.h"
#include "tests/lib/folder.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct held {
	struct folder folder;
	uv_loop_t loop;
	uv_timer_t far; /* keeps the loop alive */
	struct reaper reaper;
	struct link link;
	bool attached, failed, lost, taken, ended, closed, terminal;
	enum report_stage stage;
	int error;
	bool idle;  /* do not consume */
	char *text; /* all output so far, NUL-terminated */
	size_t length, capacity;
	struct event *events;
	size_t events_count, events_capacity;
	uint64_t tail, events_tail;
	pid_t holder;
	int janitor; /* if this closes without a byte, the holder is killed */
};

static inline void held_on_attached(void *user)
{
	((struct held *)user)->attached = true;
}

static inline void held_on_failed(void *user, enum report_stage stage, int error)
{
	struct held *h = user;
	h->failed = true;
	h->stage = stage;
	h->error = error;
}

static inline void held_take_bytes(struct held *h)
{
	size_t n;
	do {
		if (h->capacity - h->length < 65537) {
			h->capacity = h->capacity * 2 + 131072;
			h->text = realloc(h->text, h->capacity);
			cr_assert_not_null(h->text);
		}
		uint64_t before = h->tail;
		n = stream_read(&h->link.ring.bytes, &h->tail, h->text + h->length, 65536);
		cr_assert_eq(h->tail, before + n, "output was overwritten");
		h->length += n;
		h->text[h->length] = '\0';
	} while (n > 0);
}

static inline void held_take_events(struct held *h)
{
	for (;;) {
		if (h->events_count == h->events_capacity) {
			h->events_capacity = h->events_capacity * 2 + 64;
			h->events = realloc(h->events, h->events_capacity * sizeof *h->events);
			cr_assert_not_null(h->events);
		}
		int rc = event_read(
			&h->link.ring.events, &h->events_tail, &h->events[h->events_count]);
		cr_assert_geq(rc, 0, "events were overwritten");
		if (rc == 0)
			return;
		h->events_count++;
	}
}

/* Consume everything, until the link may sleep. */
static inline void held_consume(struct held *h)
{
	do {
		held_take_bytes(h);
		held_take_events(h);
		link_set_consumed(&h->link, h->tail, h->events_tail);
	} while (!link_sleep(&h->link, h->tail, h->events_tail));
}

static inline void held_on_wake(void *user)
{
	struct held *h = user;
	if (!h->idle)
		held_consume(h);
}

static inline void held_on_lost(void *user, bool taken)
{
	struct held *h = user;
	h->lost = true;
	h->taken = taken;
}

static inline void held_on_ended(void *user, int error)
{
	struct held *h = user;
	h->ended = true;
	h->error = error;
}

static inline void held_on_terminal(void *user, const char *path)
{
	((struct held *)user)->terminal = path != NULL;
}

static inline void held_on_closed(void *user)
{
	((struct held *)user)->closed = true;
}

static const struct link_callbacks held_callbacks = {
	.attached = held_on_attached,
	.failed = held_on_failed,
	.wake = held_on_wake,
	.lost = held_on_lost,
	.ended = held_on_ended,
	.terminal = held_on_terminal,
};

/* Make a directory, a loop and an idle link. */
static inline void held_init(struct held *h)
{
	*h = (struct held){.janitor = -1};
	folder_make(&h->folder);
	until_open_loop(&h->loop, &h->far, 1u << 30);
	cr_assert_eq(reaper_open(&h->reaper, &h->loop), 0);
	cr_assert_eq(link_init(&h->link, &h->loop, dup(h->folder.fd), &held_callbacks, h), 0);
}

/* Kill the holder if the test crashes. */
static inline void held_watch(struct held *h)
{
	int fds[2];
	char word;
	cr_assert_eq(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fds[0], 0);
		syscall(SYS_close_range, 1u, ~0u, 0u);
		setsid();
		if (fork() != 0)
			_exit(0);
		if (read(0, &word, 1) == 0)
			kill(h->holder, SIGKILL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(fds[0]);
	fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	h->janitor = fds[1];
}

static inline const char *held_holder(void)
{
	const char *holder = getenv("RINGSIDE_HOLDER");
	cr_assert_not_null(holder, "RINGSIDE_HOLDER must be the path of ringside-holder");
	return holder;
}

static inline int held_try(
	struct held *h, const struct spawn_options *wanted, const char *const *argv)
{
	static const char *const environment[] = {ENTER_HIDDEN_PREFIX
		"PATH=/usr/local/bin:/usr/bin:/bin",
		ENTER_HIDDEN_PREFIX "TERM=xterm", ENTER_HIDDEN_PREFIX "LANG=C.UTF-8",
		ENTER_HIDDEN_PREFIX "PS1=$ ", ENTER_HIDDEN_PREFIX "PS2=", NULL};
	struct spawn_options o = *wanted;
	o.holder = o.holder ? o.holder : held_holder();
	o.dir_fd = h->folder.fd;
	o.cwd = o.cwd ? o.cwd : h->folder.path;
	o.argv = (char *const *)(uintptr_t)argv;
	o.envp = (char *const *)(uintptr_t)environment;
	o.rows = o.rows ? o.rows : 24;
	o.cols = o.cols ? o.cols : 80;
	o.ring_size = o.ring_size ? o.ring_size : 1 << 20;
	o.control_size = o.control_size ? o.control_size : 4096;
	o.owner = o.owner ? o.owner : geteuid();
	return link_start(&h->link, &o, &h->reaper);
}

static inline void held_start_with(
	struct held *h, const struct spawn_options *options, const char *const *argv)
{
	held_init(h);
	cr_assert_eq(held_try(h, options, argv), 0);
	cr_assert(LOOP_UNTIL(&h->loop, h->attached || h->failed));
	cr_assert(h->attached, "failed at stage %d: %d", h->stage, h->error);
	h->holder = h->link.info.holder_pid;
	held_watch(h);
	if (!h->idle)
		held_consume(h);
}

/* Start an interactive bash without startup files. */
static inline void held_start(struct held *h)
{
	static const char *const argv[] = {"bash", "--norc", "--noprofile", NULL};
	held_start_with(h, &(struct spawn_options){0}, argv);
}

/* Run bash -c script in the session's directory, where ./f, ./o and ./e link to the FIFOs. */
static inline void held_run(struct held *h, const char *script)
{
	static const char links[] =
		"for n in 7 8 9; do /bin/ln -sf /proc/$PPID/fd/$n .; done; /bin/mv 7 f; /bin/mv 8 o; /bin/mv 9 e; unset n\n";
	char *text = calloc(1, sizeof links + strlen(script));
	cr_assert_not_null(text);
	memcpy(text, links, sizeof links - 1);
	memcpy(text + sizeof links - 1, script, strlen(script));
	const char *const argv[] = {"bash", "--norc", "-c", text, NULL};
	held_start_with(h, &(struct spawn_options){0}, argv);
	free(text);
}

static inline void held_type(struct held *h, const char *text)
{
	cr_assert_eq(link_write(&h->link, text, strlen(text)), 0);
}

/* Wait for output. */
static inline void held_expect(struct held *h, const char *text)
{
	bool found = LOOP_UNTIL(&h->loop, h->text && strstr(h->text, text));
	cr_assert(found, "no \"%s\" in: %s", text, h->text ? h->text : "");
}

/* The n-th event of a type, or NULL. */
static inline const struct event *held_event(const struct held *h, enum event_type type, size_t n)
{
	for (size_t i = 0; i < h->events_count; i++)
		if (h->events[i].header.type == type && n-- == 0)
			return &h->events[i];
	return NULL;
}

static inline void held_wait_exit(struct held *h)
{
	bool exited = LOOP_UNTIL(&h->loop, held_event(h, EVENT_EXIT, 0) != NULL);
	cr_assert(exited, "no exit; output: %s", h->text ? h->text : "");
}

/* Detach from the holder, which lives on. */
static inline void held_close_link(struct held *h)
{
	link_close(&h->link, held_on_closed);
	cr_assert(LOOP_UNTIL(&h->loop, h->closed));
}

static inline bool held_is_alive(pid_t pid)
{
	return kill(pid, 0) == 0;
}

/* Kill the holder and free everything, in any state. */
static inline void held_finish(struct held *h)
{
	if (h->link.state == LINK_ATTACHED && !h->link.closing && link_end(&h->link, 20) == 0)
		(void)LOOP_UNTIL(&h->loop, h->ended || h->lost);
	if (!h->link.closing)
		held_close_link(h);
	if (h->holder > 0 && !h->ended)
		kill(h->holder, SIGKILL);
	if (h->holder > 0)
		(void)LOOP_UNTIL(&h->loop, !held_is_alive(h->holder));
	reaper_close(&h->reaper);
	until_close_loop(&h->loop, &h->far);
	if (h->janitor >= 0) {
		(void)!write(h->janitor, "x", 1);
		close(h->janitor);
	}
	free(h->text);
	free(h->events);
	folder_remove(&h->folder);
}
