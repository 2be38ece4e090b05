#include "shell/recording/recorder.h"
#include "shell/session/internal.h"
#include "tests/lib/folder.h"
#include "tests/lib/memory_holder.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* A table with one session, and its recorder, for which every write fails. */
static struct {
	uv_loop_t loop;
	uv_timer_t alive;
	struct folder folder;
	struct sessions_config config;
	struct sessions sessions;
	struct recorder_shared shared;
	struct recorder *recorder;
	struct session *session;
	unsigned complaints;
	char complaint[100];
} t;

static void on_changed(void *user)
{
	(void)user;
}

static void on_failed(void *user, const char *id, const char *what, int error)
{
	(void)user;
	cr_expect_str_eq(id, "s");
	cr_expect_lt(error, 0);
	t.complaints++;
	snprintf(t.complaint, sizeof t.complaint, "%s", what);
}

static const struct sessions_callbacks callbacks = {.changed = on_changed, .failed = on_failed};

static void on_started(void *user, struct session *session, enum report_stage stage, int error)
{
	(void)user;
	(void)stage;
	cr_assert_eq(error, 0);
	t.session = session;
}

static struct session_waiter waiter = {.done = on_started};

static struct session *start(void)
{
	const struct session_options o = {.id = "s", .shell = "/bin/sh"};
	t.session = NULL;
	cr_assert_eq(sessions_create(&t.sessions, &o, &waiter), 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.session));
	return t.session;
}

static void set_up(void)
{
	static char path[] = "PATH=/usr/bin:/bin";
	static char *const environment[] = {path, NULL};
	folder_make(&t.folder);
	until_open_loop(&t.loop, &t.alive, 10);
	t.config = (struct sessions_config){.runtime_dir = t.folder.path,
		.holder = "/nonexistent",
		.cwd = "/",
		.environment = environment,
		.ring_size = RING_SIZE_MIN,
		.scrollback = 100,
		.max_sessions = 3};
	cr_assert_eq(sessions_open(&t.sessions, &t.loop, &t.config, &callbacks, &t), 0);
	start();
	t.shared = (struct recorder_shared){.root_fd = -1,
		.workers = workers_open(&t.loop, 1),
		.codec = segment_codec_create(),
		.loop = &t.loop,
		.failed = on_failed};
	t.recorder = recorder_create(&t.shared, t.session);
	cr_assert_not_null(t.recorder);
}

static void tear_down(void)
{
	if (t.recorder)
		recorder_destroy(t.recorder);
	workers_close(t.shared.workers);
	segment_codec_destroy(t.shared.codec);
	sessions_close(&t.sessions);
	until_close_loop(&t.loop, &t.alive);
	memory_holders_free();
	folder_remove(&t.folder);
}

TestSuite(recorder_tick, .init = set_up, .fini = tear_down, .timeout = 60);
TestSuite(recorder_late, .init = set_up, .fini = tear_down, .timeout = 60);

static void wait_for_disk(void)
{
	cr_assert(LOOP_UNTIL(&t.loop, t.recorder->work_item.state == WORK_IDLE));
}

Test(recorder_tick, failing_disk_is_retried_while_the_session_lives)
{
	wait_for_disk();
	cr_expect_eq(t.complaints, 1);
	for (int tries = 0; tries < 3; tries++) {
		cr_expect(recorder_tick(t.recorder));
		cr_expect_neq(t.recorder->work_item.state, WORK_IDLE);
		wait_for_disk();
	}
	t.recorder->gone_ms = 0;
	uv_update_time(&t.loop);
	cr_expect(recorder_tick(t.recorder));
	wait_for_disk();
	cr_expect_eq(t.complaints, 1, "the failure is reported once: %s", t.complaint);
}

Test(recorder_tick, failing_disk_is_given_up_after_the_session_is_gone)
{
	wait_for_disk();
	sessions_end(&t.sessions, t.session, NULL);
	cr_assert(LOOP_UNTIL(&t.loop, t.recorder->gone));
	wait_for_disk();
	cr_expect(recorder_tick(t.recorder), "the disk may have space soon");
	wait_for_disk();
	t.recorder->gone_ms -= RECORDER_LAST_MS;
	cr_expect(!recorder_tick(t.recorder));
	cr_expect_eq(t.recorder->work_item.state, WORK_IDLE);
	cr_expect_eq(t.complaints, 2);
	cr_expect_str_eq(t.complaint, "gave up writing the end of its recording");
}

/* Wait until the recorder has nothing more to do. */
static void finish(void)
{
	do
		wait_for_disk();
	while (recorder_tick(t.recorder));
}

/* Read the state of the tape back. */
static struct tape read_tape(uint64_t epoch)
{
	struct tape tape = {.root_fd = t.folder.fd, .epoch = epoch};
	memcpy(tape.id, "s", 2);
	cr_assert_eq(tape_open(&tape), 0);
	return tape;
}

static void end_session(const char *said)
{
	memory_holder_say(memory_holder_of(&t.session->pane.held.link), said);
	cr_assert(LOOP_UNTIL(&t.loop, session_head(t.session) == strlen(said)));
	sessions_end(&t.sessions, t.session, NULL);
	cr_assert(LOOP_UNTIL(&t.loop, t.recorder->gone));
}

Test(recorder_late, session_that_ends_before_its_tape_is_open_is_recorded)
{
	wait_for_disk();
	end_session("hello\r\n");
	t.recorder->tape.root_fd = t.folder.fd;
	finish();
	const struct tape tape = read_tape(t.recorder->epoch);
	cr_expect_eq(tape.end, 7);
	cr_expect(tape.exited);
	cr_expect_eq(tape.number, 0, "it is sealed");
	cr_expect(tape.rows == 24 && tape.cols == 80);
}

Test(recorder_late, session_that_ends_before_its_tape_is_open_is_recorded_as_the_server_ends)
{
	wait_for_disk();
	end_session("hello\r\n");
	t.recorder->tape.root_fd = t.folder.fd;
	t.recorder->failing = false;
	const uint64_t epoch = t.recorder->epoch;
	recorder_destroy(t.recorder);
	t.recorder = NULL;
	const struct tape tape = read_tape(epoch);
	cr_expect_eq(tape.end, 7);
	cr_expect(tape.exited);
}

Test(recorder_late, tape_of_an_earlier_server_stays_as_it_is)
{
	wait_for_disk();
	struct recorder *r = t.recorder;
	r->tape.root_fd = t.folder.fd;
	uint8_t bytes[64], size[4] = {24, 0, 80, 0};
	struct tape tape = r->tape;
	cr_assert_eq(tape_open(&tape), 0);
	const struct segment_record record = {
		.type = SEGMENT_SIZE, .payload = size, .length = sizeof size, .time_us = 1};
	size_t length = segment_put_record(&record, bytes, sizeof bytes);
	cr_assert_eq(tape_write(&tape, t.shared.codec, bytes, length), 0);
	end_session("hello\r\n");
	finish();
	tape = read_tape(r->epoch);
	cr_expect_eq(tape.end, 0);
	cr_expect_eq(tape.number, 0, "it is sealed");
}
