#include "shell/held/table.h"
#include "tests/lib/memory_pane.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUCH (SCREENING_INLINE_MAX * 4)

static struct memory_pane m;
static struct held_table table;
static char replies[4096];
static unsigned turns;
static uv_timer_t alive; /* keeps the loop awake, as a server's loop is */

static enum turn_next take_turn(struct turn *turn)
{
	(void)turn;
	turns++;
	return pane_follow(&m.pane, false, true) ? TURN_MORE : TURN_SLEEP;
}

static void on_reply(void *user, const char *bytes, size_t length)
{
	(void)user;
	strncat(replies, bytes, length);
}

static const struct screen_callbacks callbacks = {.reply = on_reply};

static void set_up(void)
{
	memory_pane_make(&m);
	live_finish(&m.pane.live);
	cr_assert_eq(live_init(&m.pane.live, &m.pane.history,
			     &(struct live_options){.callbacks = &callbacks, .scrollback = 100}),
		0);
	turns_open(&table.turns, &m.loop, take_turn);
	m.pane.held.table = &table;
	until_keep_running(&m.loop, &alive, 1);
	m.pane.screening.workers = workers_open(&m.loop, 2);
	cr_assert_not_null(m.pane.screening.workers);
}

static void tear_down(void)
{
	pane_close_screen(&m.pane);
	turn_remove(&table.turns, &m.pane.held.turn);
	workers_close(m.pane.screening.workers);
	turns_close(&table.turns);
	uv_close((uv_handle_t *)&alive, NULL);
	memory_pane_finish(&m);
}

TestSuite(screening, .init = set_up, .fini = tear_down);

static void print_much(size_t bytes)
{
	for (size_t done = 0; done < bytes; done += 64)
		memory_pane_say(&m, "%062u\r\n", (unsigned)done);
}

static uint64_t head(void)
{
	return stream_head(&m.pane.held.link.ring.bytes);
}

static bool is_idle(void)
{
	return !m.pane.live.lent && live_backlog(&m.pane.live) == 0;
}

Test(screening, little_output_is_drawn_at_once)
{
	memory_pane_say(&m, "little\033[6n");
	cr_assert_not(pane_follow(&m.pane, false, true));
	cr_assert_not(m.pane.live.lent);
	cr_assert_eq(screen_offset(pane_unlent_screen(&m.pane)), head());
	cr_assert_str_eq(replies, "\033[1;7R");
}

Test(screening, much_output_is_drawn_on_a_worker)
{
	print_much(MUCH);
	cr_assert_not(pane_follow(&m.pane, false, true));
	cr_assert(m.pane.live.lent);
	cr_assert_null(pane_unlent_screen(&m.pane));
	cr_assert(pane_has_screen(&m.pane));
	print_much(MUCH); /* drawn by the next job */
	cr_assert(LOOP_UNTIL(&m.loop, is_idle()));
	cr_assert_geq(turns, 1);
	cr_assert_eq(screen_offset(pane_unlent_screen(&m.pane)), head());
}

Test(screening, output_is_collected_while_more_comes)
{
	print_much(MUCH);
	cr_assert_not(pane_follow(&m.pane, true, true));
	cr_assert_not(m.pane.live.lent);
	print_much(m.pane.held.link.ring.bytes.size / SCREENING_SHARE);
	cr_assert_not(pane_follow(&m.pane, true, true));
	cr_assert(m.pane.live.lent);
}

Test(screening, old_output_is_not_collected_longer)
{
	print_much(MUCH);
	uv_update_time(&m.loop);
	bool gone = false;
	cr_assert(UNTIL((uv_update_time(&m.loop), pane_follow(&m.pane, true, true),
		gone = m.pane.live.lent, gone)));
}

Test(screening, summary_does_not_change_while_a_worker_draws)
{
	memory_pane_say(&m, "\033]2;before\a\033[?1049h");
	pane_follow(&m.pane, false, true);
	struct glance before = pane_screen_summary(&m.pane);
	cr_assert(before.exists && before.alternate);
	cr_assert_str_eq(before.title, "before");
	memory_pane_say(&m, "\033]2;after\a\033]1;icon\a\033[?1049l");
	print_much(MUCH);
	pane_follow(&m.pane, false, true);
	cr_assert(m.pane.live.lent);
	struct glance lent = pane_screen_summary(&m.pane);
	cr_assert(lent.exists && lent.alternate);
	cr_assert_str_eq(lent.title, "before");
	cr_assert_str_eq(lent.icon, "");
	cr_assert_eq(lent.version, before.version);
	cr_assert_eq(lent.resume, before.resume);
	cr_assert_gt(lent.memory, 0);
	cr_assert(LOOP_UNTIL(&m.loop, is_idle()));
	struct glance after = pane_screen_summary(&m.pane);
	cr_assert(after.exists && !after.alternate);
	cr_assert_str_eq(after.title, "after");
	cr_assert_str_eq(after.icon, "icon");
	cr_assert_gt(after.version, before.version);
	cr_assert_eq(after.resume, head());
}

Test(screening, query_is_answered_before_later_output)
{
	memory_pane_say(&m, "\033[6n");
	print_much(MUCH);
	cr_assert(LOOP_UNTIL(&m.loop,
		(m.pane.live.lent ? 0 : pane_follow(&m.pane, true, true), *replies != '\0')));
	cr_assert_str_eq(replies, "\033[1;1R");
}

/* The ring is full and the program is blocked until the next checkpoint. */
Test(screening, checkpoint_is_written_after_drawing_on_the_loop)
{
	size_t size = m.pane.held.link.ring.bytes.size;
	print_much(size / 2 - 64);
	live_screen(&m.pane.live);
	memory_pane_say(&m, "%0200u\033[6n", 1u);
	cr_assert(pane_follow(&m.pane, false, true), "work is left");
	cr_assert_str_eq(replies, "\033[24;41R");
	cr_assert_not(pane_follow(&m.pane, false, true));
	cr_assert(m.pane.live.lent);
	cr_assert(LOOP_UNTIL(&m.loop, is_idle()));
	cr_assert_eq(m.pane.live.checkpoints + m.pane.live.checkpoint_failures, 1);
	cr_assert_geq(pane_tail(&m.pane), size / 2);
}

Test(screening, tail_is_not_beyond_a_workers_output)
{
	print_much(MUCH);
	uint64_t before = pane_tail(&m.pane);
	pane_follow(&m.pane, false, true);
	cr_assert(m.pane.live.lent);
	cr_assert_eq(pane_tail(&m.pane), before);
}

Test(screening, closes_while_a_worker_draws)
{
	print_much(MUCH);
	pane_follow(&m.pane, false, true);
	cr_assert(m.pane.live.lent);
}

Test(screening, without_workers_all_is_drawn_on_the_loop)
{
	struct workers *workers = m.pane.screening.workers;
	m.pane.screening.workers = NULL;
	print_much(MUCH);
	while (pane_follow(&m.pane, true, true))
		cr_assert_not(m.pane.live.lent);
	cr_assert(is_idle());
	m.pane.screening.workers = workers;
}

#define LINES 1000u /* more than is painted on the loop */

struct fixture_look {
	struct look look;
	unsigned seen, gone;
	uint64_t asked, offset; /* head at the request; the screen's offset when it was seen */
};

static void on_seen(void *user)
{
	struct fixture_look *o = user;
	o->seen++;
	cr_assert_not(m.pane.live.lent);
	o->offset = screen_offset(pane_unlent_screen(&m.pane));
}

static void on_gone(void *user)
{
	struct fixture_look *o = user;
	o->gone++;
}

static bool look(struct fixture_look *o, struct look how)
{
	*o = (struct fixture_look){.look = how, .asked = head()};
	o->look.seen = on_seen;
	o->look.gone = on_gone;
	o->look.user = o;
	return pane_look(&m.pane, &o->look);
}

static void make_history(void)
{
	live_finish(&m.pane.live);
	cr_assert_eq(live_init(&m.pane.live, &m.pane.history,
			     &(struct live_options){.callbacks = &callbacks, .scrollback = LINES}),
		0);
	print_much((size_t)(LINES + 100) * 64);
	live_screen(&m.pane.live);
}

Test(screening, small_look_is_immediate)
{
	struct fixture_look o;
	memory_pane_say(&m, "little");
	cr_assert(look(&o, (struct look){.paints = true}));
	cr_assert_eq(screen_offset(pane_unlent_screen(&m.pane)), head());
	cr_assert_eq(o.look.picture.offset, head());
	cr_assert_gt(o.look.picture.snapshot.length, 0);
	cr_assert_eq(o.look.picture.cols, 80);
	look_cancel(&o.look);
	cr_assert_eq(o.seen + o.gone, 0);
}

Test(screening, look_waits_until_the_output_is_drawn)
{
	struct fixture_look first, second;
	print_much(MUCH);
	cr_assert_not(look(&first, (struct look){0}));
	pane_follow(&m.pane, true, false);
	cr_assert(m.pane.live.lent, "a waiting look stops collecting");
	print_much(MUCH);
	cr_assert_not(look(&second, (struct look){.paints = true, .lines = 10}));
	cr_assert(LOOP_UNTIL(&m.loop, second.seen > 0));
	cr_assert_eq(first.seen, 1);
	cr_assert_eq(second.seen, 1);
	cr_assert_geq(first.offset, first.asked);
	cr_assert_eq(second.offset, head());
	cr_assert_eq(second.look.picture.snapshot.lines, 10);
	look_cancel(&second.look);
}

Test(screening, older_screen_can_be_enough)
{
	struct fixture_look o;
	memory_pane_say(&m, "prompt");
	uint64_t prompt = head();
	pane_follow(&m.pane, false, true);
	print_much(MUCH);
	cr_assert(look(&o, (struct look){.enough = prompt}));
	cr_assert_eq(screen_offset(pane_unlent_screen(&m.pane)), prompt);
	cr_assert_not(look(&o, (struct look){.enough = prompt + 1}));
	cr_assert(LOOP_UNTIL(&m.loop, o.seen > 0));
}

Test(screening, large_snapshot_is_painted_on_a_worker)
{
	struct fixture_look o;
	make_history();
	cr_assert_not(look(&o, (struct look){.paints = true, .lines = LINES}));
	pane_follow(&m.pane, false, true);
	cr_assert(m.pane.live.lent);
	cr_assert_eq(o.seen, 0);
	print_much(MUCH); /* not part of the snapshot */
	cr_assert(LOOP_UNTIL(&m.loop, o.seen > 0));
	cr_assert_eq(o.look.picture.offset, o.asked);
	cr_assert_eq(o.look.picture.snapshot.lines, LINES);
	cr_assert_eq(o.look.picture.total, LINES);
	cr_assert(LOOP_UNTIL(&m.loop, is_idle()));
	cr_assert_eq(o.seen, 1);
	look_cancel(&o.look);
}

Test(screening, painting_does_not_stop_drawing)
{
	struct fixture_look many[20];
	make_history();
	for (unsigned i = 0; i < 20; i++)
		cr_assert_not(look(&many[i], (struct look){.paints = true, .lines = LINES}));
	print_much(MUCH);
	cr_assert(LOOP_UNTIL(&m.loop, is_idle()));
	cr_assert_eq(many[19].seen, 0, "drawing does not wait for all snapshots");
	cr_assert(LOOP_UNTIL(&m.loop, many[19].seen > 0));
	for (unsigned i = 0; i < 20; i++) {
		cr_assert_eq(many[i].seen, 1);
		look_cancel(&many[i].look);
	}
}

Test(screening, cancelled_look_is_not_called)
{
	struct fixture_look waiting, painting;
	make_history();
	cr_assert_not(look(&painting, (struct look){.paints = true, .lines = LINES}));
	pane_follow(&m.pane, false, true);
	cr_assert_eq(painting.look.state, LOOK_PAINTING);
	cr_assert_not(look(&waiting, (struct look){0}));
	look_cancel(&painting.look);
	look_cancel(&waiting.look);
	print_much(MUCH);
	cr_assert(LOOP_UNTIL(&m.loop, is_idle()));
	cr_assert_eq(painting.seen + painting.gone + waiting.seen + waiting.gone, 0);
}

Test(screening, waiting_looks_are_called_at_the_end)
{
	struct fixture_look waiting, painting;
	make_history();
	cr_assert_not(look(&painting, (struct look){.paints = true, .lines = LINES}));
	pane_follow(&m.pane, false, true);
	cr_assert_not(look(&waiting, (struct look){0}));
	pane_close_screen(&m.pane);
	cr_assert_eq(painting.gone, 1);
	cr_assert_eq(waiting.gone, 1);
	cr_assert_eq(painting.seen + waiting.seen, 0);
}

Test(screening, without_workers_looks_are_immediate)
{
	struct workers *workers = m.pane.screening.workers;
	struct fixture_look o;
	m.pane.screening.workers = NULL;
	make_history();
	print_much(MUCH);
	cr_assert(look(&o, (struct look){.paints = true, .lines = LINES}));
	cr_assert_eq(o.look.picture.offset, head());
	look_cancel(&o.look);
	m.pane.screening.workers = workers;
}

struct test_task {
	struct look_task task;
	bool worked;
};

static void work_without(struct look_task *task, const struct screen *screen)
{
	cr_assert_null(screen);
	((struct test_task *)(void *)task)->worked = true;
}

static void destroy_nothing(struct look_task *task)
{
	(void)task;
}

/* As after a lack of memory for the screen. */
Test(screening, task_without_a_screen_runs_at_once)
{
	struct fixture_look o;
	struct test_task t = {.task = {.work = work_without, .destroy = destroy_nothing}};
	live_finish(&m.pane.live);
	cr_assert(look(&o, (struct look){.task = &t.task}));
	cr_expect(t.worked);
	o.look.task = NULL;
	look_cancel(&o.look);
}
