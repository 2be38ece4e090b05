/*
 * Reads the kernel's queue of events, and keeps the tree up to date. inotify watches inodes: a directory that is renamed
 * within the tree keeps its watch, and so do all below it. The two events of a rename need not be adjacent. If the second
 * one does not come, the directory has left the tree.
 */
#include "shell/watch/source_internal.h"

#include "shell/clock.h"
#include "shell/files/temp_name.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define READ_SIZE 8192u  /* bytes of the kernel's queue, in a step */
#define MOVE_WAIT_MS 20u /* for the second half of a rename */

/* A directory was renamed: queue those below it that could not be opened by the old name. */
static void queue_unwatched(struct source *s, struct directory *top)
{
	struct directory *d = top;
	for (;;) {
		if (d->wd == TREE_UNWATCHED) {
			d->fresh = true;
			tree_queue(&s->tree, d);
		}
		if (d->children) {
			d = d->children;
			continue;
		}
		while (d != top && !d->next)
			d = d->parent;
		if (d == top)
			return;
		d = d->next;
	}
}

static void begin_move(struct source *s, struct directory *d, uint32_t cookie)
{
	if (s->moves_count == SOURCE_MOVES_MAX) {
		source_remove_directory(s, d); /* the second half adds it as a new one */
		return;
	}
	s->moves[s->moves_count++] = (struct source_move){
		.cookie = cookie, .since_ms = clock_monotonic_ms(), .directory = d};
}

/* Complete a rename. Returns false if its first half is not known. */
static bool end_move(struct source *s, struct directory *parent, const char *name, uint32_t cookie)
{
	unsigned i = 0;
	while (i < s->moves_count && s->moves[i].cookie != cookie)
		i++;
	if (i == s->moves_count)
		return false;
	struct directory *d = s->moves[i].directory;
	source_forget_move(s, i);
	if (tree_is_below(parent, d) || !s->filter.recursive ||
		!source_is_reported(s, parent, name)) {
		source_remove_directory(s, d);
		return true;
	}
	int rc = tree_move(&s->tree, d, parent, name, strlen(name));
	if (rc < 0)
		source_fail(s, rc);
	else
		queue_unwatched(s, d);
	return true;
}

void source_end_moves(struct source *s)
{
	uint64_t now = s->moves_count > 0 ? clock_monotonic_ms() : 0;
	for (unsigned i = s->drained ? s->moves_count : 0; i-- > 0;)
		if (i < s->moves_count && now - s->moves[i].since_ms >= MOVE_WAIT_MS)
			source_remove_directory(s, s->moves[i].directory);
	s->wait_ms = s->moves_count > 0 ? MOVE_WAIT_MS : 0;
}

static bool is_moving(const struct source *s, const struct directory *d)
{
	for (unsigned i = 0; i < s->moves_count; i++)
		if (s->moves[i].directory == d)
			return true;
	return false;
}

/* Update the tree by an event about a subdirectory. */
static void update_directory(
	struct source *s, struct directory *parent, const struct inotify_event *e)
{
	struct directory *d = tree_find(&s->tree, parent, e->name, strlen(e->name));
	if (e->mask & IN_MOVED_FROM) {
		if (d)
			begin_move(s, d, e->cookie);
		return;
	}
	if (!(e->mask & (IN_CREATE | IN_MOVED_TO | IN_DELETE)))
		return;
	/* A created directory that is already known was found by reading its parent, unless it is being renamed. */
	if (d && (!(e->mask & IN_CREATE) || is_moving(s, d))) {
		source_remove_directory(s, d);
		/* It replaced another, or was found by reading the parent: events may have been missed. */
		if (e->mask & IN_MOVED_TO)
			source_report_loss(s);
	}
	if ((e->mask & IN_MOVED_TO) && end_move(s, parent, e->name, e->cookie))
		return;
	if (!(e->mask & IN_DELETE))
		source_add_directory(s, parent, e->name, true);
}

static const struct {
	uint32_t bit;
	enum watch_type type;
} event_types[] = {
	{IN_CREATE, WATCH_CREATE},
	{IN_MODIFY, WATCH_MODIFY},
	{IN_DELETE, WATCH_DELETE},
	{IN_MOVED_FROM, WATCH_MOVE_FROM},
	{IN_MOVED_TO, WATCH_MOVE_TO},
	{IN_ATTRIB, WATCH_ATTRIB},
};

static void end_root(struct source *s, enum source_end end)
{
	if (end == SOURCE_DELETED && !s->filter.name[0] &&
		watch_filter_matches(
			&s->filter, WATCH_DELETE, s->path, strlen(s->path), strlen(s->path)))
		source_add_event(s, WATCH_DELETE, true, s->path, strlen(s->path));
	s->end = end;
}

/* inotify's queue has overflowed: read the whole tree again. */
static void handle_overflow(struct source *s)
{
	source_report_loss(s);
	s->rereads = true;
	tree_queue(&s->tree, s->tree.root);
}

static void handle_event(struct source *s, const struct inotify_event *e)
{
	if (e->mask & IN_Q_OVERFLOW) {
		handle_overflow(s);
		return;
	}
	struct directory *d = tree_find_wd(&s->tree, e->wd);
	if (!d)
		return;
	bool root = !d->parent;
	if (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) {
		if (root)
			end_root(s,
				e->mask & IN_DELETE_SELF       ? SOURCE_DELETED
					: e->mask & IN_UNMOUNT ? SOURCE_UNMOUNTED
							       : SOURCE_MOVED);
		return;
	}
	if (e->mask & IN_IGNORED) {
		(void)tree_set_wd(&s->tree, d, TREE_UNWATCHED);
		return;
	}
	if (e->len == 0)
		return;
	uint32_t mask = e->mask;
	if (temp_name_matches(e->name)) {
		if (mask & IN_MOVED_FROM)
			s->replacing = e->cookie;
		return;
	}
	if ((mask & IN_MOVED_TO) && !(mask & IN_ISDIR) && e->cookie == s->replacing)
		mask = IN_MODIFY; /* a temporary file has replaced this one */
	for (size_t i = 0; i < sizeof event_types / sizeof *event_types; i++)
		if (mask & event_types[i].bit)
			source_report_event(
				s, event_types[i].type, d, e->name, (e->mask & IN_ISDIR) != 0);
	if (e->mask & IN_ISDIR)
		update_directory(s, d, e);
}

bool source_read_queue(struct source *s)
{
	_Alignas(struct inotify_event) char buffer[READ_SIZE];
	ssize_t n = read(s->fd, buffer, sizeof buffer);
	s->drained = n < 0 && errno == EAGAIN;
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			source_fail(s, -errno);
		return errno == EINTR;
	}
	for (ssize_t at = 0; at < n && s->end == SOURCE_RUNNING;) {
		const struct inotify_event *e = (const void *)(buffer + at);
		handle_event(s, e);
		at += (ssize_t)(sizeof *e + e->len);
	}
	return n > 0;
}
