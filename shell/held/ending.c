/*
 * listed -> retired -> removal in progress -> ended. If processes survive the removal, the object is stuck: this is
 * reported once, and the removal is retried until it succeeds.
 */
#include "shell/held/ending.h"

#include "shell/held/table.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void held_begin_end(struct held *h, struct held_waiter *ender)
{
	static const char *const marks[] = {HELD_ENDING_FILE, HELD_ENDING_SHELL_FILE};
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		int fd = openat(h->link.dir_fd, marks[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
	}
	HASH_DEL(h->table->listed, h);
	h->place = HELD_UNLISTED;
	(void)held_add(h, HELD_ENDING); /* allocates nothing */
	held_report_removed(h);
	if (ender)
		held_add_waiter(&h->end_waiters, ender);
	held_answer_waiters(&h->start_waiters, h, REPORT_SETUP, -ECANCELED);
}

bool held_ask_to_end(struct held *h, unsigned grace_ms)
{
	return !h->holder_lost && link_end(&h->link, grace_ms) == 0;
}

/* The guard of a new holder is the started process; that of an adopted one is known after attaching. */
static int guard_of(const struct held *h)
{
	return h->guard_fd >= 0 ? h->guard_fd : h->link.guard_fd;
}

static void on_removed(void *user, int error)
{
	struct held *h = user;
	const struct held_kind *kind = h->table->kind;
	if (error == 0) {
		kind->ended(h);
		return;
	}
	h->survivors = h->removal.survivors;
	if (!h->stuck)
		kind->report_error(h->table, h->id, "some of its processes survive", error);
	h->stuck = true;
	held_answer_waiters(&h->end_waiters, h, REPORT_READY, error);
	removal_start(&h->table->removals, &h->removal, guard_of(h), REMOVAL_AGAIN_MS);
}

void held_remove(struct held *h, unsigned wait_ms, void (*done)(void *held, int error))
{
	h->removal = (struct removal){.done = done,
		.user = h,
		.directory = h->directory,
		.dir_fd = h->link.dir_fd > 0 ? h->link.dir_fd : 0,
		.holder = h->holder_lost ? 0 : link_holder_pid(&h->link)};
	removal_start(&h->table->removals, &h->removal, guard_of(h), wait_ms);
}

void held_end(struct held *h, unsigned wait_ms)
{
	held_remove(h, wait_ms, on_removed);
}

void held_continue_as_end(struct held *h)
{
	h->removal.done = on_removed;
}

void held_on_ended(struct held *h, int error)
{
	if (!h->removal.done)
		return;
	if (error < 0) {
		removal_force(&h->removal); /* the server may be able to */
		return;
	}
	removal_finish(&h->removal);
	h->removal.done(h, 0);
}
