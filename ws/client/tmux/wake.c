/*
 * wait-for, after cmd-wait-for.c of tmux. A channel is {woken, locked, waiters, lockers}; the last two are the
 * FIFOs of waiting processes. The FIFO of a killed process has no reader, and is skipped.
 */
#include "ws/client/tmux/wake.h"

#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A waiting process checks at this interval whether the tmux server has exited. */
#define CHECK_MS 5000
#define LOST_MAX 12 /* consecutive failures of that check */
#define CHANNELS_MAX 10000u
#define WOKEN 'w'
#define OVER 'x'

static bool wake(const char *fifo, char what)
{
	int fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, &what, 1) == 1;
	if (fd >= 0)
		close(fd);
	unlink(fifo);
	return good;
}

/* Wake all processes of a list, or with one the first that still waits. Returns whether there was one. */
static bool wake_list(json_t *channel, const char *which, bool one, char what)
{
	json_t *list = json_object_get(channel, which);
	bool any = false;
	while (json_array_size(list) > 0 && !(one && any)) {
		const char *fifo = json_string_value(json_array_get(list, 0));
		any = (fifo && wake(fifo, what)) || any;
		json_array_remove(list, 0);
	}
	return any;
}

void wake_all(struct tmux *t)
{
	const char *name;
	json_t *channel;
	json_object_foreach (t->model.channels, name, channel) {
		wake_list(channel, "waiters", false, OVER);
		wake_list(channel, "lockers", false, OVER);
	}
}

static json_t *find_channel(struct tmux *t, const char *name)
{
	json_t *channel = json_object_get(t->model.channels, name);
	if (!channel) {
		channel = json_pack(
			"{s:b, s:b, s:[], s:[]}", "woken", 0, "locked", 0, "waiters", "lockers");
		json_object_set_new(t->model.channels, name, channel);
	}
	return channel;
}

static bool is_set(const json_t *channel, const char *what)
{
	return json_is_true(json_object_get(channel, what));
}

/* Remove a channel that is unused. */
static void drop_unused(struct tmux *t, const char *name)
{
	const json_t *channel = json_object_get(t->model.channels, name);
	if (!is_set(channel, "locked") && !is_set(channel, "woken") &&
		json_array_size(json_object_get(channel, "waiters")) == 0 &&
		json_array_size(json_object_get(channel, "lockers")) == 0)
		json_object_del(t->model.channels, name);
}

/* Read a byte from a FIFO, without the lock. Returns OVER if the tmux server has exited. */
static char wait_byte(struct tmux *t, int fd)
{
	char what = OVER;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (commands_pause(t) != 0)
		return OVER;
	for (unsigned failed = 0;;) {
		int n = poll(&p, 1, CHECK_MS);
		if (n > 0 && read(fd, &what, 1) == 1)
			return what;
		if (n < 0 && errno != EINTR)
			return OVER;
		/* Failures are tolerated while the server restarts. */
		size_t said = t->errors.length;
		bool good = commands_resume(t) == 0;
		failed = good ? 0 : failed + 1;
		if (t->lock < 0 || failed > LOST_MAX || (good && !t->model.sessions))
			return OVER;
		t->errors.length = said;
		if (commands_pause(t) != 0)
			return OVER;
	}
}

/* Make a FIFO. In another pid namespace a process may have our pid: try several names. Returns NULL on failure. */
static char *make_fifo(struct tmux *t)
{
	for (unsigned i = 0; i < CHANNELS_MAX; i++) {
		char *fifo = arena_print(&t->arena, "%s.wait-%d-%u", t->path, (int)getpid(), i);
		if (mkfifo(fifo, 0600) == 0)
			return fifo;
		if (errno != EEXIST)
			break;
	}
	return NULL;
}

static int wait_at(struct tmux *t, json_t *channel, const char *list)
{
	char *fifo = make_fifo(t);
	if (!fifo)
		return tmux_error(t, "%s: %s", t->path, strerror(errno));
	/* Also for writing, so that there is no EOF when the writer closes it. */
	int fd = open(fifo, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		unlink(fifo);
		return tmux_error(t, "%s: %s", fifo, strerror(errno));
	}
	json_array_append_new(json_object_get(channel, list), json_string(fifo));
	char what = wait_byte(t, fd);
	close(fd);
	unlink(fifo);
	if (t->lock < 0)
		commands_resume(t);
	if (what == WOKEN)
		return 0;
	return tmux_error(t, "server exited");
}

static int signal_channel(struct tmux *t, const char *name)
{
	json_t *channel = find_channel(t, name);
	bool any = wake_list(channel, "waiters", false, WOKEN);
	if (!any)
		json_object_set_new(channel, "woken", json_true());
	drop_unused(t, name);
	return 0;
}

static int unlock_channel(struct tmux *t, const char *name)
{
	json_t *channel = json_object_get(t->model.channels, name);
	if (!channel || !is_set(channel, "locked"))
		return tmux_error(t, "channel %s not locked", name);
	if (!wake_list(channel, "lockers", true, WOKEN))
		json_object_set_new(channel, "locked", json_false());
	drop_unused(t, name);
	return 0;
}

int do_wait_for(struct call *c)
{
	struct tmux *t = c->t;
	const char *name = c->args.items[0];
	if (json_object_size(t->model.channels) > CHANNELS_MAX)
		return tmux_error(t, "too many channels: at most %u", CHANNELS_MAX);
	if (args_has(&c->args, 'S'))
		return signal_channel(t, name);
	if (args_has(&c->args, 'U'))
		return unlock_channel(t, name);
	json_t *channel = find_channel(t, name);
	bool locks = args_has(&c->args, 'L');
	if (locks && !is_set(channel, "locked")) {
		json_object_set_new(channel, "locked", json_true());
		return 0;
	}
	if (!locks && is_set(channel, "woken")) {
		json_object_set_new(channel, "woken", json_false());
		drop_unused(t, name);
		return 0;
	}
	return wait_at(t, channel, locks ? "lockers" : "waiters");
}
