/* The holder: events, sources, respawn, the overrun rule, the socket, the guard and the starter. */
#include "pty/starter.h"
#include "tests/lib/held.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct held h;

static void tear_down(void)
{
	held_finish(&h);
}

TestSuite(holder_feed, .fini = tear_down, .timeout = 60);
TestSuite(holder_sources, .fini = tear_down, .timeout = 60);
TestSuite(holder_exit, .fini = tear_down, .timeout = 60);
TestSuite(holder_respawn, .fini = tear_down, .timeout = 60);
TestSuite(holder_overrun, .fini = tear_down, .timeout = 60);
TestSuite(holder_wire, .fini = tear_down, .timeout = 60);
TestSuite(holder_guard, .fini = tear_down, .timeout = 60);
TestSuite(holder_starter, .fini = tear_down, .timeout = 60);
TestSuite(holder_end, .fini = tear_down, .timeout = 60);
TestSuite(holder_signals, .fini = tear_down, .timeout = 60);

/* End the session after this grace period. */
static void end(unsigned grace_ms)
{
	cr_assert_eq(link_end(&h.link, grace_ms), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.ended));
	cr_assert_eq(h.error, 0);
}

/* Run a script that fills the smallest ring; nothing is consumed. */
static void run_until_blocked(const char *script)
{
	const char *const argv[] = {"bash", "--norc", "-c", script, NULL};
	held_start_with(&h, &(struct spawn_options){.ring_size = RING_SIZE_MIN}, argv);
	h.idle = true;
	cr_assert(LOOP_UNTIL(&h.loop, atomic_load(&h.link.ring.header->blocked) == 1));
}

/* Number in the last line of a FIFO record: one read may have got several records. */
static int last_number(const struct event *e)
{
	char text[EVENT_PAYLOAD_MAX + 1];
	memcpy(text, e->payload, e->header.length);
	text[e->header.length] = '\0';
	if (e->header.length > 0)
		text[e->header.length - 1] = '\0'; /* its newline */
	const char *line = strrchr(text, '\n');
	return atoi(line ? line + 1 : text);
}

Test(holder_feed, output_printed_before_a_record_precedes_it_in_the_ring)
{
	const char *at;
	held_run(&h,
		"stty -echo; while :; do echo 0123456789012345678901234567890123456789; done & load=$!\n"
		"echo go; while read i; do printf \"mark$i;\"; echo $i >f; done; kill $load; exit 0");
	held_expect(&h, "go\r\n");
	for (int i = 0; i < 200; i++) {
		char text[20];
		const struct event *e;
		snprintf(text, sizeof text, "%d\n", i);
		held_type(&h, text);
		cr_assert(LOOP_UNTIL(&h.loop, (e = held_event(&h, EVENT_FIFO, (size_t)i)) != NULL));
		cr_assert_eq(last_number(e), i);
		snprintf(text, sizeof text, "mark%d;", i);
		at = memmem(h.text, e->header.offset, text, strlen(text));
		cr_assert_not_null(at, "record %d precedes output that was printed before it", i);
	}
	held_type(&h, "\x04");
	held_wait_exit(&h);
}

Test(holder_feed, long_record_is_whole)
{
	held_run(&h, "printf '%04095d\\n' 7 >f; read x");
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_FIFO, 0) != NULL));
	const struct event *e = held_event(&h, EVENT_FIFO, 0);
	cr_assert_eq(e->header.length, 4096);
	cr_assert_arr_eq(e->payload + 4090, "00007\n", 6);
}

Test(holder_feed, death_of_a_fifo_writer_does_not_matter)
{
	held_run(&h, "for i in 1 2 3; do sh -c 'echo x >f'; done; echo still''here; read x");
	held_expect(&h, "stillhere\r\n");
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_FIFO, 0) != NULL));
}

Test(holder_feed, events_have_a_timestamp)
{
	struct timespec now;
	held_run(&h, "echo x >f; read x");
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_FIFO, 0) != NULL));
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t seconds = held_event(&h, EVENT_FIFO, 0)->header.time_ns / 1000000000u;
	cr_assert(seconds <= (uint64_t)now.tv_sec && seconds + 60 > (uint64_t)now.tv_sec);
}

/* The output of one source. */
static const char *text_of(enum event_source source)
{
	static char text[65536];
	size_t length = 0;
	uint32_t now = EVENT_SOURCE_TERMINAL;
	uint64_t from = 0;
	for (size_t i = 0; i <= h.events_count; i++) {
		const struct event *e = i < h.events_count ? &h.events[i] : NULL;
		if (e && e->header.type != EVENT_SOURCE)
			continue;
		uint64_t to = e ? e->header.offset : h.length;
		if (now == source) {
			memcpy(text + length, h.text + from, to - from);
			length += to - from;
		}
		from = to;
		if (e)
			memcpy(&now, e->payload, sizeof now);
	}
	text[length] = '\0';
	return text;
}

Test(holder_sources, pipes_are_labelled_and_get_crs)
{
	held_run(&h,
		"exec 3>f; echo tty1; printf 'a\\nb\\n' >o; echo 1 >&3; printf 'e1\\ne2' >e; echo 2 >&3;\n"
		"printf 'c\\r\\n' >o; echo 3 >&3; echo tty2; echo 4 >&3; exit 0");
	held_wait_exit(&h);
	cr_assert_str_eq(
		text_of(EVENT_SOURCE_STDOUT), "a\r\nb\r\nc\r\r\n", "exact except for the CRs");
	cr_assert_str_eq(text_of(EVENT_SOURCE_STDERR), "e1\r\ne2");
	cr_assert_str_eq(text_of(EVENT_SOURCE_TERMINAL), "tty1\r\ntty2\r\n");
	/* In the ring before the record that was written after them. */
	for (size_t i = 0; i < h.events_count; i++) {
		const struct event *e = &h.events[i];
		if (e->header.type == EVENT_FIFO && last_number(e) >= 2)
			cr_assert_geq(
				e->header.offset, (uint64_t)(strstr(h.text, "e2") - h.text) + 2);
	}
}

Test(holder_sources, large_output_through_a_pipe_is_exact)
{
	held_run(&h, "seq 1 20000 >o; echo 1 >f; exit 0");
	held_wait_exit(&h);
	const char *text = text_of(EVENT_SOURCE_STDERR);
	cr_assert_str_eq(text, "");
	const char *at = h.text;
	for (int i = 1; i <= 20000; i++) {
		char line[20];
		int n = snprintf(line, sizeof line, "%d\r\n", i);
		cr_assert_eq(strncmp(at, line, (size_t)n), 0, "line %d", i);
		at += n;
	}
}

Test(holder_exit, status_and_offset_are_published)
{
	held_run(&h, "head -c 300000 /dev/zero | tr '\\0' x; exit 7");
	held_wait_exit(&h);
	const struct ring_header *header = h.link.ring.header;
	const struct event *e = held_event(&h, EVENT_EXIT, 0);
	int32_t status;
	memcpy(&status, e->payload, sizeof status);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	cr_assert_eq(header->exited, 1);
	cr_assert_eq(header->exit_status, status);
	cr_assert_eq(header->exit_offset, 300000);
	cr_assert_eq(h.length, 300000);
	cr_assert_eq(strspn(h.text, "x"), 300000);
	cr_assert_eq(e->header.offset, 300000);
	cr_assert_gt(header->exit_time_ns, header->created_ns);
	cr_assert_not(h.lost, "the holder stays");
	cr_assert_null(held_event(&h, EVENT_EXIT, 1));
}

Test(holder_exit, exit_by_a_signal_is_reported)
{
	held_run(&h, "kill -9 $$");
	held_wait_exit(&h);
	int32_t status = h.link.ring.header->exit_status;
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

Test(holder_exit, status_is_the_shells_not_its_childrens)
{
	held_run(&h, "(exit 3) & (sleep 0.3; echo late) & wait %1; exit 4");
	held_wait_exit(&h);
	cr_assert_eq(WEXITSTATUS(h.link.ring.header->exit_status), 4);
}

Test(holder_exit, output_before_the_exit_is_never_lost)
{
	for (int i = 0; i < 15; i++) {
		held_run(&h, "printf 'last words'; echo 1 >f; printf '!'; exit 0");
		held_wait_exit(&h);
		cr_assert_str_eq(h.text, "last words!");
		cr_assert_not_null(held_event(&h, EVENT_FIFO, 0));
		if (i < 14)
			held_finish(&h);
	}
}

Test(holder_exit, terminal_kept_open_by_a_child_does_not_delay_the_exit)
{
	held_run(&h,
		"(trap '' HUP; touch ready; exec sleep 1000) & echo child$!; "
		"while [ ! -e ready ]; do sleep 0.01; done; exit 0");
	held_wait_exit(&h);
	pid_t child = atoi(strstr(h.text, "child") + 5);
	cr_assert(held_is_alive(child));
}

Test(holder_exit, holder_exits_when_its_ttl_is_over)
{
	const char *const argv[] = {"bash", "-c", "exit 0", NULL};
	held_start_with(&h, &(struct spawn_options){.ttl_s = 1}, argv);
	held_wait_exit(&h);
	cr_assert(LOOP_UNTIL(&h.loop, h.lost));
	cr_assert(LOOP_UNTIL(&h.loop, !held_is_alive(h.holder)));
	cr_assert_eq(faccessat(h.folder.fd, WIRE_SOCKET, F_OK, 0), -1);
	cr_assert_eq(h.link.ring.header->exited, 1, "the history is still mapped");
}

static void run_again(const char *script)
{
	const char *const argv[] = {"bash", "--norc", "-c", script, NULL};
	held_start_with(&h, &(struct spawn_options){.respawn = true}, argv);
}

/* The n-th new shell. */
static struct event_shell shell_event(size_t n)
{
	struct event_shell shell;
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_SHELL, n) != NULL), "%s", h.text);
	const struct event *e = held_event(&h, EVENT_SHELL, n);
	cr_assert_eq(e->header.length, sizeof shell);
	memcpy(&shell, e->payload, sizeof shell);
	return shell;
}

Test(holder_respawn, new_shell_gets_the_same_terminal)
{
	run_again("echo shell$$ $(tty) $(ps -o tpgid=,sid= $$); read x; exit 7");
	pid_t first = h.link.info.shell_pid;
	held_expect(&h, "shell");
	held_type(&h, "\n");
	struct event_shell shell = shell_event(0);
	cr_assert(WIFEXITED(shell.status) && WEXITSTATUS(shell.status) == 7);
	cr_assert_neq(shell.pid, first);
	cr_assert_eq(atomic_load(&h.link.ring.header->shell_pid), shell.pid);
	cr_assert_eq(h.link.info.shell_pid, first, "until it is followed");
	link_update_shell_pid(&h.link);
	cr_assert_eq(h.link.info.shell_pid, shell.pid);
	/* The first shell's output is before the event, the second shell's after it. */
	uint64_t offset = held_event(&h, EVENT_SHELL, 0)->header.offset;
	char wanted[40];
	snprintf(wanted, sizeof wanted, "shell%d", shell.pid);
	held_expect(&h, wanted);
	cr_assert_eq((uint64_t)(strstr(h.text, wanted) - h.text), offset);
	const char *old = strchr(h.text, ' '), *new = strchr(h.text + offset, ' ');
	cr_assert_eq(strncmp(old, new, strcspn(old + 1, " ") + 1), 0, "%s", h.text);
	held_expect(&h, "\n");
	int tpgid, sid;
	cr_assert_eq(sscanf(strchr(new + 1, ' '), "%d %d", &tpgid, &sid), 2, "%s", new);
	cr_assert_eq(tpgid, shell.pid);
	cr_assert_eq(sid, shell.pid);
	cr_assert_eq(atomic_load(&h.link.ring.header->exited), 0);
}

Test(holder_respawn, terminal_modes_are_reset_and_its_size_is_kept)
{
	run_again(
		"stty size; stty -a | grep -o -w -e -icanon -e icanon; stty raw; echo end; read x; kill -9 $$");
	held_expect(&h, "icanon\r\nend");
	cr_assert_eq(link_resize(&h.link, 33, 99), 0);
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_RESIZE, 0) != NULL));
	held_type(&h, "\nthis is not for the next one\n");
	int status = shell_event(0).status;
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	held_expect(&h, "33 99\r\nicanon\r\nend");
	cr_assert_null(
		held_event(&h, EVENT_SHELL, 1), "the new shell has read input of the old one");
}

Test(holder_respawn, new_shell_starts_in_the_directory_of_the_last_record)
{
	run_again(
		"pwd; f=$PWD; [ $f = /usr ] && { echo here; read x; }; cd /usr; echo 1 >/proc/$PPID/fd/7; read x; exit 0");
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_FIFO, 0) != NULL));
	held_type(&h, "\n");
	shell_event(0);
	held_expect(&h, "/usr\r\nhere");
}

Test(holder_respawn, shells_that_end_at_once_restart_after_growing_pauses_then_no_more)
{
	long long before = until_now_ms();
	run_again("echo once; exit 3");
	held_wait_exit(&h);
	cr_assert_str_eq(h.text, "once\r\nonce\r\nonce\r\nonce\r\nonce\r\nonce\r\n");
	cr_assert_not_null(held_event(&h, EVENT_SHELL, 4));
	cr_assert_null(held_event(&h, EVENT_SHELL, 5));
	cr_assert_geq(until_now_ms() - before, 1500);
	cr_assert_eq(WEXITSTATUS(h.link.ring.header->exit_status), 3);
}

Test(holder_respawn, session_exits_when_the_shell_cannot_be_started_again)
{
	char path[300];
	held_init(&h);
	folder_put(&h.folder, "shell", "#!/bin/bash\necho begun; read x; exit 5\n");
	cr_assert_eq(fchmodat(h.folder.fd, "shell", 0700, 0), 0);
	snprintf(path, sizeof path, "%s/shell", h.folder.path);
	const char *const argv[] = {path, NULL};
	cr_assert_eq(held_try(&h, &(struct spawn_options){.respawn = true}, argv), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.attached));
	h.holder = h.link.info.holder_pid;
	held_watch(&h);
	held_consume(&h);
	held_expect(&h, "begun"); /* bash has opened the script */
	unlinkat(h.folder.fd, "shell", 0);
	held_type(&h, "\n");
	held_wait_exit(&h);
	cr_assert_eq(WEXITSTATUS(h.link.ring.header->exit_status), 5);
	cr_assert_null(held_event(&h, EVENT_SHELL, 0));
}

Test(holder_respawn, background_job_survives_the_shell_and_is_killed_with_the_session)
{
	run_again("[ -e child ] || { (trap '' HUP; echo $BASHPID >child; exec sleep 1000) & }; "
		  "until [ -s child ]; do sleep 0.01; done; echo child$(cat child); read x");
	held_expect(&h, "child");
	held_expect(&h, "\r\n");
	pid_t child = atoi(strstr(h.text, "child") + 5), shell = h.link.info.shell_pid;
	kill(shell, SIGKILL);
	shell = shell_event(0).pid;
	cr_assert(held_is_alive(child));
	end(100);
	cr_assert_not(held_is_alive(child));
	cr_assert_not(held_is_alive(shell));
	cr_assert_null(
		held_event(&h, EVENT_SHELL, 1), "no new one while the session is being ended");
}

static void expect_sequence(const char *at, int last)
{
	for (int i = 1; i <= last; i++) {
		char line[20];
		int n = snprintf(line, sizeof line, "%d\r\n", i);
		cr_assert_eq(strncmp(at, line, (size_t)n), 0, "line %d is %.20s", i, at);
		at += n;
	}
}

Test(holder_overrun, nothing_is_overwritten_while_the_server_consumes_nothing)
{
	const char *const argv[] = {"bash", "--norc", "-c", "seq 1 100000; exit 5", NULL};
	h = (struct held){0};
	held_start_with(&h, &(struct spawn_options){.ring_size = RING_SIZE_MIN}, argv);
	/* held_start_with() may have consumed a little; from now on nothing is consumed. */
	h.idle = true;
	const struct ring *ring = &h.link.ring;
	cr_assert(LOOP_UNTIL(&h.loop, atomic_load(&ring->header->blocked) == 1));
	for (int i = 0; i < 50; i++) {
		until_again(until_now_ms() + 1000);
		cr_assert_leq(stream_head(&ring->bytes) - h.tail, RING_SIZE_MIN);
		cr_assert_leq(stream_oldest(&ring->bytes), h.tail);
	}
	cr_assert(held_is_alive(h.link.info.shell_pid), "the shell is blocked in write(2)");
	cr_assert_eq(ring->header->exited, 0);
	h.idle = false;
	held_consume(&h);
	held_wait_exit(&h);
	expect_sequence(h.text, 100000);
	cr_assert_eq(WEXITSTATUS(ring->header->exit_status), 5);
}

Test(holder_overrun, input_and_signals_work_while_the_output_is_blocked)
{
	run_until_blocked("trap 'touch got' USR1; while :; do echo xxxxxxxxxxxx; done");
	cr_assert_eq(link_signal(&h.link, SIGUSR1, WIRE_TARGET_SHELL), 0);
	h.idle = false;
	held_consume(&h);
	cr_assert(LOOP_UNTIL(&h.loop, faccessat(h.folder.fd, "got", F_OK, 0) == 0));
}

/* Size of all FIFO records in bytes. */
static size_t record_bytes(void)
{
	size_t bytes = 0;
	for (size_t i = 0; i < h.events_count; i++)
		if (h.events[i].header.type == EVENT_FIFO)
			bytes += h.events[i].header.length;
	return bytes;
}

Test(holder_overrun, events_are_not_overwritten_either)
{
	held_run(&h,
		"exec 3>f; for i in {1..3000}; do printf '%0300d\\n' $i >&3; done; echo all''done; read x");
	h.idle = true;
	cr_assert(LOOP_UNTIL(&h.loop, atomic_load(&h.link.ring.header->blocked) == 1));
	cr_assert_leq(stream_oldest(&h.link.ring.events), h.events_tail);
	h.idle = false;
	held_consume(&h);
	held_expect(&h, "alldone\r\n");
	cr_assert(LOOP_UNTIL(&h.loop, record_bytes() == 3000 * 301), "%zu bytes of records",
		record_bytes());
}

Test(holder_overrun, resize_while_the_output_is_blocked_is_kept)
{
	run_until_blocked("while :; do echo xxxxxxxxxxxx; done");
	cr_assert_eq(link_resize(&h.link, 33, 133), 0);
	for (int i = 0; i < 20; i++) {
		uv_run(&h.loop, UV_RUN_NOWAIT);
		until_again(until_now_ms() + 1000);
	}
	h.idle = false;
	held_consume(&h);
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_RESIZE, 0) != NULL),
		"the terminal keeps its old size");
}

/* A connection besides the link's. */
static int connect_holder(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = 15};
	snprintf(address.sun_path, sizeof address.sun_path, "%.90s/" WIRE_SOCKET, h.folder.path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return fd;
}

static void send_message(int fd, enum wire_type type, uint32_t a, uint32_t b)
{
	struct wire_message m = {.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.type = (uint16_t)type,
		.serial = 77,
		.a = a,
		.b = b};
	cr_assert_eq(send(fd, &m, sizeof m, MSG_NOSIGNAL), (ssize_t)sizeof m);
}

/* Receive a message, and close the descriptors that came with it. */
static struct wire_message receive_message(int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(32 * sizeof(int))];
	struct wire_message m = {0};
	struct iovec data = {.iov_base = &m, .iov_len = sizeof m};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	cr_assert_eq(recvmsg(fd, &message, MSG_CMSG_CLOEXEC), (ssize_t)sizeof m);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		int fds[32];
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), count * sizeof(int));
		for (size_t i = 0; i < count; i++)
			close(fds[i]);
	}
	cr_assert_eq(m.magic, WIRE_MAGIC);
	return m;
}

static struct wire_message call(int fd, enum wire_type type, uint32_t a, uint32_t b)
{
	send_message(fd, type, a, b);
	struct wire_message m = receive_message(fd);
	cr_assert_eq(m.type, type);
	cr_assert_eq(m.serial, 77);
	return m;
}

static void attach(int fd)
{
	send_message(fd, WIRE_ATTACH, 0, 0);
	receive_message(fd);
}

static void end_by(int fd)
{
	cr_assert_eq(call(fd, WIRE_END, 0, 0).status, 0);
	h.ended = true;
}

static void expect_closed(int fd)
{
	char byte;
	cr_assert_eq(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

static void expect_still_attached(void)
{
	held_type(&h, "echo still''ours\n");
	held_expect(&h, "stillours\r\n");
	cr_assert_not(h.lost);
}

Test(holder_wire, hello_does_not_take_over)
{
	held_start(&h);
	int fd = connect_holder();
	struct wire_message m = call(fd, WIRE_HELLO, 0, 0);
	cr_assert_eq(m.status, 0);
	cr_assert_eq(m.u.info.epoch, h.link.info.epoch);
	cr_assert_eq(m.u.info.holder_pid, h.holder);
	cr_assert_eq(m.u.info.shell_pid, h.link.info.shell_pid);
	cr_assert_eq(link_resize(&h.link, 30, 90), 0);
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_RESIZE, 0) != NULL));
	expect_still_attached();
	close(fd);
}

Test(holder_wire, owner_may_attach_again)
{
	held_run(&h, "read x");
	int fd = connect_holder();
	attach(fd);
	send_message(fd, WIRE_ATTACH, 0, 0);
	struct wire_message m = receive_message(fd);
	cr_assert_eq(m.type, WIRE_ATTACH, "not WIRE_TAKEN");
	end_by(fd);
	close(fd);
}

Test(holder_wire, end_of_a_second_owner_is_answered)
{
	held_run(&h, "trap '' HUP; echo set''up; while :; do sleep 1; done");
	held_expect(&h, "setup");
	int first = connect_holder(), second = connect_holder();
	attach(first);
	send_message(first, WIRE_END, 60000, 0);
	attach(second);
	struct wire_message m = call(second, WIRE_END, 0, 0);
	cr_assert_eq(m.type, WIRE_END);
	cr_assert_eq(m.status, 0);
	h.ended = true;
	close(first);
	close(second);
}

Test(holder_wire, only_the_attached_connection_may_change_anything)
{
	held_start(&h);
	int fd = connect_holder();
	cr_assert_eq(call(fd, WIRE_RESIZE, 30, 90).status, -EPERM);
	cr_assert_eq(call(fd, WIRE_SIGNAL, SIGKILL, WIRE_TARGET_SHELL).status, -EPERM);
	cr_assert_eq(call(fd, WIRE_STDERR_PTY, 1, 0).status, -EPERM);
	cr_assert_eq(call(fd, WIRE_END, 0, 0).status, -EPERM);
	expect_still_attached();
	close(fd);
}

Test(holder_wire, unknown_types_are_answered)
{
	held_start(&h);
	int fd = connect_holder();
	attach(fd);
	cr_assert_eq(call(fd, (enum wire_type)0, 0, 0).status, -EOPNOTSUPP);
	cr_assert_eq(call(fd, (enum wire_type)1000, 0, 0).status, -EOPNOTSUPP);
	cr_assert_eq(call(fd, WIRE_SIGNAL, 9999, WIRE_TARGET_SHELL).status, -EINVAL);
	cr_assert_eq(call(fd, WIRE_RESIZE, 0, 0).status, -EINVAL);
	end_by(fd);
	close(fd);
}

Test(holder_wire, invalid_messages_close_the_connection)
{
	struct wire_message m = {.magic = WIRE_MAGIC ^ 1, .type = WIRE_HELLO};
	held_start(&h);
	int fd = connect_holder();
	cr_assert_eq(send(fd, &m, sizeof m, 0), (ssize_t)sizeof m);
	expect_closed(fd);
	m.magic = WIRE_MAGIC;
	fd = connect_holder();
	cr_assert_eq(send(fd, &m, sizeof m - 1, 0), (ssize_t)sizeof m - 1);
	expect_closed(fd);
	fd = connect_holder();
	cr_assert_eq(send(fd, "x", 1, 0), 1);
	expect_closed(fd);
	expect_still_attached();
}

Test(holder_wire, longer_message_of_a_newer_server_is_accepted)
{
	struct {
		struct wire_message m;
		char more[100];
	} message = {.m = {.magic = WIRE_MAGIC,
			     .version = WIRE_VERSION + 1,
			     .type = WIRE_HELLO,
			     .serial = 3}};
	held_start(&h);
	int fd = connect_holder();
	cr_assert_eq(send(fd, &message, sizeof message, 0), (ssize_t)sizeof message);
	struct wire_message m = receive_message(fd);
	cr_assert(m.type == WIRE_HELLO && m.serial == 3 && m.version == WIRE_VERSION);
	close(fd);
}

Test(holder_wire, connections_beyond_the_limit_are_refused)
{
	int fds[20];
	char byte;
	unsigned refused = 0;
	held_start(&h);
	for (int i = 0; i < 20; i++) {
		fds[i] = connect_holder();
		struct wire_message m = {.magic = WIRE_MAGIC, .type = WIRE_HELLO};
		(void)!send(fds[i], &m, sizeof m, MSG_NOSIGNAL);
		refused += recv(fds[i], &byte, 1, 0) <= 0;
	}
	cr_assert_gt(refused, 0);
	for (int i = 0; i < 20; i++)
		close(fds[i]);
	expect_still_attached();
	int fd = connect_holder();
	cr_assert_eq(call(fd, WIRE_HELLO, 0, 0).status, 0);
	close(fd);
}

Test(holder_wire, message_with_descriptors_closes_the_connection)
{
	struct wire_message m = {.magic = WIRE_MAGIC, .version = WIRE_VERSION, .type = WIRE_HELLO};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec data = {.iov_base = &m, .iov_len = sizeof m};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	held_start(&h);
	int fd = connect_holder();
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	cr_assert_eq(sendmsg(fd, &message, MSG_NOSIGNAL), (ssize_t)sizeof m);
	expect_closed(fd);
	expect_still_attached();
}

Test(holder_wire, second_terminal_for_standard_error)
{
	const struct event *e;
	uint32_t label;
	held_run(&h,
		"read name; echo got $name; [ -t 3 ] 3>$name && echo is''tty; printf 'e1\\ne2\\n' >$name; echo 1 >f; read x");
	held_close_link(&h);
	h.closed = h.attached = false;
	/* By hand: the link does not send this request itself. */
	int fd = connect_holder();
	attach(fd);
	cr_assert_eq(call(fd, WIRE_STDERR_PTY, 0, 0).status, -ENOENT);
	struct wire_message m = call(fd, WIRE_STDERR_PTY, 1, 0);
	cr_assert_eq(m.status, 0);
	cr_assert_eq(strncmp(m.u.text, "/dev/pts/", 9), 0);
	cr_assert_eq(call(fd, WIRE_STDERR_PTY, 1, 0).status, -EBUSY);
	cr_assert_eq(link_init(&h.link, &h.loop, dup(h.folder.fd), &held_callbacks, &h), 0);
	cr_assert_eq(link_adopt(&h.link), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.attached));
	held_consume(&h);
	held_type(&h, m.u.text);
	held_type(&h, "\n");
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_FIFO, 0) != NULL));
	cr_assert_not_null(strstr(h.text, "istty\r\n"), "%s", h.text);
	cr_assert_str_eq(text_of(EVENT_SOURCE_STDERR_PTY), "e1\r\ne2\r\n");
	e = held_event(&h, EVENT_SOURCE, 0);
	memcpy(&label, e->payload, sizeof label);
	cr_assert_eq(label, EVENT_SOURCE_STDERR_PTY);
	close(fd);
}

Test(holder_wire, second_terminal_can_be_opened_again_and_again)
{
	held_run(&h, "read x");
	int fd = connect_holder();
	attach(fd);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(call(fd, WIRE_STDERR_PTY, 1, 0).status, 0);
		cr_assert_eq(call(fd, WIRE_STDERR_PTY, 0, 0).status, 0);
	}
	end_by(fd);
	close(fd);
}

/* Pids that a script has printed as "pid1=PID." and so on. */
static void read_pids(pid_t *pids, int count)
{
	for (int i = 0; i < count; i++) {
		char mark[10];
		snprintf(mark, sizeof mark, "pid%d=", i + 1);
		held_expect(&h, mark);
		cr_assert(LOOP_UNTIL(&h.loop, strchr(strstr(h.text, mark), '.') != NULL));
		pids[i] = atoi(strstr(h.text, mark) + 5);
		cr_assert(held_is_alive(pids[i]));
	}
}

static const char daemons[] =
	"sleep 1000 & echo pid1=$!.; (setsid sh -c 'trap \"\" HUP TERM INT; echo pid2=$$.; sleep 1000; :' &);\n"
	"(setsid sh -c '(setsid sh -c \"echo pid3=\\$\\$.; exec sleep 1000\" &)' &);\n"
	"trap '' HUP TERM; echo pid4=$$.; while :; do sleep 1; done";

Test(holder_end, the_whole_tree_is_killed_with_its_daemons)
{
	pid_t pids[4];
	held_run(&h, daemons);
	read_pids(pids, 4);
	end(50);
	for (int i = 0; i < 4; i++)
		cr_assert_not(held_is_alive(pids[i]), "process %d lives", i + 1);
	cr_assert(LOOP_UNTIL(&h.loop, !held_is_alive(h.holder)));
	cr_assert_eq(faccessat(h.folder.fd, WIRE_SOCKET, F_OK, 0), -1);
}

Test(holder_end, processes_that_exit_on_hangup_are_not_killed)
{
	held_run(&h,
		"trap 'sleep 0.05; touch cleaned; exit' HUP; echo go; while :; do sleep 0.01; done");
	held_expect(&h, "go\r\n");
	end(10000);
	cr_assert_eq(faccessat(h.folder.fd, "cleaned", F_OK, 0), 0);
}

Test(holder_end, stopped_processes_are_killed)
{
	held_run(&h, "sleep 1000 & kill -STOP $!; echo pid=$!.; kill -STOP $$");
	held_expect(&h, ".\r\n");
	pid_t child = atoi(strstr(h.text, "pid=") + 4);
	end(50);
	cr_assert_not(held_is_alive(child));
}

Test(holder_end, processes_that_fork_without_end_are_killed)
{
	held_run(&h,
		"trap '' HUP TERM; f() { (trap '' HUP; sleep 0.01; f) & }; for i in 1 2 3 4; do f; done; echo go; wait; sleep 1000");
	held_expect(&h, "go\r\n");
	end(50);
}

Test(holder_end, works_while_the_ring_is_full)
{
	run_until_blocked("trap '' HUP; while :; do echo xxxxxxxxxxxx; done");
	end(50);
}

Test(holder_end, works_after_the_shell_has_ended)
{
	held_run(&h, "exit 0");
	held_wait_exit(&h);
	end(50);
	cr_assert(LOOP_UNTIL(&h.loop, !held_is_alive(h.holder)));
}

Test(holder_signals, only_sigkill_terminates_the_holder)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGCHLD};
	held_start(&h);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		cr_assert_eq(kill(h.holder, signals[i]), 0);
	expect_still_attached();
}

Test(holder_signals, holder_inherits_nothing_from_its_starter)
{
	char path[64], target[300];
	held_start(&h);
	for (int fd = 0; fd < 3; fd++) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", h.holder, fd);
		ssize_t n = readlink(path, target, sizeof target - 1);
		cr_assert_gt(n, 0);
		target[n] = '\0';
		cr_assert_str_eq(target, "/dev/null");
	}
	snprintf(path, sizeof path, "/proc/%d/cwd", h.holder);
	ssize_t n = readlink(path, target, sizeof target - 1);
	cr_assert_eq(n, 1, "the holder's directory is not /");
	cr_assert_eq(getsid(h.holder), h.holder);
}

Test(holder_signals, idle_holder_uses_no_cpu_time)
{
	char path[64], text[2000];
	long long before = 0, after = 0;
	held_run(&h, "sleep 1000");
	snprintf(path, sizeof path, "/proc/%d/status", h.holder);
	for (int round = 0; round < 2; round++) {
		FILE *f = fopen(path, "r");
		size_t length = fread(text, 1, sizeof text - 1, f);
		text[length] = '\0';
		fclose(f);
		before = after;
		after = atoll(strstr(text, "\nvoluntary_ctxt_switches:") + 25);
		for (int i = 0; round == 0 && i < 100; i++)
			until_again(until_now_ms() + 1000);
	}
	cr_assert_leq(after - before, 5, "%lld wake-ups in 0.2 s", after - before);
}

static void expect_gone(const pid_t *pids, int count)
{
	for (int i = 0; i < count; i++)
		cr_assert(LOOP_UNTIL(&h.loop, !held_is_alive(pids[i])), "process %d lives", i + 1);
}

Test(holder_guard, kills_what_a_killed_holder_leaves)
{
	pid_t pids[4];
	held_run(&h, daemons);
	read_pids(pids, 4);
	kill(h.holder, SIGKILL);
	cr_assert(LOOP_UNTIL(&h.loop, h.lost));
	expect_gone(pids, 4);
	cr_assert(LOOP_UNTIL(&h.loop, faccessat(h.folder.fd, WIRE_SOCKET, F_OK, 0) < 0));
}

static pid_t parent_of(pid_t pid)
{
	char path[32], text[512];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "r");
	cr_assert_not_null(f);
	size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	return atoi(strrchr(text, ')') + 4);
}

Test(holder_guard, terminated_guard_kills_its_holder_too)
{
	pid_t pids[4], guard;
	held_run(&h, daemons);
	read_pids(pids, 4);
	guard = parent_of(h.holder);
	kill(h.holder, SIGSTOP);
	kill(guard, SIGTERM);
	expect_gone(pids, 4);
	cr_assert(LOOP_UNTIL(&h.loop, !held_is_alive(h.holder) && !held_is_alive(guard)));
}

Test(holder_guard, exits_after_its_holder)
{
	held_start(&h);
	pid_t guard = parent_of(h.holder);
	cr_assert_eq(link_end(&h.link, 50), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.ended && !held_is_alive(guard)));
}

/* bash behind a starter, without a sandbox. */
static void start_with_starter(bool respawn, const char *script)
{
	static char directory[300];
	held_init(&h);
	snprintf(directory, sizeof directory, "%s", h.folder.path);
	const char *const wrapper[] = {held_holder(), STARTER_OPTION, "--directory", directory,
		"--cwd", directory, respawn ? "--respawn" : "--", respawn ? "--" : NULL, NULL};
	const char *const argv[] = {"bash", "--norc", "-c", script, NULL};
	const struct spawn_options o = {
		.wrapper = (char *const *)(uintptr_t)wrapper, .respawn = respawn};
	cr_assert_eq(held_try(&h, &o, argv), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.attached || h.failed));
	if (h.failed)
		return;
	h.holder = h.link.info.holder_pid;
	held_watch(&h);
	held_consume(&h);
}

Test(holder_starter, shell_has_its_terminal_pid_and_status)
{
	start_with_starter(false,
		"tty; ps -o stat= -p $$ | grep -c '[s].*+'; echo pid1=$$.; read x; echo got $x >/proc/$PPID/fd/7; kill -USR1 $$");
	pid_t shell;
	held_expect(&h, "/dev/pts/");
	read_pids(&shell, 1);
	cr_assert_eq(h.link.info.shell_pid, shell);
	held_type(&h, "it\n");
	held_wait_exit(&h);
	cr_assert_eq(held_event(&h, EVENT_FIFO, 0)->header.length, strlen("got it\n"));
	struct ring_exit exit;
	cr_assert(ring_exited(&h.link.ring, &exit));
	cr_assert(WIFSIGNALED(exit.status) && WTERMSIG(exit.status) == SIGUSR1);
	const struct event_header *header = &held_event(&h, EVENT_EXIT, 0)->header;
	cr_expect_leq(exit.boot_ms, header->boot_ns / 1000000);
	cr_expect_lt(header->boot_ns / 1000000 - exit.boot_ms, 60000);
}

static void expect_failure(const char *const *wrapper, const char *shell, enum report_stage stage)
{
	const char *const argv[] = {shell, NULL};
	const struct spawn_options o = {.wrapper = (char *const *)(uintptr_t)wrapper};
	cr_assert_eq(held_try(&h, &o, argv), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.attached || h.failed));
	cr_assert(h.failed);
	cr_assert_eq(h.stage, stage);
}

Test(holder_starter, shell_that_cannot_be_executed_is_reported)
{
	held_init(&h);
	const char *const wrapper[] = {held_holder(), STARTER_OPTION, "--directory", h.folder.path,
		"--cwd", "/", "--", NULL};
	expect_failure(wrapper, "/nonexistent/shell", REPORT_EXEC);
	cr_assert_eq(h.error, -ENOENT);
}

Test(holder_starter, starter_that_cannot_be_run_is_reported)
{
	held_init(&h);
	expect_failure((const char *const[]){"/bin/false", NULL}, "bash", REPORT_SETUP);
}

Test(holder_starter, new_shell_follows_in_the_last_directory)
{
	start_with_starter(true,
		"echo here$PWD; cd /usr; echo 1 >/proc/$PPID/fd/7; read x; sleep 1000 & exit $x");
	held_expect(&h, "here");
	/* The starter handles messages in their order: once the terminal is open, it has the directory. */
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_FIFO, 0) != NULL));
	cr_assert_eq(link_open_terminal(&h.link), 0);
	cr_assert(LOOP_UNTIL(&h.loop, h.terminal));
	held_type(&h, "3\n");
	held_expect(&h, "here/usr");
	/* The event may be read after the output that follows it. */
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_SHELL, 0) != NULL));
	struct event_shell e;
	memcpy(&e, held_event(&h, EVENT_SHELL, 0)->payload, sizeof e);
	cr_assert_eq(WEXITSTATUS(e.status), 3);
	cr_assert_eq(e.pid, atomic_load(&h.link.ring.header->shell_pid));
	held_type(&h, "4\n");
	cr_assert(LOOP_UNTIL(&h.loop, held_event(&h, EVENT_SHELL, 1) != NULL));
	end(50);
}

Test(holder_starter, killed_starter_ends_the_session)
{
	pid_t pids[4];
	start_with_starter(false, daemons);
	read_pids(pids, 4);
	kill(parent_of(pids[3]), SIGKILL);
	held_wait_exit(&h);
	end(50);
	expect_gone(pids, 4);
}
