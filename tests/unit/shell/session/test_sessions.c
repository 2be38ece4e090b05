/* Sessions whose holders are in memory: nobody's shell runs here. */
#include "shell/clock.h"
#include "shell/session/internal.h"

#include "tests/lib/folder.h"
#include "tests/lib/leak.h"
#include "tests/lib/memory_holder.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct waiter {
	struct session_waiter waiter;
	unsigned told;
	struct session *session;
	enum report_stage stage;
	int error;
};

struct viewer {
	struct session_viewer viewer;
	unsigned more, changed, gone;
	bool deleted;
};

static struct {
	struct folder folder;
	uv_loop_t loop;
	uv_timer_t alive; /* what else a server has: without anything a loop does not turn */
	struct sessions sessions;
	struct sessions_config config;
	unsigned complaints, restarted;
	char complaint[128]; /* the latest */
	struct waiter waiter;
	struct viewer a, b, c;
} t;

static void on_changed(void *user)
{
	(void)user;
}

static void on_failed(void *user, const char *id, const char *what, int error)
{
	(void)user;
	(void)error;
	t.complaints++;
	snprintf(t.complaint, sizeof t.complaint, "%s: %s", id, what);
}

static void on_restarted(void *user, const struct session *session, int wait_status)
{
	(void)user;
	(void)session;
	(void)wait_status;
	t.restarted++;
}

static const struct sessions_callbacks callbacks = {
	.changed = on_changed, .failed = on_failed, .restarted = on_restarted};

static void on_told(void *user, struct session *session, enum report_stage stage, int error)
{
	struct waiter *w = user;
	w->told++;
	w->session = session;
	w->stage = stage;
	w->error = error;
}

static struct session_waiter *told(struct waiter *w)
{
	*w = (struct waiter){.waiter = {.done = on_told, .user = w}};
	return &w->waiter;
}

static void on_more(void *user)
{
	((struct viewer *)user)->more++;
}

static void on_viewer_changed(void *user)
{
	((struct viewer *)user)->changed++;
}

static void on_gone(void *user, bool deleted)
{
	struct viewer *v = user;
	v->gone++;
	v->deleted = deleted;
}

/* Attach with a window. */
static void attach(struct session *s, struct viewer *v, enum role role, unsigned rows, unsigned cols)
{
	*v = (struct viewer){.viewer = {.more = on_more,
				     .changed = on_viewer_changed,
				     .gone = on_gone,
				     .user = v,
				     .attendee = {.role = role, .rows = rows, .cols = cols}}};
	snprintf(v->viewer.attendee.name, sizeof v->viewer.attendee.name, "somebody");
	session_attach(s, &v->viewer);
}

static void on_alive(uv_timer_t *timer)
{
	(void)timer;
}

static void open_table(void)
{
	cr_assert_eq(sessions_open(&t.sessions, &t.loop, &t.config, &callbacks, &t), 0);
}

static void set_up(void)
{
	static char path[] = "PATH=/usr/bin:/bin";
	static char *const environment[] = {path, NULL};
	memset(&t, 0, sizeof t);
	folder_make(&t.folder);
	cr_assert_eq(uv_loop_init(&t.loop), 0);
	uv_timer_init(&t.loop, &t.alive);
	uv_timer_start(&t.alive, on_alive, 10, 10);
	t.config = (struct sessions_config){.runtime_dir = t.folder.path,
		.holder = "/nonexistent",
		.cwd = "/",
		.environment = environment,
		.ring_size = RING_SIZE_MIN,
		.scrollback = 100,
		.max_sessions = 3};
	open_table();
}

static void close_table(void)
{
	sessions_close(&t.sessions);
	uv_unref((uv_handle_t *)&t.alive);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	uv_ref((uv_handle_t *)&t.alive);
}

static void tear_down(void)
{
	close_table();
	uv_close((uv_handle_t *)&t.alive, NULL);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&t.loop), 0);
	memory_holders_free();
	folder_remove(&t.folder);
}

static unsigned directories(void)
{
	unsigned count = 0;
	DIR *dir = fdopendir(openat(t.folder.fd, "sessions", O_RDONLY | O_DIRECTORY));
	cr_assert_not_null(dir);
	for (struct dirent *d; (d = readdir(dir));)
		count += d->d_name[0] != '.';
	closedir(dir);
	return count;
}

static int create(struct session_options o)
{
	o.shell = o.shell ? o.shell : "/bin/sh";
	return sessions_create(&t.sessions, &o, told(&t.waiter));
}

static struct session *start_with(struct session_options o)
{
	int rc = create(o);
	cr_assert_eq(rc, 0, "%s", strerror(-rc));
	cr_assert(LOOP_UNTIL(&t.loop, t.waiter.told == 1));
	cr_assert_eq(t.waiter.error, 0);
	return t.waiter.session;
}

static struct session *start(const char *id)
{
	return start_with((struct session_options){.id = id});
}

static struct memory_holder *holder(const struct session *s)
{
	struct memory_holder *h = memory_holder_of(&s->pane.held.link);
	cr_assert_not_null(h);
	return h;
}

static bool has_size(const struct session *s, unsigned rows, unsigned cols)
{
	const struct memory_holder *h = holder(s);
	return s->pane.rows == rows && s->pane.cols == cols && h->rows == rows && h->cols == cols;
}

static int type(struct session *s, struct viewer *v, const char *text)
{
	return session_type(s, &v->viewer, NULL, text, strlen(text));
}

#define SUITE .init = set_up, .fini = tear_down, .timeout = 60
TestSuite(sessions_create, SUITE);
TestSuite(sessions_adopt, SUITE);
TestSuite(sessions_end, SUITE);
TestSuite(session_size, SUITE);
TestSuite(session_follow, SUITE);

/* Starts */

Test(sessions_create, it_runs_when_its_holder_has_been_attached_to)
{
	cr_assert_eq(create((struct session_options){.id = "s", .rows = 30, .cols = 90}), 0);
	struct session *s = sessions_find(&t.sessions, "s");
	cr_assert_not_null(s);
	cr_expect_str_eq(session_state_name(s), "starting");
	cr_expect_eq(t.waiter.told, 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.waiter.told == 1));
	cr_expect_eq(t.waiter.session, s);
	cr_expect_eq(t.waiter.error, 0);
	cr_expect_str_eq(session_state_name(s), "running");
	cr_expect(has_size(s, 30, 90));
	cr_expect_eq(t.sessions.counters.created, 1);
	cr_expect_eq(directories(), 1);
	cr_expect_eq(t.complaints, 0, "%s", t.complaint);
	ASSERT_NO_LEAKS();
}

Test(sessions_create, what_cannot_be_begun_is_refused_at_once)
{
	const struct {
		struct session_options o;
		int rc;
	} cases[] = {
		{{.id = "no/id"}, -EINVAL},
		{{.id = "s", .name = "\n"}, -EINVAL},
		{{.id = "s", .rows = PRESENCE_SIDE_MAX + 1}, -EINVAL},
		{{.id = "s", .cwd = "relative"}, -EINVAL},
		{{.id = "s", .cwd = "/no/such/directory"}, -ENOENT},
		{{.id = "s", .on_shell_exit = SHELL_EXIT_REEXEC}, -ENOTSUP},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_expect_eq(create(cases[i].o), cases[i].rc, "case %zu", i);
		cr_expect_eq(t.waiter.told, 0, "case %zu", i);
	}
	cr_expect_eq(sessions_count(&t.sessions), 0);
	cr_expect_eq(directories(), 0);
}

Test(sessions_create, an_id_that_lives_is_not_taken_twice)
{
	start("s");
	cr_expect_eq(create((struct session_options){.id = "s"}), -EEXIST);
}

Test(sessions_create, there_are_so_many_and_no_more)
{
	start("a");
	start("b");
	start("c");
	cr_expect_eq(create((struct session_options){.id = "d"}), -EUSERS);
}

Test(sessions_create, a_start_that_fails_is_told_and_leaves_nothing)
{
	memory_holder_refuse_next(REPORT_EXEC, -EACCES);
	cr_assert_eq(create((struct session_options){.id = "s"}), 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.waiter.told == 1));
	cr_expect_eq(t.waiter.stage, REPORT_EXEC);
	cr_expect_eq(t.waiter.error, -EACCES);
	cr_expect_null(sessions_find(&t.sessions, "s"));
	cr_expect_eq(directories(), 0);
	cr_expect_eq(t.sessions.counters.start_failures, 1);
	cr_expect_eq(t.complaints, 0, "who waits is told: %s", t.complaint);
}

Test(sessions_create, a_holder_that_dies_while_it_starts_leaves_nothing)
{
	memory_holder_delay_next();
	cr_assert_eq(create((struct session_options){.id = "s"}), 0);
	memory_holder_die(holder(sessions_find(&t.sessions, "s")));
	cr_assert(LOOP_UNTIL(&t.loop, t.waiter.told == 1));
	cr_expect_eq(t.waiter.error, -ECONNRESET);
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
	cr_expect_eq(directories(), 0);
}

Test(sessions_create, two_at_once_get_one)
{
	struct waiter first, second;
	const struct session_options o = {.id = "s", .shell = "/bin/sh"};
	bool created;
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, told(&first), &created), 0);
	cr_expect(created);
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, told(&second), &created), 0);
	cr_expect(!created);
	cr_expect_eq(first.told + second.told, 0);
	cr_assert(LOOP_UNTIL(&t.loop, first.told == 1 && second.told == 1));
	cr_expect_eq(first.session, second.session);
	cr_expect_eq(first.error, 0);
	cr_expect_eq(second.error, 0);
	cr_expect_eq(t.sessions.counters.created, 1);
	cr_expect_eq(memory_holders_count(), 1);
}

Test(sessions_create, both_of_two_at_once_are_told_that_it_failed)
{
	struct waiter first, second;
	const struct session_options o = {.id = "s", .shell = "/bin/sh"};
	bool created;
	memory_holder_refuse_next(REPORT_TERMINAL, -ENOSR);
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, told(&first), &created), 0);
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, told(&second), &created), 0);
	cr_assert(LOOP_UNTIL(&t.loop, first.told == 1 && second.told == 1));
	cr_expect_eq(first.error, -ENOSR);
	cr_expect_eq(second.error, -ENOSR);
}

Test(sessions_create, one_that_runs_is_had_at_once)
{
	struct waiter w;
	const struct session_options o = {.id = "s"};
	bool created;
	struct session *s = start("s");
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, told(&w), &created), 0);
	cr_expect(!created);
	cr_expect_eq(w.told, 1);
	cr_expect_eq(w.session, s);
}

Test(sessions_create, one_that_has_ended_is_replaced)
{
	struct session *s = start("s");
	memory_holder_exit(holder(s), 0);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_EXITED));
	struct session *other = start("s");
	cr_expect_neq(other, s);
	cr_expect_str_eq(session_state_name(other), "running");
	cr_assert(LOOP_UNTIL(&t.loop, t.sessions.counters.ended == 1));
	cr_expect_eq(memory_holders_count(), 1);
	cr_expect_eq(directories(), 1);
}

/* The next server */

Test(sessions_adopt, the_next_server_knows_what_this_one_knew)
{
	struct session *s = start("s");
	cr_assert_eq(session_rename(s, "a name"), 0);
	cr_assert_eq(session_set_size_policy(s, SIZE_FIXED, 40, 100), 0);
	memory_holder_say(holder(s), "hello");
	cr_assert(LOOP_UNTIL(&t.loop, session_head(s) == 5));
	attach(s, &t.a, ROLE_DRIVER, 0, 0);
	close_table();
	cr_expect_eq(t.a.gone, 1);
	cr_expect(!t.a.deleted);
	cr_expect_eq(memory_holders_count(), 1);
	open_table();
	cr_assert_eq(sessions_adopt(&t.sessions), 1);
	cr_expect(sessions_are_adopting(&t.sessions));
	s = sessions_find(&t.sessions, "s");
	cr_assert_not_null(s);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_RUNNING));
	cr_expect(!sessions_are_adopting(&t.sessions));
	cr_expect_str_eq(s->name, "a name");
	cr_expect_eq(s->presence.policy, SIZE_FIXED);
	cr_expect(has_size(s, 40, 100));
	cr_expect_eq(session_head(s), 5);
	cr_expect_eq(t.sessions.counters.adopted, 1);
	cr_expect_eq(t.complaints, 0, "%s", t.complaint);
}

#define HOUR_MS 3600000u

/* A session that is older than the hour for which nothing has happened in it. */
static struct session *start_old(struct session_options o, uint64_t *ret_active_ms)
{
	struct session *s = start_with(o);
	*ret_active_ms = clock_wall_ms() - HOUR_MS;
	s->created_ms = *ret_active_ms - HOUR_MS;
	cr_assert_eq(session_rename(s, "old"), 0); /* so that it is written down */
	holder(s)->control.page->active_ms = *ret_active_ms;
	return s;
}

static struct session *adopt_again(void)
{
	close_table();
	open_table();
	cr_assert_eq(sessions_adopt(&t.sessions), 1);
	struct session *s = sessions_find(&t.sessions, "s");
	cr_assert_not_null(s);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_RUNNING || s->state == SESSION_EXITED));
	return s;
}

Test(sessions_adopt, being_adopted_is_nothing_that_happens_in_a_session)
{
	uint64_t active;
	start_old((struct session_options){.id = "s"}, &active);
	struct session *s = adopt_again();
	cr_expect_eq(s->pane.activity_ms, active);
	uint64_t now = clock_wall_ms();
	memory_holder_say(holder(s), "more");
	cr_assert(LOOP_UNTIL(&t.loop, s->pane.activity_ms >= now));
	cr_expect_eq(holder(s)->control.page->active_ms, s->pane.activity_ms);
}

Test(sessions_adopt, what_happened_while_there_was_no_server_counts)
{
	uint64_t active, now = clock_wall_ms();
	memory_holder_record(holder(start_old((struct session_options){.id = "s"}, &active)), "x");
	cr_expect_geq(adopt_again()->pane.activity_ms, now);
}

Test(sessions_adopt, a_time_in_the_future_is_none)
{
	uint64_t active;
	struct session *s = start_old((struct session_options){.id = "s"}, &active);
	holder(s)->control.page->active_ms = UINT64_MAX;
	cr_expect_leq(adopt_again()->pane.activity_ms, clock_wall_ms());
}

Test(sessions_adopt, nobody_is_idle_before_there_was_time_to_come_back)
{
	uint64_t active;
	start_old((struct session_options){.id = "s", .idle_timeout_ms = 60000}, &active);
	struct session *s = adopt_again();
	sessions_sweep(&t.sessions);
	cr_expect_eq(s->state, SESSION_RUNNING);
	s->pane.output_ms -= 60000;
	sessions_sweep(&t.sessions);
	cr_expect_eq(s->state, SESSION_ENDING);
	cr_assert(LOOP_UNTIL(&t.loop, t.sessions.counters.ended == 1));
}

Test(sessions_adopt, one_whose_holder_does_not_answer_is_unresponsive)
{
	struct waiter w;
	bool created;
	start("s");
	struct memory_holder *h = holder(sessions_find(&t.sessions, "s"));
	close_table();
	h->backlogged = true;
	open_table();
	cr_assert_eq(sessions_adopt(&t.sessions), 1);
	cr_expect(!sessions_are_adopting(&t.sessions));
	struct session *s = sessions_find(&t.sessions, "s");
	cr_expect_str_eq(session_state_name(s), "unresponsive");
	cr_expect_eq(sessions_get_or_create(
			     &t.sessions, &(struct session_options){.id = "s"}, told(&w), &created),
		-EHOSTDOWN);
	memory_holder_answer(h);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_RUNNING));
	cr_expect_str_eq(session_state_name(s), "running");
}

Test(sessions_adopt, one_server_at_a_time)
{
	struct sessions other;
	cr_expect_eq(sessions_open(&other, &t.loop, &t.config, &callbacks, &t), -EBUSY);
}

/* Ends */

Test(sessions_end, viewers_waiters_and_files)
{
	struct waiter w;
	struct session *s = start("s");
	attach(s, &t.a, ROLE_DRIVER, 24, 80);
	sessions_end(&t.sessions, s, told(&w));
	cr_expect_null(sessions_find(&t.sessions, "s"));
	cr_expect_eq(t.a.gone, 1);
	cr_expect(t.a.deleted);
	cr_expect_eq(w.told, 0);
	cr_expect(!sessions_are_idle(&t.sessions));
	cr_assert(LOOP_UNTIL(&t.loop, w.told == 1));
	cr_expect_eq(w.error, 0);
	cr_expect(sessions_are_idle(&t.sessions));
	cr_expect_eq(directories(), 0);
	cr_expect_eq(t.sessions.counters.ended, 1);
	ASSERT_NO_LEAKS();
}

Test(sessions_end, while_it_starts)
{
	struct waiter end;
	memory_holder_delay_next();
	cr_assert_eq(create((struct session_options){.id = "s"}), 0);
	struct session *s = sessions_find(&t.sessions, "s");
	struct memory_holder *h = holder(s);
	sessions_end(&t.sessions, s, told(&end));
	cr_expect_eq(t.waiter.told, 1);
	cr_expect_eq(t.waiter.error, -ECANCELED);
	cr_expect_eq(end.told, 0);
	memory_holder_answer(h);
	cr_assert(LOOP_UNTIL(&t.loop, end.told == 1));
	cr_expect_eq(end.error, 0);
	cr_expect_eq(memory_holders_count(), 0);
	cr_expect_eq(directories(), 0);
}

Test(sessions_end, one_that_was_being_ended_is_ended_by_the_next_server)
{
	struct session *s = start("s");
	struct memory_holder *h = holder(s);
	struct waiter w;
	h->mute = true;
	sessions_end(&t.sessions, s, told(&w));
	close_table();
	cr_expect_eq(w.error, -ECANCELED);
	cr_expect_eq(directories(), 1);
	h->mute = false;
	open_table();
	cr_assert_eq(sessions_adopt(&t.sessions), 1);
	cr_expect_null(sessions_find(&t.sessions, "s"));
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
	cr_expect_eq(memory_holders_count(), 0);
	cr_expect_eq(directories(), 0);
}

Test(sessions_end, all)
{
	start("a");
	start("b");
	sessions_end_all(&t.sessions);
	cr_expect_eq(sessions_count(&t.sessions), 0);
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
	cr_expect_eq(t.sessions.counters.ended, 2);
}

Test(sessions_end, one_that_idles_unless_somebody_is_there)
{
	struct session *s = start_with((struct session_options){.id = "s", .idle_timeout_ms = 1});
	start_with((struct session_options){.id = "other", .idle_timeout_ms = 1});
	attach(s, &t.a, ROLE_VIEWER, 24, 80);
	cr_assert(LOOP_UNTIL(&t.loop, !sessions_find(&t.sessions, "other")));
	cr_expect_not_null(sessions_find(&t.sessions, "s"));
	session_detach(s, &t.a.viewer);
	cr_assert(LOOP_UNTIL(&t.loop, !sessions_find(&t.sessions, "s")));
	cr_expect_eq(t.a.gone, 0, "it had left");
}

Test(sessions_end, one_that_has_ended_stays_for_its_time_to_live)
{
	close_table();
	t.config.ended_ttl_s = 1;
	open_table();
	struct session *s = start("s");
	attach(s, &t.a, ROLE_VIEWER, 24, 80);
	memory_holder_exit(holder(s), 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.a.gone == 1));
	cr_expect(t.a.deleted);
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
	cr_expect_eq(directories(), 0);
}

/* What its holder tells */

Test(session_follow, output_comes_to_who_follows_it)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_VIEWER, 24, 80);
	unsigned before = t.a.more;
	memory_holder_say(holder(s), "hello");
	cr_assert(LOOP_UNTIL(&t.loop, s->pane.history.scan.offset == 5));
	cr_expect_gt(t.a.more, before);
	cr_expect_eq(session_head(s), 5);
	cr_expect_eq(t.sessions.counters.bytes_out, 5);
	before = t.a.more;
	session_detach(s, &t.a.viewer);
	memory_holder_say(holder(s), "!");
	cr_assert(LOOP_UNTIL(&t.loop, s->pane.history.scan.offset == 6));
	cr_expect_eq(t.a.more, before);
}

Test(session_follow, much_output_comes_in_turns_and_whole)
{
	static char piece[16 << 10];
	struct session *s = start("s");
	memset(piece, 'x', sizeof piece);
	for (uint64_t sum = 0; sum < 4 * RING_SIZE_MIN; sum += sizeof piece) {
		memory_holder_put(holder(s), piece, sizeof piece);
		cr_assert(LOOP_UNTIL(&t.loop, s->pane.history.scan.offset == sum + sizeof piece));
	}
	cr_expect_eq(t.sessions.counters.bytes_out, 4 * RING_SIZE_MIN);
}

Test(session_follow, queries_are_answered_for_nobody_who_looks)
{
	struct session *s = start("s");
	memory_holder_say(holder(s), "\033[5n");
	cr_assert(LOOP_UNTIL(&t.loop, t.sessions.counters.queries_answered == 1));
	cr_expect_str_eq(memory_holder_take_input(holder(s)), "\033[0n");
}

Test(session_follow, its_end_is_known_with_its_status)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_DRIVER, 24, 80);
	memory_holder_exit(holder(s), 3 << 8);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_EXITED));
	cr_expect_str_eq(session_state_name(s), "exited");
	cr_expect_eq(s->end, SESSION_END_EXITED);
	cr_expect_eq(s->exit_status, 3 << 8);
	cr_expect_eq(t.sessions.counters.exited, 1);
	cr_expect_eq(t.a.gone, 0);
	cr_expect_eq(type(s, &t.a, "x"), -ENOTCONN);
	cr_expect_eq(session_signal(s, SIGINT, WIRE_TARGET_SHELL), -ENOTCONN);
	cr_expect_eq(session_resize(s, 10, 10), -ENOTCONN);
}

Test(session_follow, a_shell_that_was_killed_is_no_exit)
{
	struct session *s = start("s");
	memory_holder_exit(holder(s), SIGKILL);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_EXITED));
	cr_expect_eq(s->end, SESSION_END_SIGNAL);
}

Test(session_follow, a_holder_that_dies_leaves_the_history)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_DRIVER, 24, 80);
	memory_holder_say(holder(s), "hello");
	memory_holder_die(holder(s));
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_EXITED));
	cr_expect_eq(s->end, SESSION_END_HOLDER_DIED);
	cr_expect_eq(s->pane.history.scan.offset, 5);
	cr_expect_eq(t.sessions.counters.holders_lost, 1);
	cr_expect_str_eq(t.complaint, "s: its holder has died");
	cr_expect_eq(t.a.gone, 0);
	struct waiter w;
	sessions_end(&t.sessions, s, told(&w));
	cr_assert(LOOP_UNTIL(&t.loop, w.told == 1));
	cr_expect_eq(directories(), 0);
}

Test(session_follow, input_reaches_the_terminal)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_DRIVER, 24, 80);
	cr_assert_eq(type(s, &t.a, "ls\r"), 0);
	cr_expect_str_eq(memory_holder_take_input(holder(s)), "ls\r");
	cr_expect_eq(t.sessions.counters.panes.bytes_in, 3);
}

Test(session_follow, input_that_nobody_reads_is_refused_in_the_end)
{
	static char piece[LINK_INPUT_MAX / 4];
	struct session *s = start("s");
	memset(piece, 'x', sizeof piece);
	holder(s)->full = true;
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(session_write(s, piece, sizeof piece), 0);
	cr_expect_eq(session_write(s, "x", 1), -ENOBUFS);
	cr_expect_eq(t.sessions.counters.panes.input_refused, 1);
}

Test(session_follow, signals_go_to_its_holder)
{
	struct session *s = start("s");
	cr_assert_eq(session_signal(s, SIGINT, WIRE_TARGET_FOREGROUND), 0);
	cr_expect_eq(holder(s)->signo, SIGINT);
	cr_expect_eq(holder(s)->target, WIRE_TARGET_FOREGROUND);
}

/* Windows */

Test(session_size, the_first_window_is_it_and_then_that_of_who_types)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_DRIVER, 30, 90);
	cr_expect(has_size(s, 30, 90));
	attach(s, &t.b, ROLE_DRIVER, 40, 100);
	cr_expect(has_size(s, 30, 90));
	cr_assert_eq(type(s, &t.b, "x"), 0);
	cr_expect(has_size(s, 40, 100));
	cr_expect_gt(t.a.changed, 0);
	session_window(s, &t.b.viewer, NULL, 41, 101);
	cr_expect(has_size(s, 41, 101));
	session_window(s, &t.a.viewer, NULL, 10, 10);
	cr_expect(has_size(s, 41, 101), "nobody types there");
	session_detach(s, &t.b.viewer);
	cr_expect_eq(s->presence.count, 1);
}

Test(session_size, windows_of_viewers_do_not_count)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_VIEWER, 30, 90);
	cr_expect(has_size(s, 24, 80));
	cr_expect_eq(holder(s)->resizes, 0);
}

Test(session_size, smallest_is_the_fewest_rows_and_columns)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_DRIVER, 30, 100);
	attach(s, &t.b, ROLE_DRIVER, 40, 90);
	cr_assert_eq(session_set_size_policy(s, SIZE_SMALLEST, 0, 0), 0);
	cr_expect(has_size(s, 30, 90));
	attach(s, &t.c, ROLE_DRIVER, 20, 200);
	cr_expect(has_size(s, 20, 90));
	session_detach(s, &t.c.viewer);
	cr_expect(has_size(s, 30, 90));
	cr_expect_eq(session_resize(s, 10, 10), -EPERM);
}

Test(session_size, fixed_is_nobodys_window)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_OWNER, 30, 90);
	cr_assert_eq(session_set_size_policy(s, SIZE_FIXED, 50, 120), 0);
	cr_expect(has_size(s, 50, 120));
	session_window(s, &t.a.viewer, NULL, 31, 91);
	cr_expect(has_size(s, 50, 120));
	cr_assert_eq(session_resize(s, 51, 121), 0);
	cr_expect(has_size(s, 51, 121));
	cr_expect_eq(session_resize(s, 0, 10), -EINVAL);
}

Test(session_size, owners_windows_alone_count_when_that_is_the_policy)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_OWNER, 30, 90);
	attach(s, &t.b, ROLE_DRIVER, 40, 100);
	cr_assert_eq(session_set_size_policy(s, SIZE_OWNER, 0, 0), 0);
	cr_assert_eq(type(s, &t.b, "x"), 0);
	cr_expect(has_size(s, 30, 90));
	cr_expect_eq(session_resize(s, 10, 10), -EPERM);
}

Test(session_size, a_size_that_was_asked_for_stays_until_somebody_types)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_DRIVER, 30, 90);
	cr_assert_eq(session_resize(s, 50, 120), 0);
	cr_expect(has_size(s, 50, 120));
	cr_assert_eq(type(s, &t.a, "x"), 0);
	cr_expect(has_size(s, 30, 90));
}

/* Viewers and time */

#define BUSY_NS 300000u /* that a viewer needs: more than a turn */

static void on_busy_more(void *user)
{
	on_more(user);
	for (uint64_t until = uv_hrtime() + BUSY_NS; uv_hrtime() < until;)
		;
}

static unsigned told_more(void)
{
	return t.a.more + t.b.more + t.c.more;
}

static struct session *start_with_busy_viewers(void)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_OWNER, 24, 80);
	attach(s, &t.b, ROLE_OWNER, 24, 80);
	attach(s, &t.c, ROLE_OWNER, 24, 80);
	t.a.viewer.more = t.b.viewer.more = t.c.viewer.more = on_busy_more;
	cr_assert(LOOP_UNTIL(&t.loop, s->pane.held.turn.state == TURN_ASLEEP));
	t.a.more = t.b.more = t.c.more = 0;
	return s;
}

Test(session_follow, viewers_that_need_long_have_turns_in_which_others_are_served)
{
	struct session *s = start_with_busy_viewers();
	memory_holder_say(holder(s), "text");
	session_take_turn(&s->pane.held);
	cr_expect_eq(told_more(), 1, "%u", told_more());
	session_take_turn(&s->pane.held);
	session_take_turn(&s->pane.held);
	cr_expect_eq(t.a.more, 1);
	cr_expect_eq(t.b.more, 1);
	cr_expect_eq(t.c.more, 1);
	cr_assert(LOOP_UNTIL(&t.loop, s->pane.held.turn.state == TURN_ASLEEP));
}

Test(session_follow, viewers_that_are_served_have_nothing_to_do_until_there_is_more)
{
	struct session *s = start_with_busy_viewers();
	memory_holder_say(holder(s), "text");
	cr_assert(LOOP_UNTIL(&t.loop, told_more() == 3));
	cr_assert(LOOP_UNTIL(&t.loop, s->pane.held.turn.state == TURN_ASLEEP));
	cr_expect_eq(told_more(), 3, "%u", told_more());
}

Test(session_follow, a_viewer_that_leaves_before_its_turn_is_not_missed)
{
	struct session *s = start_with_busy_viewers();
	memory_holder_say(holder(s), "text");
	session_take_turn(&s->pane.held);
	session_detach(s, &t.b.viewer);
	session_detach(s, &t.c.viewer);
	session_detach(s, &t.a.viewer);
	cr_assert(LOOP_UNTIL(&t.loop, s->pane.held.turn.state == TURN_ASLEEP));
	cr_expect_eq(told_more(), 1);
}

Test(session_follow, a_new_title_is_told_though_nothing_else_comes)
{
	struct session *s = start("s");
	attach(s, &t.a, ROLE_OWNER, 24, 80);
	memory_holder_say(holder(s), "\x1b]2;title\x07");
	session_take_turn(&s->pane.held);
	uint64_t version = s->title_version;
	cr_expect_gt(version, 0);
	t.a.more = 0;
	cr_assert(LOOP_UNTIL(&t.loop, s->pane.held.turn.state == TURN_ASLEEP));
	cr_assert(LOOP_UNTIL(&t.loop, t.a.more > 0));
}

/* Viewers that read are waited for */

#define OUTPUT (RING_SIZE_MIN * 3 / 4)

/* With a viewer at the beginning of more than half a ring of output; it has taken what it was given so long ago. */
static struct session *start_with_viewer_behind(unsigned ago_ms)
{
	static char text[OUTPUT];
	struct session *s = start("s");
	attach(s, &t.a, ROLE_VIEWER, 24, 80);
	memset(text, 'x', sizeof text);
	memory_holder_put(holder(s), text, sizeof text);
	t.a.viewer.offset = 1;
	t.a.viewer.taken_ms = uv_now(&t.loop) - ago_ms;
	for (unsigned i = 0; i < 100 && s->pane.history.scan.offset < OUTPUT; i++)
		session_take_turn(&s->pane.held);
	return s;
}

static uint64_t given_back(const struct session *s)
{
	return atomic_load(&s->pane.held.link.control.page->tail);
}

Test(session_follow, what_a_viewer_that_reads_has_not_got_is_kept)
{
	struct session *s = start_with_viewer_behind(0);
	cr_expect_eq(given_back(s), 1);
	cr_expect_eq(session_take_turn(&s->pane.held), TURN_REST, "it is looked at again soon");
	t.a.viewer.offset = OUTPUT;
	session_take_turn(&s->pane.held);
	cr_expect_gt(given_back(s), RING_SIZE_MIN / 2);
}

Test(session_follow, nothing_is_kept_for_a_viewer_that_does_not_read)
{
	struct session *s = start_with_viewer_behind(SESSION_VIEWER_READS_MS + 1);
	cr_expect_gt(given_back(s), RING_SIZE_MIN / 2);
}

Test(session_follow, a_holder_waits_for_viewers_that_read_only_for_a_moment)
{
	struct session *s = start_with_viewer_behind(0);
	uint64_t start = uv_hrtime(), longest = (uint64_t)PATIENCE_MS * 1000000;
	atomic_store(&holder(s)->ring.header->blocked, 1);
	while (given_back(s) == 1 && uv_hrtime() - start < 100 * longest) {
		t.a.viewer.taken_ms = uv_now(&t.loop);
		session_take_turn(&s->pane.held);
	}
	cr_expect_gt(given_back(s), RING_SIZE_MIN / 2);
	cr_expect_geq(uv_hrtime() - start, longest / 2);
}
