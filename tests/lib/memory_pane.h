/*
 * A pane without a holder: the test writes its ring and reads the terminal's input. It has no process, and the
 * foreground is always that of the shell, whose pid is 0.
 */
#pragma once

#include "shell/pane/pane.h"
#include "tests/lib/folder.h"
#include "tests/lib/memory_ring.h"
#include "tests/lib/until.h"

#include <errno.h>
#include <pty.h>
#include <stdarg.h>
#include <stdio.h>
#include <termios.h>

#define MEMORY_PANE_NONCE "0123456789abcdef0123456789abcdef"

struct memory_pane {
	struct pane pane;
	struct pane_counters counters;
	struct folder folder;
	uv_loop_t loop;
	int program; /* the other end of the terminal, which does not block */
	bool closed;
};

static inline void memory_pane_make(struct memory_pane *m)
{
	static const struct link_callbacks callbacks = {0};
	static const struct screen_callbacks screen_callbacks = {0};
	const struct live_options live = {.callbacks = &screen_callbacks};
	struct link *l = &m->pane.held.link;
	struct termios raw;
	int fd;
	*m = (struct memory_pane){.pane = {.counters = &m->counters, .rows = 24, .cols = 80}};
	folder_make(&m->folder);
	cr_assert_eq(uv_loop_init(&m->loop), 0);
	cr_assert_eq(link_init(l, &m->loop, dup(m->folder.fd), &callbacks, m), 0);
	memory_ring_make(&l->ring, 1 << 20);
	cr_assert_eq(control_create(&l->control, 4096, &fd), 0);
	close(fd);
	cr_assert_eq(openpty(&l->master_fd, &m->program, NULL, NULL, NULL), 0);
	cr_assert_eq(tcgetattr(m->program, &raw), 0);
	cfmakeraw(&raw);
	cr_assert_eq(tcsetattr(m->program, TCSANOW, &raw), 0);
	fcntl(l->master_fd, F_SETFL, O_NONBLOCK);
	fcntl(m->program, F_SETFL, O_NONBLOCK);
	cr_assert_eq(uv_poll_init(&m->loop, &l->master, l->master_fd), 0);
	l->master.data = l;
	l->master_open = true;
	l->open_handles++;
	l->state = LINK_ATTACHED;
	m->pane.held.directory = m->folder.path;
	cr_assert_eq(history_init(&m->pane.history, &l->ring, &l->control), 0);
	cr_assert_eq(live_init(&m->pane.live, &m->pane.history, &live), 0);
	m->pane.history_open = true;
	m->pane.life.runs = true;
	journal_open(&m->pane.journal, 0);
}

static inline void memory_pane_on_closed(void *user)
{
	((struct memory_pane *)user)->closed = true;
}

static inline void memory_pane_finish(struct memory_pane *m)
{
	journal_close(&m->pane.journal);
	live_finish(&m->pane.live);
	history_finish(&m->pane.history);
	link_close(&m->pane.held.link, memory_pane_on_closed);
	uv_run(&m->loop, UV_RUN_DEFAULT);
	cr_assert(m->closed);
	cr_assert_eq(uv_loop_close(&m->loop), 0);
	close(m->program);
	folder_remove(&m->folder);
}

/* Append output and consume it. */
static inline void memory_pane_say(struct memory_pane *m, const char *format, ...)
{
	char text[4096];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	memory_ring_say(&m->pane.held.link.ring, text);
	history_consume(&m->pane.history, SIZE_MAX, false);
}

/* Append a mark of the shell, "C;id=exec_1" without the nonce. */
static inline void memory_pane_mark(struct memory_pane *m, const char *kind, const char *rest)
{
	memory_pane_say(m, "\033]133;%s;aid=" MEMORY_PANE_NONCE "%s\a", kind, rest);
}

/* Append a record: the fields after the kind and the nonce, with '|' as separator. */
static inline void memory_pane_record(struct memory_pane *m, char kind, const char *rest)
{
	char text[1024];
	int n = snprintf(text, sizeof text, "%c|" MEMORY_PANE_NONCE "|%s\x1e", kind, rest);
	for (char *at = text; *at; at++)
		if (*at == '|')
			*at = '\x1f';
	memory_ring_event(&m->pane.held.link.ring, EVENT_FIFO, text, (size_t)n);
	history_consume(&m->pane.history, SIZE_MAX, false);
}

/* What has been typed since the last call. */
static inline const char *memory_pane_typed(struct memory_pane *m)
{
	static char text[4096];
	ssize_t n = read(m->program, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}
