#include "tests/lib/held.h"
#include "tests/lib/random.h"
#include "tests/lib/send_fds.h"

#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct held h;

static void tear_down(void)
{
	held_finish(&h);
}

TestSuite(link_start, .fini = tear_down, .timeout = 60);
TestSuite(link_reattach, .fini = tear_down, .timeout = 60);
TestSuite(link_adopt, .fini = tear_down, .timeout = 60);
TestSuite(link_write, .fini = tear_down, .timeout = 60);
TestSuite(link_resize, .fini = tear_down, .timeout = 60);
TestSuite(link_signal, .fini = tear_down, .timeout = 60);
TestSuite(link_close, .fini = tear_down, .timeout = 60);
TestSuite(link_sleep, .fini = tear_down, .timeout = 60);

Test(link_start, attaches)
{
	held_start(&h);
	cr_assert_eq(h.link.state, LINK_ATTACHED);
	cr_assert(held_is_alive(h.link.info.shell_pid));
	cr_assert_eq(h.link.ring.header->shell_pid, h.link.info.shell_pid);
	cr_assert_eq(h.link.ring.header->epoch, h.link.info.epoch);
	cr_assert_eq(h.link.ring.header->rows, 24);
	held_type(&h, "echo $((40+2))x\n");
	held_expect(&h, "42x\r\n");
}

Test(link_start, socket_and_fifos_are_private)
{
	static const int places[] = {WIRE_FIXED_FD_FIFO, WIRE_FIXED_FD_STDOUT, WIRE_FIXED_FD_STDERR};
	static const char *const names[] = {"f", "o", "e"};
	struct stat st;
	held_start(&h);
	cr_assert_eq(fstatat(h.folder.fd, WIRE_SOCKET, &st, 0), 0);
	cr_assert_eq(st.st_mode & 0777, 0600, "the socket is %o", st.st_mode);
	for (size_t i = 0; i < 3; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/fd/%d", h.link.info.holder_pid, places[i]);
		cr_assert_eq(stat(path, &st), 0);
		cr_assert(S_ISFIFO(st.st_mode));
		cr_assert_eq(st.st_mode & 0777, 0600, "%s is %o", path, st.st_mode);
		cr_assert_eq(
			fstatat(h.folder.fd, names[i], &st, 0), -1, "the FIFO still has a name");
	}
}

/* The lock cannot be acquired while the holder or its guard lives. */
Test(link_start, lock_of_the_directory_is_held_while_holder_or_guard_live)
{
	held_start(&h);
	cr_expect_eq(flock(h.link.dir_fd, LOCK_EX | LOCK_NB), -1);
	cr_expect_eq(errno, EWOULDBLOCK);
	kill(h.link.info.holder_pid, SIGKILL);
	cr_expect(UNTIL(flock(h.link.dir_fd, LOCK_EX | LOCK_NB) == 0));
}

Test(link_start, shell_has_its_terminal_and_no_other_descriptor)
{
	held_run(&h,
		"ls /proc/$$/fd >list; tr '\\n' ' ' <list; readlink /proc/$$/fd/0 | grep -c pts; stty size; "
		"[ -t 0 -a -t 1 -a -t 2 ] && echo tty; ps -o tty= -p $$; stty -a | grep -o iutf8; "
		"echo end");
	held_expect(&h, "end\r\n");
	cr_assert_not_null(strstr(h.text, "0 1 2 1\r\n24 80\r\ntty\r\npts/"), "%s", h.text);
	cr_assert_not_null(strstr(h.text, "iutf8"));
}

Test(link_start, shell_has_default_signals)
{
	unsigned long long blocked, ignored;
	held_run(&h, "grep -E 'SigBlk|SigIgn' /proc/self/status; echo end");
	held_expect(&h, "end\r\n");
	cr_assert_eq(
		sscanf(h.text, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2, "%s", h.text);
	cr_assert_eq(blocked, 0);
	cr_assert_eq(ignored, 0, "%s", h.text);
}

Test(link_start, shell_has_the_limit_of_descriptors)
{
	const char *const argv[] = {"bash", "--norc", "-c", "ulimit -Sn; echo end", NULL};
	held_start_with(&h, &(struct spawn_options){.nofile = 333}, argv);
	held_expect(&h, "end\r\n");
	cr_assert_eq(strncmp(h.text, "333\r\n", 5), 0, "%s", h.text);
}

Test(link_start, failures_are_reported)
{
	static const struct {
		struct spawn_options o;
		const char *shell;
		enum report_stage stage;
		int error;
	} cases[] = {{{0}, "/nonexistent/shell", REPORT_EXEC, -ENOENT},
		{{0}, "/etc/passwd", REPORT_EXEC, -EACCES},
		{{.cwd = "/nonexistent"}, "bash", REPORT_CHDIR, -ENOENT},
		{{.cwd = "/etc/passwd"}, "bash", REPORT_CHDIR, -ENOTDIR},
		{{.holder = "/bin/false"}, "bash", REPORT_SETUP, -ECHILD},
		{{.control_size = 100}, "bash", REPORT_SETUP, -ECHILD}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *const argv[] = {cases[i].shell, NULL};
		if (i > 0)
			tear_down();
		held_init(&h);
		cr_assert_eq(held_try(&h, &cases[i].o, argv), 0);
		cr_assert(LOOP_UNTIL(&h.loop, h.attached || h.failed));
		cr_assert(h.failed, "%zu", i);
		cr_expect_eq(h.stage, cases[i].stage, "%zu: stage %d", i, h.stage);
		cr_expect_eq(h.error, cases[i].error, "%zu: error %d", i, h.error);
		/* Its leftovers are removed and it is reaped. */
		cr_expect(LOOP_UNTIL(&h.loop, h.reaper.count == 0), "%zu", i);
		cr_expect_eq(faccessat(h.folder.fd, WIRE_SOCKET, F_OK, 0), -1, "%zu", i);
	}
}

Test(link_start, missing_holder_is_reported)
{
	const char *const argv[] = {"bash", NULL};
	held_init(&h);
	cr_assert_eq(held_try(&h, &(struct spawn_options){.holder = "/nonexistent"}, argv), -ENOENT);
}

Test(link_start, directory_of_a_running_holder_is_refused_and_unchanged)
{
	const char *const argv[] = {"bash", NULL};
	held_init(&h);
	folder_put(&h.folder, WIRE_SOCKET, "not a socket");
	cr_assert_eq(held_try(&h, &(struct spawn_options){0}, argv), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.attached || h.failed));
	cr_assert(h.failed && h.stage == REPORT_SETUP && h.error == -EEXIST);
}

Test(link_write, input_waits_for_a_slow_reader_and_is_not_lost)
{
	enum { LENGTH = 1 << 20 };
	static char bytes[LENGTH];
	struct random r = {5};
	struct stat st = {0};
	for (size_t i = 0; i < LENGTH; i++)
		bytes[i] = (char)('a' + random_below(&r, 26));
	held_run(&h,
		"stty raw -echo; echo go; while [ ! -e now ]; do sleep 0.01; done; head -c 1048576 >got; echo done");
	held_expect(&h, "go\n");
	cr_assert_eq(link_write(&h.link, bytes, LENGTH), 0);
	cr_assert_gt(link_input_queued(&h.link), LENGTH / 2);
	folder_put(&h.folder, "now", "");
	held_expect(&h, "done");
	cr_assert_eq(link_input_queued(&h.link), 0);
	cr_assert_eq(fstatat(h.folder.fd, "got", &st, 0), 0);
	cr_assert_eq(st.st_size, LENGTH);
	char *got = malloc(LENGTH);
	int fd = openat(h.folder.fd, "got", O_RDONLY);
	cr_assert_eq(read(fd, got, LENGTH), LENGTH);
	cr_assert_eq(memcmp(got, bytes, LENGTH), 0);
	close(fd);
	free(got);
}

Test(link_write, queue_is_limited_and_accepts_all_or_nothing)
{
	static char bytes[LINK_INPUT_MAX];
	memset(bytes, 'x', sizeof bytes);
	held_run(&h, "stty raw -echo; echo go; sleep 1000");
	held_expect(&h, "go\n");
	cr_assert_eq(link_write(&h.link, bytes, sizeof bytes), 0);
	size_t queued = link_input_queued(&h.link);
	cr_assert_eq(link_write(&h.link, bytes, LINK_INPUT_MAX - queued + 1), -ENOBUFS);
	cr_assert_eq(link_input_queued(&h.link), queued);
	cr_assert_eq(link_write(&h.link, bytes, LINK_INPUT_MAX - queued), 0);
	cr_assert_eq(link_write(&h.link, "x", 1), -ENOBUFS);
}

Test(link_write, input_after_the_exit_is_harmless)
{
	static char bytes[100000];
	memset(bytes, 'x', sizeof bytes);
	held_run(&h, "exit 0");
	held_wait_exit(&h);
	for (int i = 0; i < 10; i++)
		cr_assert_eq(link_write(&h.link, bytes, sizeof bytes), 0);
	cr_assert(LOOP_UNTIL(&h.loop, link_input_queued(&h.link) == 0));
}

Test(link_write, needs_an_attached_holder)
{
	held_init(&h);
	cr_assert_eq(link_write(&h.link, "x", 1), -ENOTCONN);
	cr_assert_eq(link_resize(&h.link, 1, 1), -ENOTCONN);
	cr_assert_eq(link_signal(&h.link, SIGINT, WIRE_TARGET_SHELL), -ENOTCONN);
	cr_assert_eq(link_end(&h.link, 0), -ENOTCONN);
}

Test(link_resize, event_has_the_offset_of_the_resize)
{
	struct event_resize size;
	held_run(&h, "trap 'stty size' WINCH; echo one; while :; do read -t 0.01; done");
	held_expect(&h, "one\r\n");
	size_t before = h.length;
	cr_assert_eq(link_resize(&h.link, 30, 100), 0);
	held_expect(&h, "30 100\r\n");
	const struct event *e = held_event(&h, EVENT_RESIZE, 0);
	cr_assert_not_null(e);
	memcpy(&size, e->payload, sizeof size);
	cr_assert(size.rows == 30 && size.cols == 100);
	cr_assert_geq(e->header.offset, before);
	cr_assert_leq(e->header.offset, (uint64_t)(strstr(h.text, "30 100") - h.text));
	cr_assert_eq(h.link.ring.header->geometry, 30u << 16 | 100);
	cr_assert_eq(h.link.ring.header->rows, 24, "the initial size");
}

Test(link_resize, output_printed_before_a_resize_precedes_its_event)
{
	held_run(&h,
		"trap : WINCH; for i in {1..200}; do echo line$i; done; echo printed >f; "
		"while :; do read -t 0.01; done");
	h.idle = true;
	/* After this FIFO record all has been printed. */
	cr_assert(
		LOOP_UNTIL(&h.loop, (held_take_events(&h), held_event(&h, EVENT_FIFO, 0) != NULL)));
	cr_assert_eq(link_resize(&h.link, 31, 101), 0);
	cr_assert(LOOP_UNTIL(
		&h.loop, (held_take_events(&h), held_event(&h, EVENT_RESIZE, 0) != NULL)));
	held_take_bytes(&h);
	uint64_t offset = held_event(&h, EVENT_RESIZE, 0)->header.offset;
	cr_assert_geq(offset, (uint64_t)(strstr(h.text, "line200\r\n") + 9 - h.text));
	h.idle = false;
	held_consume(&h);
}

Test(link_resize, invalid_sizes_change_nothing)
{
	held_run(&h, "echo go; read x; stty size; echo end");
	held_expect(&h, "go\r\n");
	link_resize(&h.link, 0, 80);
	link_resize(&h.link, 24, 0);
	link_resize(&h.link, 65536, 80);
	link_resize(&h.link, 24, UINT32_MAX);
	held_type(&h, "\n");
	held_expect(&h, "end\r\n");
	cr_assert_not_null(strstr(h.text, "24 80\r\n"));
	cr_assert_null(held_event(&h, EVENT_RESIZE, 0));
}

Test(link_signal, foreground_group_gets_the_signal)
{
	held_start(&h);
	held_type(&h, "sh -c 'echo go''ing; exec sleep 1000'; echo status$?\n");
	held_expect(&h, "going\r\n");
	cr_assert_eq(link_signal(&h.link, SIGTERM, WIRE_TARGET_FOREGROUND), 0);
	held_expect(&h, "status143");
}

Test(link_signal, shell_gets_the_signal)
{
	held_run(&h, "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.01; done");
	held_expect(&h, "ready\r\n");
	cr_assert_eq(link_signal(&h.link, SIGUSR1, WIRE_TARGET_SHELL), 0);
	held_expect(&h, "usr1\r\n");
}

Test(link_close, holder_lives_on_and_can_be_adopted)
{
	held_start(&h);
	held_type(&h, "x=kept; (sleep 0.2; echo la''ter) &\n");
	held_expect(&h, "(sleep");
	uint64_t epoch = h.link.info.epoch;
	held_close_link(&h);
	h.closed = h.attached = false;
	cr_assert_eq(link_init(&h.link, &h.loop, dup(h.folder.fd), &held_callbacks, &h), 0);
	cr_assert_eq(link_adopt(&h.link), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.attached));
	cr_assert_eq(h.link.info.epoch, epoch);
	held_consume(&h);
	held_expect(&h, "later\r\n");
	held_type(&h, "echo $x.\n");
	held_expect(&h, "kept.\r\n");
}

Test(link_close, link_that_was_never_started)
{
	held_init(&h);
	held_close_link(&h);
}

Test(link_close, while_starting)
{
	const char *const argv[] = {"bash", "-c", "exit 0", NULL};
	held_init(&h);
	cr_assert_eq(held_try(&h, &(struct spawn_options){.ttl_s = 1}, argv), 0);
	held_close_link(&h);
	cr_assert_not(h.attached || h.failed);
}

static void on_attached_close(void *user)
{
	link_close(&((struct held *)user)->link, held_on_closed);
}

Test(link_close, from_a_callback)
{
	static const struct link_callbacks callbacks = {
		.attached = on_attached_close, .failed = held_on_failed};
	const char *const argv[] = {"bash", "-c", "exit 0", NULL};
	held_init(&h);
	h.link.callbacks = &callbacks;
	cr_assert_eq(held_try(&h, &(struct spawn_options){.ttl_s = 1}, argv), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.closed || h.failed));
	cr_assert(h.closed);
}

Test(link_close, with_input_waiting)
{
	static char bytes[100000];
	memset(bytes, 'x', sizeof bytes);
	held_run(&h, "stty raw -echo; echo go; sleep 1000");
	held_expect(&h, "go\n");
	cr_assert_eq(link_write(&h.link, bytes, sizeof bytes), 0);
	pid_t shell = h.link.info.shell_pid;
	held_close_link(&h);
	cr_assert(held_is_alive(shell));
}

Test(link_sleep, refuses_to_sleep_while_output_waits)
{
	held_start(&h);
	held_type(&h, "echo o''ne\n");
	held_expect(&h, "one\r\n");
	cr_assert_not(link_sleep(&h.link, h.tail - 1, h.events_tail));
	cr_assert_eq(h.link.control.page->waiting, 0);
	cr_assert_not(link_sleep(&h.link, h.tail, h.events_tail + 8));
}

Test(link_sleep, no_wakeup_is_missed)
{
	held_run(&h, "stty -echo; while read x; do echo $x.; done");
	for (int i = 0; i < 300; i++) {
		char text[20];
		snprintf(text, sizeof text, "%d\n", i);
		held_type(&h, text);
		text[strlen(text) - 1] = '\0';
		strcat(text, ".\r\n");
		held_expect(&h, text);
	}
}

Test(link_adopt, missing_holder)
{
	held_init(&h);
	cr_assert_eq(link_adopt(&h.link), -ENOENT);
}

/* The guard of the killed holder removes the socket a moment later. */
static void expect_gone(int rc)
{
	cr_assert(rc == -ECONNREFUSED || rc == -ENOENT, "%d", rc);
}

Test(link_adopt, holder_that_has_died)
{
	held_start(&h);
	kill(h.holder, SIGKILL);
	cr_assert(LOOP_UNTIL(&h.loop, h.lost));
	cr_assert_not(h.taken);
	cr_assert_eq(link_write(&h.link, "x", 1), -ENOTCONN);
	cr_assert_eq(h.link.ring.header->magic, RING_MAGIC, "the history stays mapped");
	held_close_link(&h);
	h.closed = false;
	cr_assert_eq(link_init(&h.link, &h.loop, dup(h.folder.fd), &held_callbacks, &h), 0);
	expect_gone(link_adopt(&h.link));
}

Test(link_adopt, takes_over_from_another_server)
{
	struct held second = {.janitor = -1};
	held_start(&h);
	second.folder = h.folder;
	until_open_loop(&second.loop, &second.far, 1u << 30);
	cr_assert_eq(
		link_init(&second.link, &second.loop, dup(h.folder.fd), &held_callbacks, &second),
		0);
	cr_assert_eq(link_adopt(&second.link), 0);
	cr_assert(LOOP_UNTIL(&second.loop, second.attached));
	cr_assert(LOOP_UNTIL(&h.loop, h.lost));
	cr_assert(h.taken);
	cr_assert_eq(h.link.state, LINK_LOST);
	held_consume(&second);
	held_type(&second, "echo se''cond\n");
	held_expect(&second, "second\r\n");
	cr_assert_eq(link_end(&second.link, 0), 0);
	cr_assert(LOOP_UNTIL(&second.loop, second.ended));
	h.ended = true;
	held_close_link(&second);
	until_close_loop(&second.loop, &second.far);
	free(second.text);
	free(second.events);
}

static unsigned times_taken, times_regained;
static bool at_once; /* Reattach from the callback taken. */

static void on_taken(void *user)
{
	struct held *held = user;
	times_taken++;
	if (at_once)
		cr_assert_eq(link_reattach(&held->link), 0);
}

static void on_regained(void *user)
{
	(void)user;
	times_regained++;
}

/* A second link to the same holder. */
static struct held rival;

static void take_over(void)
{
	rival = (struct held){.janitor = -1};
	cr_assert_eq(link_init(&rival.link, &h.loop, dup(h.folder.fd), &held_callbacks, &rival), 0);
	cr_assert_eq(link_adopt(&rival.link), 0);
	cr_assert(LOOP_UNTIL(&h.loop, rival.attached));
}

static void close_rival(void)
{
	link_close(&rival.link, held_on_closed);
	cr_assert(LOOP_UNTIL(&h.loop, rival.closed));
	free(rival.text);
	free(rival.events);
}

static void start_with_callbacks(void)
{
	static struct link_callbacks callbacks;
	callbacks = held_callbacks;
	callbacks.taken = on_taken;
	callbacks.regained = on_regained;
	times_taken = times_regained = 0;
	held_start(&h);
	h.link.callbacks = &callbacks;
}

Test(link_reattach, link_that_was_taken_over_is_attached_again)
{
	start_with_callbacks();
	held_type(&h, "read x; echo got$x\n");
	take_over();
	cr_assert(LOOP_UNTIL(&h.loop, times_taken == 1));
	cr_assert_not(h.lost);
	cr_assert_eq(h.link.state, LINK_ATTACHED);
	cr_assert_eq(link_resize(&h.link, 30, 90), -ENOTCONN);
	held_type(&h, "meanwhile\n");
	cr_assert_eq(link_reattach(&h.link), 0);
	cr_assert(LOOP_UNTIL(&h.loop, times_regained == 1 && rival.lost));
	cr_assert(rival.taken);
	held_consume(&h);
	held_expect(&h, "gotmeanwhile\r\n");
	cr_assert_eq(link_resize(&h.link, 30, 90), 0);
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_RESIZE, 0) != NULL));
	held_type(&h, "echo as''before\n");
	held_expect(&h, "asbefore\r\n");
	close_rival();
}

Test(link_reattach, repeatedly)
{
	start_with_callbacks();
	for (unsigned i = 1; i <= 20; i++) {
		take_over();
		cr_assert(LOOP_UNTIL(&h.loop, times_taken == i));
		cr_assert_eq(link_reattach(&h.link), 0);
		cr_assert_eq(link_reattach(&h.link), 0, "a reattach is in progress already");
		cr_assert(LOOP_UNTIL(&h.loop, times_regained == i));
		close_rival();
	}
	cr_assert_eq(link_reattach(&h.link), -EINVAL);
	held_type(&h, "echo still''here\n");
	held_expect(&h, "stillhere\r\n");
}

Test(link_reattach, from_the_callback_taken)
{
	start_with_callbacks();
	at_once = true;
	for (unsigned i = 1; i <= 20; i++) {
		take_over();
		cr_assert(LOOP_UNTIL(&h.loop, times_regained == i && rival.lost));
		close_rival();
	}
	cr_assert_eq(times_taken, 20);
}

Test(link_reattach, fails_if_the_holder_has_died)
{
	start_with_callbacks();
	take_over();
	cr_assert(LOOP_UNTIL(&h.loop, times_taken == 1));
	kill(h.holder, SIGKILL);
	cr_assert(LOOP_UNTIL(&h.loop, rival.lost));
	expect_gone(link_reattach(&h.link));
	link_abandon(&h.link, false);
	cr_assert(h.lost && !h.taken);
	close_rival();
}

/* A socket in the holder's place that answers the first request with m and count descriptors. */
static void fake_holder(const struct wire_message *m, size_t length, size_t count)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char request[200];
	held_init(&h);
	snprintf(address.sun_path, sizeof address.sun_path, "%.90s/" WIRE_SOCKET, h.folder.path);
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(link_adopt(&h.link), 0);
	int fd = accept(listener, NULL, NULL);
	cr_assert_geq(read(fd, request, sizeof request), (ssize_t)sizeof(struct wire_message));
	if (length > 0)
		send_fds(fd, m, length, h.folder.fd, count);
	else
		close(fd);
	cr_assert(LOOP_UNTIL(&h.loop, h.attached || h.failed));
	if (length > 0)
		close(fd);
	close(listener);
}

#define ANSWER .magic = WIRE_MAGIC, .version = WIRE_VERSION

Test(link_adopt, wrong_answers)
{
	static const struct {
		const char *name;
		struct wire_message m;
		size_t length, fds;
		int error; /* 0: any */
	} cases[] = {
		{"attached elsewhere", {ANSWER, .type = WIRE_TAKEN}, sizeof cases->m, 0, -EPROTO},
		{"refusal", {ANSWER, .type = WIRE_ATTACH, .serial = 1, .status = -EBUSY},
			sizeof cases->m, 0, -EBUSY},
		{"end of the connection", {ANSWER}, 0, 0, -ECONNRESET},
		{"no descriptors", {ANSWER, .type = WIRE_ATTACH, .serial = 1}, sizeof cases->m, 0, 0},
		{"too few descriptors", {ANSWER, .type = WIRE_ATTACH, .serial = 1}, sizeof cases->m,
			3, 0},
		{"descriptors of the wrong kind", {ANSWER, .type = WIRE_ATTACH, .serial = 1},
			sizeof cases->m, WIRE_FDS, 0},
		{"an additional descriptor", {ANSWER, .type = WIRE_ATTACH, .serial = 1},
			sizeof cases->m, WIRE_FDS + 1, 0},
		{"many additional descriptors", {ANSWER, .type = WIRE_ATTACH, .serial = 1},
			sizeof cases->m, 16, 0},
		{"another magic",
			{.magic = WIRE_MAGIC ^ 1,
				.version = WIRE_VERSION,
				.type = WIRE_ATTACH,
				.serial = 1},
			sizeof cases->m, 0, 0},
		{"too short", {ANSWER, .type = WIRE_ATTACH, .serial = 1}, sizeof cases->m - 1, 0, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (i > 0)
			tear_down();
		fake_holder(&cases[i].m, cases[i].length, cases[i].fds);
		cr_expect(h.failed, "%s", cases[i].name);
		cr_expect(!cases[i].error || h.error == cases[i].error, "%s: %d", cases[i].name,
			h.error);
	}
}
