/* Sessions whose holders are in memory: no shell runs. */
#include "shell/clock.h"
#include "shell/own_error.h"
#include "shell/session/internal.h"

#include "tests/lib/folder.h"
#include "tests/lib/memory_holder.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct waiter {
	struct session_waiter waiter;
	unsigned calls;
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
	uv_timer_t alive; /* like a server's timers: keeps the loop running */
	struct sessions sessions;
	struct sessions_config config;
	unsigned complaints, restarted;
	char complaint[128]; /* the last one */
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

static void on_waiter_done(void *user, struct session *session, enum report_stage stage, int error)
{
	struct waiter *w = user;
	w->calls++;
	w->session = session;
	w->stage = stage;
	w->error = error;
}

static struct session_waiter *make_waiter(struct waiter *w)
{
	*w = (struct waiter){.waiter = {.done = on_waiter_done, .user = w}};
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

/* Attach a client with a window. */
static void attach(struct session *s, struct viewer *v, enum role role, unsigned rows, unsigned cols)
{
	*v = (struct viewer){.viewer = {.more = on_more,
				     .changed = on_viewer_changed,
				     .gone = on_gone,
				     .user = v,
				     .attendee = {.role = role, .rows = rows, .cols = cols}}};
	snprintf(v->viewer.attendee.name, sizeof v->viewer.attendee.name, "name");
	session_attach(s, &v->viewer);
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
	until_open_loop(&t.loop, &t.alive, 10);
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
	until_close_loop(&t.loop, &t.alive);
	memory_holders_free();
	folder_remove(&t.folder);
}

static unsigned count_directories(void)
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
	return sessions_create(&t.sessions, &o, make_waiter(&t.waiter));
}

static struct session *start_with(struct session_options o)
{
	int rc = create(o);
	cr_assert_eq(rc, 0, "%s", strerror(-rc));
	cr_assert(LOOP_UNTIL(&t.loop, t.waiter.calls == 1));
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

static struct session *session; /* "s", of the suites below */

static void set_up_session(void)
{
	set_up();
	session = start("s");
}

#define WITH_SESSION .init = set_up_session, .fini = tear_down, .timeout = 60
TestSuite(session_size, WITH_SESSION);
TestSuite(session_follow, WITH_SESSION);

Test(sessions_create, session_runs_once_its_holder_is_attached)
{
	cr_assert_eq(create((struct session_options){.id = "s", .rows = 30, .cols = 90}), 0);
	struct session *s = sessions_find(&t.sessions, "s");
	cr_assert_not_null(s);
	cr_expect_str_eq(session_state_name(s), "starting");
	cr_expect_eq(t.waiter.calls, 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.waiter.calls == 1));
	cr_expect_eq(t.waiter.session, s);
	cr_expect_eq(t.waiter.error, 0);
	cr_expect_str_eq(session_state_name(s), "running");
	cr_expect(has_size(s, 30, 90));
	cr_expect_eq(t.sessions.counters.created, 1);
	cr_expect_eq(count_directories(), 1);
	cr_expect_eq(t.complaints, 0, "%s", t.complaint);
}

Test(sessions_create, invalid_options_are_refused_at_once)
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
		cr_expect_eq(t.waiter.calls, 0, "case %zu", i);
	}
	cr_expect_eq(sessions_count(&t.sessions), 0);
	cr_expect_eq(count_directories(), 0);
}

Test(sessions_create, id_in_use_is_refused)
{
	start("s");
	cr_expect_eq(create((struct session_options){.id = "s"}), -EEXIST);
}

Test(sessions_create, number_of_sessions_is_limited)
{
	start("a");
	start("b");
	start("c");
	cr_expect_eq(create((struct session_options){.id = "d"}), -ERR_LIMIT);
}

Test(sessions_create, failed_start_is_reported_and_leaves_nothing)
{
	memory_holder_refuse_next(REPORT_EXEC, -EACCES);
	cr_assert_eq(create((struct session_options){.id = "s"}), 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.waiter.calls == 1));
	cr_expect_eq(t.waiter.stage, REPORT_EXEC);
	cr_expect_eq(t.waiter.error, -EACCES);
	cr_expect_null(sessions_find(&t.sessions, "s"));
	cr_expect_eq(count_directories(), 0);
	cr_expect_eq(t.sessions.counters.start_failures, 1);
	cr_expect_eq(t.complaints, 0, "the waiter is notified instead: %s", t.complaint);
}

Test(sessions_create, holder_that_dies_while_starting_leaves_nothing)
{
	memory_holder_delay_next();
	cr_assert_eq(create((struct session_options){.id = "s"}), 0);
	memory_holder_die(holder(sessions_find(&t.sessions, "s")));
	cr_assert(LOOP_UNTIL(&t.loop, t.waiter.calls == 1));
	cr_expect_eq(t.waiter.error, -ECONNRESET);
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
	cr_expect_eq(count_directories(), 0);
}

Test(sessions_create, two_simultaneous_requests_get_one_session)
{
	struct waiter first, second;
	const struct session_options o = {.id = "s", .shell = "/bin/sh"};
	bool created;
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, make_waiter(&first), &created), 0);
	cr_expect(created);
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, make_waiter(&second), &created), 0);
	cr_expect(!created);
	cr_expect_eq(first.calls + second.calls, 0);
	cr_assert(LOOP_UNTIL(&t.loop, first.calls == 1 && second.calls == 1));
	cr_expect_eq(first.session, second.session);
	cr_expect_eq(first.error, 0);
	cr_expect_eq(second.error, 0);
	cr_expect_eq(t.sessions.counters.created, 1);
	cr_expect_eq(memory_holders_count(), 1);
}

Test(sessions_create, failure_is_reported_to_both_of_two_requests)
{
	struct waiter first, second;
	const struct session_options o = {.id = "s", .shell = "/bin/sh"};
	bool created;
	memory_holder_refuse_next(REPORT_TERMINAL, -ENOSPC);
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, make_waiter(&first), &created), 0);
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, make_waiter(&second), &created), 0);
	cr_assert(LOOP_UNTIL(&t.loop, first.calls == 1 && second.calls == 1));
	cr_expect_eq(first.error, -ERR_NO_TERMINAL);
	cr_expect_eq(second.error, -ERR_NO_TERMINAL);
}

Test(sessions_create, running_session_is_returned_at_once)
{
	struct waiter w;
	const struct session_options o = {.id = "s"};
	bool created;
	struct session *s = start("s");
	cr_assert_eq(sessions_get_or_create(&t.sessions, &o, make_waiter(&w), &created), 0);
	cr_expect(!created);
	cr_expect_eq(w.calls, 1);
	cr_expect_eq(w.session, s);
}

Test(sessions_create, ended_session_is_replaced)
{
	struct session *s = start("s");
	memory_holder_exit(holder(s), 0);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_EXITED));
	struct session *other = start("s");
	cr_expect_neq(other, s);
	cr_expect_str_eq(session_state_name(other), "running");
	cr_assert(LOOP_UNTIL(&t.loop, t.sessions.counters.ended == 1));
	cr_expect_eq(memory_holders_count(), 1);
	cr_expect_eq(count_directories(), 1);
}

Test(sessions_adopt, next_server_has_the_same_session)
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

/* A session that was active an hour ago, and is older than that. */
static struct session *start_old(struct session_options o, uint64_t *ret_active_ms)
{
	struct session *s = start_with(o);
	*ret_active_ms = clock_wall_ms() - HOUR_MS;
	s->created_ms = *ret_active_ms - HOUR_MS;
	cr_assert_eq(session_rename(s, "old"), 0); /* stores created_ms */
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

Test(sessions_adopt, adoption_is_no_activity)
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

Test(sessions_adopt, events_without_a_server_are_activity)
{
	uint64_t active, now = clock_wall_ms();
	memory_holder_record(holder(start_old((struct session_options){.id = "s"}, &active)), "x");
	cr_expect_geq(adopt_again()->pane.activity_ms, now);
}

Test(sessions_adopt, future_time_is_ignored)
{
	uint64_t active;
	struct session *s = start_old((struct session_options){.id = "s"}, &active);
	holder(s)->control.page->active_ms = UINT64_MAX;
	cr_expect_leq(adopt_again()->pane.activity_ms, clock_wall_ms());
}

Test(sessions_adopt, idle_timeout_leaves_time_to_reconnect)
{
	uint64_t active;
	start_old((struct session_options){.id = "s", .idle_timeout_ms = 60000}, &active);
	struct session *s = adopt_again();
	sessions_sweep(&t.sessions);
	cr_expect_eq(s->state, SESSION_RUNNING);
	s->pane.active_ms -= 60000;
	sessions_sweep(&t.sessions);
	cr_expect_eq(s->state, SESSION_ENDING);
	cr_assert(LOOP_UNTIL(&t.loop, t.sessions.counters.ended == 1));
}

Test(sessions_adopt, session_whose_holder_does_not_respond_is_unresponsive)
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
	cr_expect_eq(sessions_get_or_create(&t.sessions, &(struct session_options){.id = "s"},
			     make_waiter(&w), &created),
		-ERR_UNRESPONSIVE);
	memory_holder_answer(h);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_RUNNING));
	cr_expect_str_eq(session_state_name(s), "running");
}

Test(sessions_adopt, one_server_at_a_time)
{
	struct sessions other;
	cr_expect_eq(sessions_open(&other, &t.loop, &t.config, &callbacks, &t), -EBUSY);
}

Test(sessions_end, notifies_viewers_and_waiters_and_removes_files)
{
	struct waiter w;
	struct session *s = start("s");
	attach(s, &t.a, ROLE_DRIVER, 24, 80);
	sessions_end(&t.sessions, s, make_waiter(&w));
	cr_expect_null(sessions_find(&t.sessions, "s"));
	cr_expect_eq(t.a.gone, 1);
	cr_expect(t.a.deleted);
	cr_expect_eq(w.calls, 0);
	cr_expect(!sessions_are_idle(&t.sessions));
	cr_assert(LOOP_UNTIL(&t.loop, w.calls == 1));
	cr_expect_eq(w.error, 0);
	cr_expect(sessions_are_idle(&t.sessions));
	cr_expect_eq(count_directories(), 0);
	cr_expect_eq(t.sessions.counters.ended, 1);
}

Test(sessions_end, works_while_the_session_starts)
{
	struct waiter end;
	memory_holder_delay_next();
	cr_assert_eq(create((struct session_options){.id = "s"}), 0);
	struct session *s = sessions_find(&t.sessions, "s");
	struct memory_holder *h = holder(s);
	sessions_end(&t.sessions, s, make_waiter(&end));
	cr_expect_eq(t.waiter.calls, 1);
	cr_expect_eq(t.waiter.error, -ECANCELED);
	cr_expect_eq(end.calls, 0);
	memory_holder_answer(h);
	cr_assert(LOOP_UNTIL(&t.loop, end.calls == 1));
	cr_expect_eq(end.error, 0);
	cr_expect_eq(memory_holders_count(), 0);
	cr_expect_eq(count_directories(), 0);
}

Test(sessions_end, unfinished_end_is_repeated_by_the_next_server)
{
	struct session *s = start("s");
	struct memory_holder *h = holder(s);
	struct waiter w;
	h->mute = true;
	sessions_end(&t.sessions, s, make_waiter(&w));
	close_table();
	cr_expect_eq(w.error, -ECANCELED);
	cr_expect_eq(count_directories(), 1);
	h->mute = false;
	open_table();
	cr_assert_eq(sessions_adopt(&t.sessions), 1);
	cr_expect_null(sessions_find(&t.sessions, "s"));
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
	cr_expect_eq(memory_holders_count(), 0);
	cr_expect_eq(count_directories(), 0);
}

Test(sessions_end, all_sessions)
{
	start("a");
	start("b");
	sessions_end_all(&t.sessions);
	cr_expect_eq(sessions_count(&t.sessions), 0);
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
	cr_expect_eq(t.sessions.counters.ended, 2);
}

Test(sessions_end, idle_session_ends_unless_a_client_is_attached)
{
	struct session *s = start_with((struct session_options){.id = "s", .idle_timeout_ms = 1});
	start_with((struct session_options){.id = "other", .idle_timeout_ms = 1});
	attach(s, &t.a, ROLE_VIEWER, 24, 80);
	cr_assert(LOOP_UNTIL(&t.loop, !sessions_find(&t.sessions, "other")));
	cr_expect_not_null(sessions_find(&t.sessions, "s"));
	session_detach(s, &t.a.viewer);
	cr_assert(LOOP_UNTIL(&t.loop, !sessions_find(&t.sessions, "s")));
	cr_expect_eq(t.a.gone, 0, "it was detached before");
}

Test(sessions_end, exited_session_is_kept_for_its_ttl)
{
	close_table();
	t.config.ended_ttl_s = 1;
	open_table();
	struct session *s = start("s");
	attach(s, &t.a, ROLE_VIEWER, 24, 80);
	memory_holder_exit(holder(s), 0);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_EXITED));
	sessions_sweep(&t.sessions);
	cr_assert_eq(s->state, SESSION_EXITED);
	cr_assert(LOOP_UNTIL(&t.loop, t.a.gone == 1));
	cr_expect(t.a.deleted);
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
	cr_expect_eq(count_directories(), 0);
}

Test(sessions_end, a_step_of_the_wall_clock_ends_no_session)
{
	close_table();
	t.config.ended_ttl_s = HOUR_MS / 1000;
	open_table();
	struct session *s = start_with(
		(struct session_options){.id = "s", .idle_timeout_ms = HOUR_MS});
	struct session *exited = start("exited");
	memory_holder_exit(holder(exited), 0);
	cr_assert(LOOP_UNTIL(&t.loop, exited->state == SESSION_EXITED));
	/* As if the clock had been set two hours forward since; the session was quiet for longer, but then watched. */
	s->pane.activity_ms -= 2 * HOUR_MS;
	s->pane.output_ms -= 3 * HOUR_MS;
	exited->exited_ms -= 2 * HOUR_MS;
	sessions_sweep(&t.sessions);
	cr_expect_eq(s->state, SESSION_RUNNING);
	cr_expect_eq(exited->state, SESSION_EXITED);
	cr_expect_eq(sessions_count(&t.sessions), 2);
	s->pane.active_ms -= HOUR_MS;
	exited->exited_boot_ms -= 2 * (int64_t)HOUR_MS;
	sessions_sweep(&t.sessions);
	cr_assert(LOOP_UNTIL(&t.loop, sessions_are_idle(&t.sessions)));
}

Test(sessions_end, exit_without_a_time_since_boot_ages_from_the_wall_clock)
{
	struct session *s = start("s");
	memory_holder_exit(holder(s), 0);
	/* An earlier holder, an hour ago. */
	holder(s)->ring.header->exit_boot_ns = 0;
	holder(s)->ring.header->exit_time_ns -= HOUR_MS * UINT64_C(1000000);
	cr_assert(LOOP_UNTIL(&t.loop, s->state == SESSION_EXITED));
	uint64_t age = clock_age_ms(s->exited_boot_ms);
	cr_expect(age >= HOUR_MS && age < 2 * HOUR_MS, "it is %ju", (uintmax_t)age);
}

Test(session_follow, attached_viewers_get_output)
{
	attach(session, &t.a, ROLE_VIEWER, 24, 80);
	unsigned before = t.a.more;
	memory_holder_say(holder(session), "hello");
	cr_assert(LOOP_UNTIL(&t.loop, session->pane.history.scan.offset == 5));
	cr_expect_gt(t.a.more, before);
	cr_expect_eq(session_head(session), 5);
	cr_expect_eq(t.sessions.counters.bytes_out, 5);
	before = t.a.more;
	session_detach(session, &t.a.viewer);
	memory_holder_say(holder(session), "!");
	cr_assert(LOOP_UNTIL(&t.loop, session->pane.history.scan.offset == 6));
	cr_expect_eq(t.a.more, before);
}

Test(session_follow, large_output_is_read_in_turns_and_complete)
{
	static char piece[16 << 10];
	memset(piece, 'x', sizeof piece);
	for (uint64_t sum = 0; sum < 4 * RING_SIZE_MIN; sum += sizeof piece) {
		memory_holder_put(holder(session), piece, sizeof piece);
		cr_assert(LOOP_UNTIL(
			&t.loop, session->pane.history.scan.offset == sum + sizeof piece));
	}
	cr_expect_eq(t.sessions.counters.bytes_out, 4 * RING_SIZE_MIN);
}

Test(session_follow, queries_are_answered_without_viewers)
{
	memory_holder_say(holder(session), "\033[5n");
	cr_assert(LOOP_UNTIL(&t.loop, t.sessions.counters.queries_answered == 1));
	cr_expect_str_eq(memory_holder_take_input(holder(session)), "\033[0n");
}

Test(session_follow, exit_is_reported_with_its_status)
{
	attach(session, &t.a, ROLE_DRIVER, 24, 80);
	memory_holder_exit(holder(session), 3 << 8);
	cr_assert(LOOP_UNTIL(&t.loop, session->state == SESSION_EXITED));
	cr_expect_str_eq(session_state_name(session), "exited");
	cr_expect_eq(session->end, SESSION_END_EXITED);
	cr_expect_eq(session->exit_status, 3 << 8);
	cr_expect_eq(t.sessions.counters.exited, 1);
	cr_expect_eq(t.a.gone, 0);
	cr_expect_eq(type(session, &t.a, "x"), -ERR_NOT_RUNNING);
	cr_expect_eq(session_signal(session, SIGINT, WIRE_TARGET_SHELL), -ERR_NOT_RUNNING);
	cr_expect_eq(session_resize(session, 10, 10), -ERR_NOT_RUNNING);
}

Test(session_follow, killed_shell_is_reported_as_a_signal)
{
	memory_holder_exit(holder(session), SIGKILL);
	cr_assert(LOOP_UNTIL(&t.loop, session->state == SESSION_EXITED));
	cr_expect_eq(session->end, SESSION_END_SIGNAL);
}

Test(session_follow, history_survives_a_killed_holder)
{
	attach(session, &t.a, ROLE_DRIVER, 24, 80);
	memory_holder_say(holder(session), "hello");
	memory_holder_die(holder(session));
	cr_assert(LOOP_UNTIL(&t.loop, session->state == SESSION_EXITED));
	cr_expect_eq(session->end, SESSION_END_HOLDER_DIED);
	cr_expect_eq(session->pane.history.scan.offset, 5);
	cr_expect_eq(t.sessions.counters.holders_lost, 1);
	cr_expect_str_eq(t.complaint, "s: its holder has died");
	cr_expect_eq(t.a.gone, 0);
	struct waiter w;
	sessions_end(&t.sessions, session, make_waiter(&w));
	cr_assert(LOOP_UNTIL(&t.loop, w.calls == 1));
	cr_expect_eq(count_directories(), 0);
}

Test(session_follow, input_reaches_the_terminal)
{
	attach(session, &t.a, ROLE_DRIVER, 24, 80);
	cr_assert_eq(type(session, &t.a, "ls\r"), 0);
	cr_expect_str_eq(memory_holder_take_input(holder(session)), "ls\r");
	cr_expect_eq(t.sessions.counters.panes.bytes_in, 3);
}

Test(session_follow, input_beyond_the_queue_is_refused)
{
	static char piece[LINK_INPUT_MAX / 4];
	memset(piece, 'x', sizeof piece);
	holder(session)->full = true;
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(session_write(session, piece, sizeof piece), 0);
	cr_expect_eq(session_write(session, "x", 1), -ENOBUFS);
	cr_expect_eq(t.sessions.counters.panes.input_refused, 1);
}

Test(session_follow, signals_are_sent_to_the_holder)
{
	cr_assert_eq(session_signal(session, SIGINT, WIRE_TARGET_FOREGROUND), 0);
	cr_expect_eq(holder(session)->signo, SIGINT);
	cr_expect_eq(holder(session)->target, WIRE_TARGET_FOREGROUND);
}

Test(session_size, first_window_counts_then_that_of_the_last_typist)
{
	attach(session, &t.a, ROLE_DRIVER, 30, 90);
	cr_expect(has_size(session, 30, 90));
	attach(session, &t.b, ROLE_DRIVER, 40, 100);
	cr_expect(has_size(session, 30, 90));
	cr_assert_eq(type(session, &t.b, "x"), 0);
	cr_expect(has_size(session, 40, 100));
	cr_expect_gt(t.a.changed, 0);
	session_set_window(session, &t.b.viewer, NULL, 41, 101);
	cr_expect(has_size(session, 41, 101));
	session_set_window(session, &t.a.viewer, NULL, 10, 10);
	cr_expect(has_size(session, 41, 101), "no input comes from there");
	session_detach(session, &t.b.viewer);
	cr_expect_eq(session->presence.count, 1);
}

Test(session_size, fixed_ignores_windows)
{
	attach(session, &t.a, ROLE_OWNER, 30, 90);
	cr_assert_eq(session_set_size_policy(session, SIZE_FIXED, 50, 120), 0);
	cr_expect(has_size(session, 50, 120));
	session_set_window(session, &t.a.viewer, NULL, 31, 91);
	cr_expect(has_size(session, 50, 120));
	cr_assert_eq(session_resize(session, 51, 121), 0);
	cr_expect(has_size(session, 51, 121));
	cr_expect_eq(session_resize(session, 0, 10), -EINVAL);
}

Test(session_size, nothing_changes_if_the_policy_cannot_be_saved)
{
	char *cwd = session->pane.cwd, wrong[] = "\xff";
	session->pane.cwd = wrong;
	cr_expect_eq(session_set_size_policy(session, SIZE_FIXED, 50, 120), -EILSEQ);
	session->pane.cwd = cwd;
	cr_expect(has_size(session, 24, 80));
	cr_expect_eq(holder(session)->resizes, 0);
	cr_expect_eq(session->presence.policy, SIZE_LATEST);
}

Test(session_size, nothing_changes_if_the_size_is_refused)
{
	cr_expect_eq(session_set_size_policy(session, SIZE_FIXED, 0, 120), -EINVAL);
	cr_expect(has_size(session, 24, 80));
	cr_expect_eq(session->presence.policy, SIZE_LATEST);
	char text[4096] = "";
	int fd = openat(session->pane.held.link.dir_fd, "meta.json", O_RDONLY | O_CLOEXEC);
	cr_assert_gt(read(fd, text, sizeof text - 1), 0);
	close(fd);
	cr_expect_not_null(strstr(text, "\"latest\""), "%s", text);
}

Test(session_size, policy_owner_uses_only_the_owners_windows)
{
	attach(session, &t.a, ROLE_OWNER, 30, 90);
	attach(session, &t.b, ROLE_DRIVER, 40, 100);
	cr_assert_eq(session_set_size_policy(session, SIZE_OWNER, 0, 0), 0);
	cr_assert_eq(type(session, &t.b, "x"), 0);
	cr_expect(has_size(session, 30, 90));
	cr_expect_eq(session_resize(session, 10, 10), -EPERM);
	cr_assert_eq(session_set_size_policy(session, SIZE_SMALLEST, 0, 0), 0);
	cr_expect_eq(session_resize(session, 10, 10), -EPERM);
}

Test(session_size, requested_size_stays_until_a_client_types)
{
	attach(session, &t.a, ROLE_DRIVER, 30, 90);
	cr_assert_eq(session_resize(session, 50, 120), 0);
	cr_expect(has_size(session, 50, 120));
	cr_assert_eq(type(session, &t.a, "x"), 0);
	cr_expect(has_size(session, 30, 90));
}

#define BUSY_NS 300000u /* that a viewer uses: more than a turn */

static void on_busy_more(void *user)
{
	on_more(user);
	for (uint64_t until = uv_hrtime() + BUSY_NS; uv_hrtime() < until;)
		;
}

static unsigned count_more(void)
{
	return t.a.more + t.b.more + t.c.more;
}

static void attach_busy_viewers(void)
{
	attach(session, &t.a, ROLE_OWNER, 24, 80);
	attach(session, &t.b, ROLE_OWNER, 24, 80);
	attach(session, &t.c, ROLE_OWNER, 24, 80);
	t.a.viewer.more = t.b.viewer.more = t.c.viewer.more = on_busy_more;
	cr_assert(LOOP_UNTIL(&t.loop, session->pane.held.turn.state == TURN_ASLEEP));
	t.a.more = t.b.more = t.c.more = 0;
}

Test(session_follow, slow_viewers_are_served_in_turns)
{
	attach_busy_viewers();
	memory_holder_say(holder(session), "text");
	session_take_turn(&session->pane.held);
	cr_expect_eq(count_more(), 1, "%u", count_more());
	session_take_turn(&session->pane.held);
	session_take_turn(&session->pane.held);
	cr_expect_eq(t.a.more, 1);
	cr_expect_eq(t.b.more, 1);
	cr_expect_eq(t.c.more, 1);
	cr_assert(LOOP_UNTIL(&t.loop, session->pane.held.turn.state == TURN_ASLEEP));
}

Test(session_follow, served_viewers_wait_for_more_output)
{
	attach_busy_viewers();
	memory_holder_say(holder(session), "text");
	cr_assert(LOOP_UNTIL(&t.loop, count_more() == 3));
	cr_assert(LOOP_UNTIL(&t.loop, session->pane.held.turn.state == TURN_ASLEEP));
	cr_expect_eq(count_more(), 3, "%u", count_more());
}

Test(session_follow, viewer_may_detach_before_its_turn)
{
	attach_busy_viewers();
	memory_holder_say(holder(session), "text");
	session_take_turn(&session->pane.held);
	session_detach(session, &t.b.viewer);
	session_detach(session, &t.c.viewer);
	session_detach(session, &t.a.viewer);
	cr_assert(LOOP_UNTIL(&t.loop, session->pane.held.turn.state == TURN_ASLEEP));
	cr_expect_eq(count_more(), 1);
}

Test(session_follow, new_title_is_reported_without_other_output)
{
	attach(session, &t.a, ROLE_OWNER, 24, 80);
	memory_holder_say(holder(session), "\x1b]2;title\x07");
	session_take_turn(&session->pane.held);
	uint64_t version = session->title_version;
	cr_expect_gt(version, 0);
	t.a.more = 0;
	cr_assert(LOOP_UNTIL(&t.loop, session->pane.held.turn.state == TURN_ASLEEP));
	cr_assert(LOOP_UNTIL(&t.loop, t.a.more > 0));
}

/* The holder waits for viewers that read */

#define OUTPUT (RING_SIZE_MIN * 3 / 4)

/* Attach a viewer at the beginning of more than half a ring of output, which took its last piece ago_ms ago. */
static void attach_slow_viewer(unsigned ago_ms)
{
	static char text[OUTPUT];
	attach(session, &t.a, ROLE_VIEWER, 24, 80);
	memset(text, 'x', sizeof text);
	memory_holder_put(holder(session), text, sizeof text);
	t.a.viewer.offset = 1;
	t.a.viewer.read_ms = uv_now(&t.loop) - ago_ms;
	for (unsigned i = 0; i < 100 && session->pane.history.scan.offset < OUTPUT; i++)
		session_take_turn(&session->pane.held);
}

static uint64_t published_tail(const struct session *s)
{
	return atomic_load(&s->pane.held.link.control.page->tail);
}

Test(session_follow, output_is_kept_for_a_viewer_that_reads)
{
	attach_slow_viewer(0);
	cr_expect_eq(published_tail(session), 1);
	cr_expect_eq(session_take_turn(&session->pane.held), TURN_REST, "it is checked again soon");
	t.a.viewer.offset = OUTPUT;
	session_take_turn(&session->pane.held);
	cr_expect_gt(published_tail(session), RING_SIZE_MIN / 2);
}

Test(session_follow, output_is_not_kept_for_a_viewer_that_does_not_read)
{
	attach_slow_viewer(SESSION_VIEWER_READS_MS + 1);
	cr_expect_gt(published_tail(session), RING_SIZE_MIN / 2);
}

Test(session_follow, holder_waits_only_a_moment_for_viewers)
{
	attach_slow_viewer(0);
	uint64_t start = uv_hrtime(), longest = (uint64_t)PATIENCE_MS * 1000000;
	atomic_store(&holder(session)->ring.header->blocked, 1);
	while (published_tail(session) == 1 && uv_hrtime() - start < 100 * longest) {
		t.a.viewer.read_ms = uv_now(&t.loop);
		session_take_turn(&session->pane.held);
	}
	cr_expect_gt(published_tail(session), RING_SIZE_MIN / 2);
	cr_expect_geq(uv_hrtime() - start, longest / 2);
}
