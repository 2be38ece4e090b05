/* Adoption of what an earlier server has left: with a holder, without one, and in between. */
#include "shell/own_error.h"
#include "shell/store/runtime_lock.h"
#include "tests/lib/things.h"

TestSuite(adoption, .init = things_set_up, .fini = things_tear_down, .timeout = 60);

Test(adoption, thing_with_a_holder_is_adopted)
{
	things_leave("a", true);
	cr_assert_eq(held_adopt(&t.table), 1);
	cr_expect(held_is_adopting(&t.table));
	struct held *h = held_find(&t.table, "a");
	cr_assert_not_null(h);
	cr_expect(h->adopted && h->place == HELD_LISTED);
	cr_assert(LOOP_UNTIL(&t.loop, t.attached == 1));
	cr_expect(!held_is_adopting(&t.table));
	cr_expect_eq(t.complaints, 0, "%s", t.complaint);
}

Test(adoption, known_things_are_not_adopted_again)
{
	things_leave("a", true);
	things_start("b");
	cr_assert_eq(held_adopt(&t.table), 1);
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_expect_eq(held_count(&t.table), 2);
}

Test(adoption, things_are_ordered_by_their_kind)
{
	things_leave("c", true);
	things_leave("a", true);
	things_leave("b", true);
	cr_assert_eq(held_adopt(&t.table), 3);
	const char *order[] = {"a", "b", "c"};
	struct held *h = NULL;
	for (unsigned i = 0; i < 3; i++) {
		h = held_next(&t.table, h);
		cr_assert_not_null(h);
		cr_expect_str_eq(h->id, order[i]);
	}
	cr_expect_null(held_next(&t.table, h));
}

Test(adoption, thing_without_a_holder_is_removed)
{
	char name[DIRECTORY_NAME_SIZE];
	close(things_make_directory("a", name));
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_assert(LOOP_UNTIL(&t.loop, !things_has_directory(name)));
	cr_expect_null(held_find(&t.table, "a"));
	cr_assert(LOOP_UNTIL(&t.loop, t.freed == 1));
	cr_expect_eq(t.complaints, 0, "%s", t.complaint);
}

Test(adoption, directory_in_removal_is_found_once)
{
	char name[DIRECTORY_NAME_SIZE];
	close(things_make_directory("a", name));
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_expect_eq(t.found, 1);
	cr_assert(LOOP_UNTIL(&t.loop, !things_has_directory(name)));
}

Test(adoption, unreadable_thing_stays_and_is_reported)
{
	things_leave("a", true);
	t.load_error = -EBADMSG;
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_expect_eq(t.complaints, 1);
	cr_expect_not_null(strstr(t.complaint, "cannot adopt a thing"));
	cr_expect_eq(memory_holders_count(), 1);
}

Test(adoption, unfinished_end_is_repeated)
{
	char name[DIRECTORY_NAME_SIZE];
	int fd = things_make_directory("a", name);
	things_put(fd, HELD_ENDING_FILE, "");
	memory_holder_leave(fd, true);
	close(fd);
	cr_assert_eq(held_adopt(&t.table), 1);
	cr_expect_null(held_find(&t.table, "a"));
	cr_expect_eq(t.again, 1);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	cr_expect(!things_has_directory(name));
	cr_expect_eq(memory_holders_count(), 0);
}

Test(adoption, second_thing_with_the_same_id_is_ended)
{
	things_leave("a", true);
	things_leave("a", true);
	cr_assert_eq(held_adopt(&t.table), 1, "the second waits until the first responds");
	cr_expect_eq(held_count(&t.table), 1);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1 && t.attached == 2));
	cr_expect_eq(held_count(&t.table), 1);
	cr_expect_eq(memory_holders_count(), 1);
}

Test(adoption, starting_thing_is_checked_again)
{
	struct memory_holder *h = things_leave("a", false);
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_expect(held_is_adopting(&t.table));
	cr_assert_null(held_find(&t.table, "a"));
	memory_holder_answer(h);
	cr_assert(LOOP_UNTIL(&t.loop, t.attached == 1));
	cr_expect_not_null(held_find(&t.table, "a"));
	cr_expect(!held_is_adopting(&t.table));
	cr_expect_eq(t.complaints, 0, "%s", t.complaint);
}

Test(adoption, thing_that_died_while_starting_is_removed)
{
	char name[DIRECTORY_NAME_SIZE];
	int fd = things_make_directory("a", name);
	struct memory_holder *h = memory_holder_leave(fd, false);
	close(fd);
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_assert(things_has_directory(name));
	memory_holder_die(h);
	cr_assert(LOOP_UNTIL(&t.loop, !things_has_directory(name)));
	cr_expect(!held_is_adopting(&t.table));
}

Test(adoption, stopped_holder_is_not_waited_for)
{
	struct memory_holder *h = things_leave("a", true);
	h->backlogged = true;
	cr_assert_eq(held_adopt(&t.table), 1);
	cr_expect(!held_is_adopting(&t.table), "the server would not start to serve");
	cr_assert(held_find(&t.table, "a")->unresponsive);
	cr_expect_eq(t.complaints, 1);
	cr_expect_not_null(strstr(t.complaint, "its holder does not answer"));
	cr_expect_eq(t.changed, 1);
	memory_holder_answer(h);
	held_recheck(&t.table);
	cr_assert(LOOP_UNTIL(&t.loop, t.attached == 1));
	cr_expect(!held_find(&t.table, "a")->unresponsive);
	cr_expect_eq(t.complaints, 1, "%s", t.complaint);
}

Test(adoption, holder_that_dies_before_it_responds_is_ended)
{
	struct memory_holder *h = things_leave("a", true);
	h->backlogged = true;
	cr_assert_eq(held_adopt(&t.table), 1);
	memory_holder_die(h);
	held_recheck(&t.table);
	cr_expect_eq(t.unseen, 1);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	cr_expect(held_table_is_idle(&t.table));
}

Test(adoption, waiter_of_an_unresponsive_holder_gets_an_error)
{
	struct held_waiter w = {.done = things_on_answer};
	struct memory_holder *h = things_leave("a", true);
	h->mute = true;
	cr_assert_eq(held_adopt(&t.table), 1);
	held_add_waiter(&held_find(&t.table, "a")->start_waiters, &w);
	cr_expect(held_is_adopting(&t.table));
	cr_assert(LOOP_UNTIL(&t.loop, t.answers == 1));
	cr_expect_eq(t.error, -ERR_UNRESPONSIVE);
	cr_expect(!held_is_adopting(&t.table));
}

Test(adoption, thing_that_needs_no_holder_is_adopted_without)
{
	char name[DIRECTORY_NAME_SIZE];
	close(things_make_directory("a", name));
	t.needs_no_holder = true;
	cr_assert_eq(held_adopt(&t.table), 1);
	struct held *h = held_find(&t.table, "a");
	cr_assert_not_null(h);
	cr_expect(h->holder_lost);
	cr_expect(!held_is_adopting(&t.table));
	cr_expect(things_has_directory(name));
}

Test(adoption, another_server_takes_over_the_holder)
{
	struct thing *thing = things_start("a");
	struct memory_holder *h = memory_holder_of(&thing->held.link);
	struct link rival;
	static const struct link_callbacks callbacks = {0};
	cr_assert_eq(link_init(&rival, &t.loop, dup(h->dir_fd), &callbacks, NULL), 0);
	h->mute = true;
	cr_assert_eq(link_adopt(&rival), 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.lost == 1));
	cr_expect(thing->held.taken && thing->held.holder_lost);
	link_close(&rival, (void (*)(void *))things_on_changed);
	cr_assert(LOOP_UNTIL(&t.loop, t.changed == 1));
}

static unsigned others_lost;

static void on_other_lost(void *user, bool taken)
{
	(void)user;
	others_lost += taken;
}

/* Its attachment was too late. */
static void on_other_failed(void *user, enum report_stage stage, int error)
{
	(void)user;
	(void)stage;
	(void)error;
	others_lost++;
}

static void on_other_attached(void *user)
{
	(void)user;
}

static struct link other; /* of another process */

/* The other process attaches to the holder h. */
static void take_over(const struct memory_holder *h)
{
	static const struct link_callbacks callbacks = {
		.attached = on_other_attached, .failed = on_other_failed, .lost = on_other_lost};
	cr_assert_eq(link_init(&other, &t.loop, dup(h->dir_fd), &callbacks, NULL), 0);
	cr_assert_eq(link_adopt(&other), 0);
}

static void close_other(void)
{
	unsigned before = t.changed;
	link_close(&other, (void (*)(void *))things_on_changed);
	cr_assert(LOOP_UNTIL(&t.loop, t.changed == before + 1));
}

static struct runtime_lock lock;

/* This process is the server: it holds the lock. */
static void set_up_locked(void)
{
	things_set_up();
	cr_assert_eq(runtime_lock_acquire(&lock, t.folder.fd), 0);
	t.table.trust.lock = &lock;
	t.table.trust.runtime_dir = t.folder.path;
}

static void tear_down_locked(void)
{
	runtime_lock_release(&lock);
	t.table.trust.lock = NULL;
	things_tear_down();
}

TestSuite(adoption_lock, .init = set_up_locked, .fini = tear_down_locked, .timeout = 60);

Test(adoption_lock, holder_that_was_taken_over_is_reattached)
{
	struct thing *thing = things_start("a");
	struct memory_holder *h = memory_holder_of(&thing->held.link);
	take_over(h);
	cr_assert(LOOP_UNTIL(&t.loop, others_lost == 1 && !thing->held.link.taken));
	cr_expect_eq(t.lost, 0);
	cr_expect_eq(t.regained, 1);
	cr_expect_eq(t.complaints, 1);
	cr_expect_not_null(strstr(t.complaint, "taken back"), "%s", t.complaint);
	close_other();
	/* A second takeover is undone later, and not reported again. */
	take_over(h);
	cr_assert(LOOP_UNTIL(&t.loop, thing->held.link.taken && thing->held.taken_ms > 0));
	cr_expect_eq(others_lost, 1);
	held_recheck(&t.table);
	cr_assert(LOOP_UNTIL(&t.loop, others_lost == 2 && t.regained == 2));
	cr_expect_eq(t.complaints, 1);
	close_other();
}

Test(adoption_lock, server_without_its_lock_does_not_reattach)
{
	struct thing *thing = things_start("a");
	struct memory_holder *h = memory_holder_of(&thing->held.link);
	cr_assert_eq(unlinkat(t.folder.fd, "lock", 0), 0);
	take_over(h);
	cr_assert(LOOP_UNTIL(&t.loop, t.lost == 1));
	cr_expect(thing->held.taken);
	cr_expect_eq(others_lost, 0);
	cr_expect_eq(t.regained, 0);
	close_other();
}

Test(adoption_lock, holder_taken_over_during_its_end_is_ended)
{
	struct thing *thing = things_start("a");
	struct memory_holder *h = memory_holder_of(&thing->held.link);
	h->mute = true;
	things_end(thing, NULL, 60000);
	take_over(h);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	cr_expect_eq(t.regained, 0);
	close_other();
}

Test(adoption, holder_of_another_user_is_refused_once)
{
	struct memory_holder *h = things_leave("a", true);
	h->foreign = true;
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_expect_null(held_find(&t.table, "a"));
	cr_expect_eq(t.complaints, 1);
	cr_expect_not_null(strstr(t.complaint, "refused"), "%s", t.complaint);
	cr_assert_eq(held_adopt(&t.table), 0);
	cr_expect_eq(t.complaints, 1);
	cr_expect(!held_is_adopting(&t.table));
	cr_assert(LOOP_UNTIL(&t.loop, t.freed == 1));
	cr_expect_eq(memory_holders_count(), 1, "the holder is not killed");
}

Test(adoption, holder_of_another_user_does_not_end_the_real_one)
{
	struct memory_holder *h = things_leave("a", true);
	h->mute = true; /* whichever is found first */
	things_leave("a", true)->foreign = true;
	cr_expect_leq(held_adopt(&t.table), 1);
	memory_holder_answer(h);
	cr_assert(LOOP_UNTIL(&t.loop, t.attached == 1 && !held_is_adopting(&t.table)));
	cr_expect_not_null(held_find(&t.table, "a"));
	cr_expect_eq(memory_holders_count(), 2);
	cr_expect_eq(t.ended, 0);
}
