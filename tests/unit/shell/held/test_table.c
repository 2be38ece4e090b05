/* The table of held things: finding, ending, directories, and closing. */
#include "tests/lib/things.h"

TestSuite(held_table, .init = things_set_up, .fini = things_tear_down, .timeout = 60);

Test(held_table, started_things_are_found_by_their_id)
{
	cr_expect_null(held_find(&t.table, "a"));
	cr_expect(held_table_is_idle(&t.table));
	struct thing *a = things_start("a"), *b = things_start("b");
	cr_expect_eq(held_find(&t.table, "a"), &a->held);
	cr_expect_eq(held_find(&t.table, "b"), &b->held);
	cr_expect_eq(held_count(&t.table), 2);
	cr_expect(!held_table_is_idle(&t.table));
}

Test(held_table, waiter_is_notified_of_the_start)
{
	struct held_waiter w = {0};
	things_begin("a", &w);
	cr_expect_eq(t.answers, 0, "never from inside of the call");
	cr_assert(LOOP_UNTIL(&t.loop, t.answers == 1));
	cr_expect_eq(t.error, 0);
}

Test(held_table, failed_start_is_reported_and_leaves_nothing)
{
	struct held_waiter w = {0};
	memory_holder_refuse_next(REPORT_CHDIR, -ENOENT);
	things_begin("a", &w);
	cr_assert(LOOP_UNTIL(&t.loop, t.freed == 1));
	cr_expect_eq(t.answers, 1);
	cr_expect_eq(t.error, -ENOENT);
	cr_expect(held_table_is_idle(&t.table));
	cr_expect_eq(t.complaints, 0, "%s", t.complaint);
}

Test(held_table, output_makes_a_turn)
{
	struct thing *a = things_start("a");
	unsigned before = t.turns;
	memory_holder_say(memory_holder_of(&a->held.link), "hello");
	cr_assert(LOOP_UNTIL(&t.loop, a->held.link.tail == 5));
	cr_expect_eq(t.turns, before + 1);
	held_schedule_turn(&a->held);
	cr_assert(LOOP_UNTIL(&t.loop, t.turns == before + 2));
}

Test(held_table, ending_thing_is_marked_and_not_found)
{
	struct thing *a = things_start("a");
	static struct held_waiter w;
	w.done = things_on_answer; /* called when the table is closed */
	int fd = dup(a->held.link.dir_fd);
	memory_holder_of(&a->held.link)->mute = true;
	held_begin_end(&a->held, &w);
	cr_expect_eq(faccessat(fd, HELD_ENDING_FILE, F_OK, 0), 0);
	cr_expect_null(held_find(&t.table, "a"));
	cr_expect_eq(held_count(&t.table), 0);
	cr_expect(!held_table_is_idle(&t.table), "it is still being ended");
	a->held.stuck = true;
	cr_expect(held_table_is_idle(&t.table), "it waits for nothing now");
	close(fd);
}

Test(held_table, end_during_the_start_notifies_the_waiter)
{
	struct held_waiter w = {0};
	memory_holder_delay_next();
	struct thing *a = things_begin("a", &w);
	held_begin_end(&a->held, NULL);
	cr_expect_eq(t.answers, 1);
	cr_expect_eq(t.error, -ECANCELED);
}

Test(held_table, holder_ends_its_processes)
{
	struct held_waiter w = {.done = things_on_answer};
	struct thing *a = things_start("a");
	char *directory = strdup(a->held.directory);
	things_end(a, &w, 60000);
	cr_expect_eq(t.ended, 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.freed == 1));
	cr_expect_eq(t.answers, 1);
	cr_expect_eq(t.error, 0);
	cr_expect(!things_has_directory(directory));
	cr_expect(held_table_is_idle(&t.table));
	cr_expect_eq(memory_holders_count(), 0);
	free(directory);
}

Test(held_table, unresponsive_holder_is_killed_after_a_time)
{
	struct held_waiter w = {.done = things_on_answer};
	struct thing *a = things_start("a");
	memory_holder_of(&a->held.link)->mute = true;
	things_end(a, &w, 20);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	cr_expect_eq(t.error, 0);
}

Test(held_table, holder_that_cannot_kill_all_is_helped_at_once)
{
	struct thing *a = things_start("a");
	memory_holder_of(&a->held.link)->end_error = -EBUSY;
	things_end(a, NULL, 60000);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
}

Test(held_table, holder_that_dies_instead_of_ending_counts_as_ended)
{
	struct thing *a = things_start("a");
	struct memory_holder *h = memory_holder_of(&a->held.link);
	h->mute = true;
	things_end(a, NULL, 60000);
	memory_holder_die(h);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	cr_expect_eq(t.lost, 1);
}

Test(held_table, directory_is_removed_with_known_files)
{
	char name[DIRECTORY_NAME_SIZE];
	int fd = things_make_directory("a", name);
	things_put(fd, "shell/bit.1", "x");
	things_put(fd, "shell/bit.22", "x");
	things_put(fd, HELD_ENDING_FILE, "");
	close(fd);
	held_remove_directory(&t.table, name);
	cr_expect(!things_has_directory(name));
	cr_expect_eq(t.complaints, 0, "%s", t.complaint);
}

Test(held_table, directory_with_unknown_files_stays_and_is_reported)
{
	char name[DIRECTORY_NAME_SIZE];
	int fd = things_make_directory("a", name);
	things_put(fd, "rabbit.1", "foreign");
	close(fd);
	held_remove_directory(&t.table, name);
	cr_expect(things_has_directory(name));
	cr_expect_str_eq(t.complaint, ": cannot remove a thing's directory");
}

Test(held_table, symbolic_link_is_not_followed)
{
	char name[DIRECTORY_NAME_SIZE];
	int fd = things_make_directory("a", name);
	close(fd);
	cr_assert_eq(symlinkat(name, t.table.dir_fd, "way"), 0);
	held_remove_directory(&t.table, "way");
	cr_expect(things_has_directory(name));
	fd = openat(t.table.dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_expect_eq(faccessat(fd, "thing", F_OK, 0), 0);
	close(fd);
}

Test(held_table, closing_notifies_waiters_and_keeps_holders)
{
	struct held_waiter w = {0};
	struct thing *a = things_start("a");
	memory_holder_delay_next();
	things_begin("b", &w);
	char *directory = strdup(a->held.directory);
	things_close();
	cr_expect_eq(t.answers, 1);
	cr_expect_eq(t.error, -ECANCELED);
	cr_expect_eq(t.freed, 2);
	cr_expect_eq(memory_holders_count(), 2);
	things_open();
	cr_expect(things_has_directory(directory));
	cr_assert_eq(held_adopt(&t.table), 1, "the other holder is not ready");
	cr_assert(LOOP_UNTIL(&t.loop, t.attached == 2));
	free(directory);
}

Test(held_table, sweep_runs_periodically)
{
	cr_assert(LOOP_UNTIL(&t.loop, t.sweeps > 0));
}
