/* ringside-holder: set-up and the loop. See holder.h. */
#include "pty/holder/holder.h"
#include "pty/holder/enter.h"
#include "pty/peeker.h"
#include "pty/runner.h"
#include "pty/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILL_PAUSE_MS 10u /* at first; doubles up to KILL_PAUSE_MAX_MS */
#define KILL_PAUSE_MAX_MS 160u
#define HANGUP_INTERVAL_MS 100 /* between reads of a hung-up terminal, as conmon does */

uint64_t holder_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int holder_move_fd_high(int fd)
{
	if (fd < 0)
		return fd;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HOLDER_FIRST_FREE_FD);
	int rc = high < 0 ? -errno : high;
	close(fd);
	return rc;
}

static bool parse_options(int argc, char **argv, struct holder_options *o)
{
	static const struct option names[] = {
		{"dir-fd", required_argument, NULL, 'd'},
		{"report-fd", required_argument, NULL, 'r'},
		{"rows", required_argument, NULL, 'R'},
		{"cols", required_argument, NULL, 'C'},
		{"ring-size", required_argument, NULL, 's'},
		{"control-size", required_argument, NULL, 'c'},
		{"ttl", required_argument, NULL, 't'},
		{"nofile", required_argument, NULL, 'n'},
		{"cwd", required_argument, NULL, 'w'},
		{"respawn", no_argument, NULL, 'a'},
		{"no-flow", no_argument, NULL, 'f'},
		{"starter", no_argument, NULL, 'i'},
		{"owner", required_argument, NULL, 'o'},
		{"filter-fd", required_argument, NULL, 'l'},
		{"group-fd", required_argument, NULL, 'g'},
		{"tasks", required_argument, NULL, 'T'},
		{"memory", required_argument, NULL, 'M'},
		{0},
	};
	int c;
	*o = (struct holder_options){.dir_fd = -1,
		.report_fd = -1,
		.rows = 24,
		.cols = 80,
		.ring_size = RING_SIZE_DEFAULT,
		.control_size = 4096,
		.owner = geteuid(),
		.filter_fd = -1,
		.limits = {.group_fd = -1},
		.cwd = "/"};
	while ((c = getopt_long(argc, argv, "+", names, NULL)) != -1) {
		unsigned long n = c == 'w' || !optarg ? 0 : strtoul(optarg, NULL, 10);
		switch (c) {
		case 'd':
			o->dir_fd = (int)n;
			break;
		case 'r':
			o->report_fd = (int)n;
			break;
		case 'R':
			o->rows = (unsigned)n;
			break;
		case 'C':
			o->cols = (unsigned)n;
			break;
		case 's':
			o->ring_size = n;
			break;
		case 'c':
			o->control_size = n;
			break;
		case 't':
			o->ttl_s = (unsigned)n;
			break;
		case 'n':
			o->nofile = (long)n;
			break;
		case 'w':
			o->cwd = optarg;
			break;
		case 'a':
			o->respawn = true;
			break;
		case 'f':
			o->no_flow = true;
			break;
		case 'i':
			o->starter = true;
			break;
		case 'o':
			o->owner = (uid_t)n;
			break;
		case 'l':
			o->filter_fd = (int)n;
			break;
		case 'g':
			o->limits.group_fd = (int)n;
			break;
		case 'T':
			o->limits.tasks = n;
			break;
		case 'M':
			o->limits.memory = n;
			break;
		default:
			return false;
		}
	}
	o->argv = argv + optind;
	return o->dir_fd >= 0 && o->report_fd >= 0 && o->argv[0] && o->control_size >= 4096;
}

/* Move fd to its fixed descriptor. Takes fd; a negative errno is returned. */
static int move_to_place(int fd, enum wire_fixed_fd place)
{
	if (fd < 0 || fd == (int)place)
		return fd;
	int rc = dup3(fd, (int)place, O_CLOEXEC);
	int error = -errno;
	close(fd);
	return rc < 0 ? error : rc;
}

static int open_memory(const char *name, enum wire_fixed_fd place)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	return move_to_place(fd < 0 ? -errno : fd, place);
}

/* Open a pipe again, both ways: it never reports end of file, and writers need no reader. */
static int reopen_pipe(int end)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", end);
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Make a FIFO without a name, which is opened through its descriptor: creating a file would take
 * longer than the rest of a holder's start. Returns the fixed descriptor or a negative errno.
 */
static int open_fifo(struct holder *h, enum wire_fixed_fd place)
{
	int ends[2], rc = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	if (h->options.starter)
		rc = h->starter_fifos[place - WIRE_FIXED_FD_FIFO] = holder_move_fd_high(
			reopen_pipe(ends[0]));
	if (rc >= 0)
		rc = reopen_pipe(ends[0]);
	close(ends[0]);
	close(ends[1]);
	return move_to_place(rc, place);
}

/* The shell's user must be able to open the fixed descriptors through /proc. */
static int change_owner_of_places(const struct holder_options *o)
{
	for (int fd = WIRE_FIXED_FD_SCRIPT; o->owner != geteuid() && fd <= WIRE_FIXED_FD_STDERR;
		fd++)
		if (fchown(fd, o->owner, (gid_t)-1) < 0)
			return -errno;
	return 0;
}

/* Open the fixed descriptors first, while their numbers are free. */
static int open_places(struct holder *h)
{
	int rc;
	if ((rc = open_memory("ringside-script", WIRE_FIXED_FD_SCRIPT)) < 0 ||
		(rc = open_memory("ringside-state", WIRE_FIXED_FD_STATE)) < 0 ||
		(rc = open_fifo(h, WIRE_FIXED_FD_FIFO)) < 0)
		return rc;
	h->fifo_fd = rc;
	if ((rc = open_fifo(h, WIRE_FIXED_FD_STDOUT)) < 0)
		return rc;
	h->sources[EVENT_SOURCE_STDOUT] = (struct source){.fd = rc, .add_cr = true};
	if ((rc = open_fifo(h, WIRE_FIXED_FD_STDERR)) < 0)
		return rc;
	h->sources[EVENT_SOURCE_STDERR] = (struct source){.fd = rc, .add_cr = true};
	return change_owner_of_places(&h->options);
}

static int open_signals(struct holder *h)
{
	const struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaction(SIGCHLD, &action, NULL);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	h->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (h->signal_fd < 0)
		return -errno;
	/* Only WIRE_END, the time to live and SIGKILL end a holder. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

/* On failure the process exits, so nothing is undone. */
static int set_up(struct holder *h, enum report_stage *ret_stage)
{
	struct ring_options ring = {
		.size = h->options.ring_size, .rows = h->options.rows, .cols = h->options.cols};
	int rc;
	*ret_stage = REPORT_SETUP;
	fcntl(h->options.dir_fd, F_SETFD, FD_CLOEXEC);
	fcntl(h->options.report_fd, F_SETFD, FD_CLOEXEC);
	if (h->options.filter_fd >= 0)
		fcntl(h->options.filter_fd, F_SETFD, FD_CLOEXEC);
	if (h->options.limits.group_fd >= 0)
		fcntl(h->options.limits.group_fd, F_SETFD, FD_CLOEXEC);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	feed_init(h);
	/* Another holder has the directory: fail before a shell is started. */
	if (faccessat(h->options.dir_fd, WIRE_SOCKET, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	if ((rc = open_places(h)) < 0)
		return rc;
	if ((rc = ring_create(&h->ring, &ring, &h->ring_fd)) < 0)
		return rc;
	if ((rc = control_create(&h->control, h->options.control_size, &h->control_fd)) < 0)
		return rc;
	h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->space_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->wake_fd < 0 || h->space_fd < 0)
		return -errno;
	if ((rc = open_signals(h)) < 0)
		return rc;
	h->shell_started_ms = holder_now_ms();
	if ((rc = terminal_start(h, ret_stage)) < 0)
		return rc;
	h->ring.header->shell_pid = h->shell;
	*ret_stage = REPORT_SETUP;
	return serve_open(h);
}

static void reap(struct holder *h)
{
	struct signalfd_siginfo ignored;
	int status;
	pid_t pid;
	while (read(h->signal_fd, &ignored, sizeof ignored) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		h->child_ended = true;
		if (h->options.starter || pid != h->shell)
			continue;
		close(h->shell_fd);
		h->shell_fd = -1;
		h->shell = 0;
		h->shell_ended = true;
		h->exit_status = status;
	}
	h->childless = pid < 0 && errno == ECHILD;
}

/*
 * A round of SIGKILL. When a child ends, its children become ours before we get SIGCHLD, so another
 * round follows at once. The pause is for other new processes, and for kernels that do not list
 * children.
 */
static void kill_step(struct holder *h, uint64_t now)
{
	bool soon = h->child_ended && h->kill_is_fast;
	h->child_ended = false;
	if (!soon && now < h->next_kill_ms)
		return;
	h->kill_is_fast = tree_kill();
	if (soon || h->kill_pause_ms == 0)
		h->kill_pause_ms = KILL_PAUSE_MS;
	else if (h->kill_pause_ms < KILL_PAUSE_MAX_MS)
		h->kill_pause_ms *= 2;
	h->next_kill_ms = holder_now_ms() + h->kill_pause_ms;
}

/* A step of WIRE_END: kill the session's processes. */
static void end_step(struct holder *h)
{
	uint64_t now = holder_now_ms();
	reap(h);
	if (!h->childless && now >= h->kill_at_ms)
		kill_step(h, now);
	if (!h->childless && now < h->give_up_at_ms)
		return;
	serve_answer_end(h, h->childless ? 0 : tree_signal(0));
	h->gone = true;
}

/* A terminal without an open slave always has POLLHUP set: it is read at intervals instead. */
static bool is_polled(const struct source *s)
{
	return s->fd >= 0 && !s->hung;
}

/* Time until the next step of WIRE_END; SIGCHLD wakes the loop earlier. */
static int end_timeout_ms(const struct holder *h)
{
	uint64_t now = holder_now_ms();
	uint64_t next = now < h->kill_at_ms ? h->kill_at_ms : h->next_kill_ms;
	if (next > h->give_up_at_ms)
		next = h->give_up_at_ms;
	return next > now ? (int)(next - now) : 0;
}

/* blocked: the ring is full; the server writes space_fd when that changes. */
static int timeout_ms(const struct holder *h, bool blocked)
{
	if (h->ending)
		return end_timeout_ms(h);
	if (h->restart_at_ms > 0 && !blocked) {
		uint64_t now = holder_now_ms();
		return h->restart_at_ms > now ? (int)(h->restart_at_ms - now) : 0;
	}
	if (!h->exited &&
		(h->sources[EVENT_SOURCE_TERMINAL].hung || h->sources[EVENT_SOURCE_STDERR_PTY].hung))
		return HANGUP_INTERVAL_MS;
	if (h->expire_at_ms == 0)
		return -1;
	uint64_t now = holder_now_ms();
	uint64_t left = h->expire_at_ms > now ? h->expire_at_ms - now : 0;
	return left > 60000 ? 60000 : (int)left;
}

static void run_once(struct holder *h)
{
	enum {
		SIGNALS,
		LISTEN,
		SPACE,
		STARTER,
		FIFO,
		SOURCES,
		CONNECTIONS = SOURCES + HOLDER_SOURCES,
		POLLS = CONNECTIONS + HOLDER_CONNECTIONS
	};
	struct pollfd p[POLLS];
	bool blocked = !h->exited && feed_is_blocked(h);
	bool draining = h->shell_ended && !h->exited && !blocked && !h->starting &&
		holder_now_ms() >= h->restart_at_ms;
	uint64_t count;
	for (int i = 0; i < POLLS; i++)
		p[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	p[SIGNALS].fd = h->signal_fd;
	p[LISTEN].fd = h->listen_fd;
	p[SPACE].fd = h->space_fd;
	p[STARTER].fd = h->starter_fd;
	if (!blocked && !h->exited && h->record_length == 0)
		p[FIFO].fd = h->fifo_fd;
	for (int i = 0; i < HOLDER_SOURCES && !blocked && !h->exited; i++)
		if (is_polled(&h->sources[i]))
			p[SOURCES + i].fd = h->sources[i].fd;
	for (int i = 0; i < HOLDER_CONNECTIONS; i++)
		p[CONNECTIONS + i].fd = h->connections[i];
	bool pending = draining || (!blocked && h->record_length > 0);
	if (poll(p, POLLS, pending ? 0 : timeout_ms(h, blocked)) < 0)
		return;
	if (p[SIGNALS].revents)
		reap(h);
	if (p[STARTER].revents)
		starter_client_receive(h);
	if (p[SPACE].revents)
		(void)!read(h->space_fd, &count, sizeof count);
	h->fifo_ready = p[FIFO].revents != 0;
	for (int i = 0; i < HOLDER_SOURCES; i++)
		h->sources[i].ready = p[SOURCES + i].revents != 0 || h->sources[i].hung;
	feed_run(h);
	for (int i = 0; i < HOLDER_CONNECTIONS; i++)
		if (p[CONNECTIONS + i].revents && h->connections[i] >= 0)
			serve_connection(h, i);
	if (p[LISTEN].revents)
		serve_accept(h);
	if (h->ending)
		end_step(h);
	else if (h->expire_at_ms > 0 && holder_now_ms() >= h->expire_at_ms)
		h->gone = true;
}

static void remove_files(const struct holder *h)
{
	unlinkat(h->options.dir_fd, WIRE_SOCKET, 0);
}

int main(int argc, char **argv)
{
	static struct holder h;
	struct report report = {0};
	enum report_stage stage;
	if (argc > 1 && strcmp(argv[1], SUPERVISE_OPTION) == 0)
		supervise(argv + 2);
	if (argc > 1 && strcmp(argv[1], ENTER_OPTION) == 0)
		enter(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], PEEKER_OPTION) == 0)
		peeker_run();
	if (argc > 1 && strcmp(argv[1], RUNNER_OPTION) == 0)
		runner_run(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], STARTER_OPTION) == 0)
		starter_run(argc - 1, argv + 1);
	if (!parse_options(argc, argv, &h.options)) {
		static const char text[] = "ringside-holder is started by ringside\n";
		(void)!write(2, text, sizeof text - 1);
		return 2;
	}
	setsid(); /* fails harmlessly if the server has done it already */
	h.shell_fd = h.starter_fd = -1;
	stage = REPORT_SETUP;
	report.error = guard_split(h.options.dir_fd, argv[0]);
	if (report.error == 0)
		report.error = set_up(&h, &stage);
	report.stage = report.error < 0 ? (int32_t)stage : REPORT_READY;
	if (report.error < 0)
		remove_files(&h);
	(void)!write(h.options.report_fd, &report, sizeof report); /* the server may have died */
	close(h.options.report_fd);
	if (report.error < 0)
		return 1;
	guard_detach();
	while (!h.gone)
		run_once(&h);
	remove_files(&h);
	return 0;
}
