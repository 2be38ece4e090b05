/* Events of a real directory tree. The tests wait only for the kernel. */
#include "shell/watch/source.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/folder.h"

static atomic_uint total;

static struct folder folder;
static struct source s;

/* Make a source for this path, or for the folder if place is NULL. */
static void begin(const char *place)
{
	struct watch_filter filter;
	memset(&filter, 0, sizeof filter);
	filter.recursive = true;
	filter.types = WATCH_TYPES_DEFAULT;
	watch_filter_default(&filter);
	folder_make(&folder);
	cr_assert_eq(source_init(&s, &filter, place ? place : folder.path,
			     place ? place : folder.path, folder.path, &total),
		0);
}

static void drop_events(void)
{
	for (unsigned i = 0; i < s.events_count; i++)
		watch_event_unref(s.events[i]);
	s.events_count = 0;
}

/* Step until an event of this type and path below the root comes. Other events are dropped. */
static bool event_comes(enum watch_type type, const char *path)
{
	bool found = false;
	for (int n = 0; n < 200 && !found && s.end == SOURCE_RUNNING; n++) {
		drop_events();
		source_step(&s);
		for (unsigned i = 0; i < s.events_count; i++)
			found |= s.events[i]->type == type &&
				strcmp(s.events[i]->path + (s.events[i]->length ? strlen(s.path) : 0),
					path) == 0;
		if (!found && !s.more)
			usleep(1000);
	}
	return found;
}

static void settle(void)
{
	do {
		drop_events();
		source_step(&s);
		usleep(s.wait_ms * 1000); /* for the missing half of a rename */
	} while ((s.more || s.wait_ms > 0) && s.end == SOURCE_RUNNING);
	drop_events();
}

static void make(const char *name, bool directory)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder.path, name);
	if (directory)
		cr_assert_eq(mkdir(path, 0700), 0);
	else
		close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void move(const char *from, const char *to)
{
	char a[4096], b[4096];
	snprintf(a, sizeof a, "%s/%s", folder.path, from);
	snprintf(b, sizeof b, "%s/%s", folder.path, to);
	cr_assert_eq(rename(a, b), 0);
}

static void set_up(void)
{
	begin(NULL);
	cr_assert_eq(source_open(&s), 0);
	settle();
}

static void tear_down(void)
{
	source_finish(&s);
	cr_assert_eq(atomic_load(&total), 0);
	folder_remove(&folder);
}

static void restart(const char *place)
{
	tear_down();
	begin(place);
}

TestSuite(source, .init = set_up, .fini = tear_down, .timeout = 60);

Test(source, new_directories_and_their_contents)
{
	cr_assert(s.ready);
	make("a", true);
	make("a/b", true);
	make("a/b/c", false);
	cr_assert(event_comes(WATCH_CREATE, "/a/b/c"));
	settle();
	cr_assert_eq(s.tree.count, 3);
	make("a/b/d", false);
	cr_assert(event_comes(WATCH_CREATE, "/a/b/d"));
}

Test(source, renames_before_the_first_step)
{
	make("a", true);
	make("a/f", false);
	move("a", "b");
	make("a", true);
	make("a/g", false);
	move("b", "a/h");
	cr_assert(event_comes(WATCH_CREATE, "/a/h/f"));
	settle();
	make("a/h/i", false);
	cr_assert(event_comes(WATCH_CREATE, "/a/h/i"));
	cr_assert_eq(s.tree.count, 3);
}

Test(source, overflow_is_reported_and_repaired)
{
	char name[64];
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof name, "f%d", i);
		make(name, false);
	}
	make("late", true);
	cr_assert(event_comes(WATCH_RESYNC, ""), "unless fs.inotify.max_queued_events is large");
	settle();
	make("late/x", false);
	cr_assert(event_comes(WATCH_CREATE, "/late/x"));
}

Test(source, paths_outside_and_missing_paths)
{
	restart("/etc");
	cr_assert_eq(source_open(&s), -EPERM);
	restart("/none/of/these");
	cr_assert_eq(source_open(&s), -ENOENT);
}

Test(source, deleted_root_ends_it)
{
	folder_remove(&folder);
	for (int n = 0; n < 200 && s.end == SOURCE_RUNNING; n++)
		settle();
	cr_assert_eq(s.end, SOURCE_DELETED);
}
