/*
 * A table of things: the smallest kind of held object (shell/held/held.h), with holders in memory
 * (tests/lib/memory_holder.h). A thing has only an id, in the file "thing" of its directory.
 */
#pragma once

#include "shell/held/adoption.h"
#include "shell/held/ending.h"
#include "shell/held/table.h"
#include "shell/store/directory.h"
#include "tests/lib/folder.h"
#include "tests/lib/memory_holder.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct thing {
	struct held held; /* first */
	bool attached, spared;
};

static struct {
	struct folder folder;
	uv_loop_t loop;
	uv_timer_t alive; /* keeps the loop alive */
	struct held_table table;
	unsigned attached, failed, lost, regained, turns, found, unseen, again, ended, freed,
		sweeps, changed;
	unsigned complaints;
	char complaint[256]; /* the latest */
	bool needs_no_holder;
	int load_error;
	int answers; /* of waiters */
	int error;   /* the latest answer */
} t;

static inline struct thing *thing_of(struct held *h)
{
	return (struct thing *)(void *)h;
}

static inline void things_report_error(
	struct held_table *table, const char *id, const char *what, int error)
{
	(void)table;
	(void)error;
	t.complaints++;
	snprintf(t.complaint, sizeof t.complaint, "%s: %s", id, what);
}

static inline void things_sweep(struct held_table *table)
{
	(void)table;
	t.sweeps++;
}

static inline enum turn_next things_take_turn(struct held *h)
{
	t.turns++;
	if (h->holder_lost || h->link.state != LINK_ATTACHED)
		return TURN_SLEEP;
	uint64_t head = stream_head(&h->link.ring.bytes), events = stream_head(&h->link.ring.events);
	link_set_consumed(&h->link, head, events);
	return link_sleep(&h->link, head, events) ? TURN_SLEEP : TURN_MORE;
}

static inline void things_on_attached(struct held *h)
{
	t.attached++;
	thing_of(h)->attached = true;
	if (h->place == HELD_ENDING && !held_ask_to_end(h, 0))
		removal_force(&h->removal);
	held_run_turn(h);
	held_answer_waiters(&h->start_waiters, h, REPORT_READY, 0);
}

static inline void things_release(struct held *h)
{
	held_release(h);
	held_close(h);
}

static inline void things_on_failed(struct held *h, enum report_stage stage, int error)
{
	t.failed++;
	held_answer_waiters(&h->start_waiters, h, stage, error);
	held_remove_directory(h->table, h->directory);
	things_release(h);
}

static inline void things_end(struct thing *thing, struct held_waiter *w, unsigned wait_ms)
{
	held_begin_end(&thing->held, w);
	bool asked = held_ask_to_end(&thing->held, 0);
	held_end(&thing->held, asked ? wait_ms : 0);
}

static inline void things_on_lost(struct held *h)
{
	t.lost++;
	if (h->place == HELD_ENDING)
		removal_force(&h->removal);
	else if (!h->taken)
		things_end(thing_of(h), NULL, 0);
}

static inline void things_on_regained(struct held *h)
{
	(void)h;
	t.regained++;
}

static inline void things_on_closed(struct held *h)
{
	t.freed++;
	held_finish(h);
	free(h);
}

static inline int things_load(
	struct held_table *table, const char *directory, int dir_fd, struct held **ret_held)
{
	char id[NAME_ID_MAX + 1] = "";
	int fd = openat(dir_fd, "thing", O_RDONLY | O_CLOEXEC);
	int rc = t.load_error < 0 ? t.load_error : fd < 0 ? -errno : 0;
	if (fd >= 0) {
		cr_assert_geq(read(fd, id, sizeof id - 1), 0);
		close(fd);
	}
	if (rc < 0) {
		close(dir_fd);
		return rc;
	}
	struct thing *thing = calloc(1, sizeof *thing);
	cr_assert_not_null(thing);
	cr_assert_eq(held_init(&thing->held, table, directory, dir_fd), 0);
	snprintf(thing->held.id, sizeof thing->held.id, "%s", id);
	*ret_held = &thing->held;
	return 0;
}

static inline void things_on_found(struct held *h)
{
	(void)h;
	t.found++;
}

static inline bool things_spare_holder(struct held *h, int error)
{
	if (!t.needs_no_holder)
		return false;
	h->holder_lost = error == -ENOENT;
	thing_of(h)->spared = true;
	return true;
}

static inline void things_continue_end(struct held *h)
{
	t.again++;
	held_end(h, 10000);
}

static inline bool things_is_awaited(const struct held *h)
{
	const struct thing *thing = (const struct thing *)(const void *)h;
	return !thing->attached && !thing->spared;
}

static inline void things_holder_died(struct held *h)
{
	t.unseen++;
	things_end(thing_of(h), NULL, 0);
}

static inline void things_on_changed(struct held *h)
{
	(void)h;
	t.changed++;
}

static inline int things_compare(const struct held *a, const struct held *b)
{
	return strcmp(a->id, b->id);
}

static inline void things_on_ended(struct held *h)
{
	t.ended++;
	held_answer_waiters(&h->end_waiters, h, REPORT_READY, 0);
	held_remove_directory(h->table, h->directory);
	things_release(h);
}

static const char *const things_files[] = {"thing", HELD_ENDING_FILE, HELD_ENDING_SHELL_FILE, NULL};

static const struct held_kind things_kind = {
	.folder = "things",
	.files = things_files,
	.prefix = "bit.",
	.cannot_adopt = "cannot adopt a thing",
	.cannot_remove = "cannot remove a thing's directory",
	.report_error = things_report_error,
	.sweep = things_sweep,
	.take_turn = things_take_turn,
	.attached = things_on_attached,
	.failed = things_on_failed,
	.lost = things_on_lost,
	.regained = things_on_regained,
	.closed = things_on_closed,
	.load = things_load,
	.found = things_on_found,
	.is_only_ending = things_spare_holder,
	.continue_end = things_continue_end,
	.is_awaited = things_is_awaited,
	.holder_died = things_holder_died,
	.changed = things_on_changed,
	.compare = things_compare,
	.ended = things_on_ended,
	.release = things_release,
};

static inline void things_open(void)
{
	cr_assert_eq(held_table_open(&t.table, &t.loop, &things_kind, &t, t.folder.fd), 0);
}

/* Close the table; holders live on. */
static inline void things_close(void)
{
	held_table_close(&t.table);
	uv_unref((uv_handle_t *)&t.alive);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	uv_ref((uv_handle_t *)&t.alive);
}

static inline void things_set_up(void)
{
	memset(&t, 0, sizeof t);
	folder_make(&t.folder);
	until_open_loop(&t.loop, &t.alive, 10);
	things_open();
}

static inline void things_tear_down(void)
{
	things_close();
	until_close_loop(&t.loop, &t.alive);
	memory_holders_free();
	folder_remove(&t.folder);
}

static inline void things_put(int dir_fd, const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* Make a directory as a server leaves it. It is locked until the returned descriptor is closed and its holder has gone. */
static inline int things_make_directory(const char *id, char ret_name[DIRECTORY_NAME_SIZE])
{
	int fd;
	cr_assert_eq(directory_create(t.table.dir_fd, id, ret_name, &fd), 0);
	things_put(fd, "thing", id);
	return fd;
}

static inline bool things_has_directory(const char *name)
{
	return faccessat(t.table.dir_fd, name, F_OK, 0) == 0;
}

/* Leave a thing of an earlier server. */
static inline struct memory_holder *things_leave(const char *id, bool listening)
{
	char name[DIRECTORY_NAME_SIZE];
	int fd = things_make_directory(id, name);
	struct memory_holder *h = memory_holder_leave(fd, listening);
	close(fd);
	return h;
}

static inline void things_on_answer(
	struct held_waiter *w, struct held *h, enum report_stage stage, int error)
{
	(void)w;
	(void)h;
	(void)stage;
	t.answers++;
	t.error = error;
}

/* Begin to start a thing. */
static inline struct thing *things_begin(const char *id, struct held_waiter *w)
{
	char name[DIRECTORY_NAME_SIZE];
	struct thing *thing = calloc(1, sizeof *thing);
	cr_assert_not_null(thing);
	int fd = things_make_directory(id, name);
	cr_assert_eq(held_init(&thing->held, &t.table, name, fd), 0);
	snprintf(thing->held.id, sizeof thing->held.id, "%s", id);
	cr_assert_eq(held_add(&thing->held, HELD_LISTED), 0);
	const struct spawn_options o = {.dir_fd = fd,
		.rows = 24,
		.cols = 80,
		.ring_size = RING_SIZE_MIN,
		.control_size = 65536};
	cr_assert_eq(link_start(&thing->held.link, &o, &t.table.reaper), 0);
	if (w) {
		w->done = things_on_answer;
		held_add_waiter(&thing->held.start_waiters, w);
	}
	return thing;
}

static inline struct thing *things_start(const char *id)
{
	struct thing *thing = things_begin(id, NULL);
	cr_assert(LOOP_UNTIL(&t.loop, thing->attached));
	return thing;
}
