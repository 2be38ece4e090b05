/*
 * See throwaway.h. A command that is too long for one argument (MAX_ARG_STRLEN) is passed to bash
 * as an inherited file and run by `eval`: parser, $0 and error messages are the same as for -c. The
 * first words of the file close its descriptor, so that the command's children do not inherit it.
 */
#include "pty/throwaway.h"
#include "pty/runner.h"
#include "pty/spawn.h"
#include "ring/cell_size.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define ARGUMENT_MAX ((size_t)128 << 10) /* MAX_ARG_STRLEN of Linux, with its NUL */
#define START_TIMEOUT_MS 10000           /* for the runner to start the command */
#define WORDS_MAX (SPAWN_WRAPPER_MAX + 24u)
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

static const char eval_script[] = "eval \"$(</proc/self/fd/3)\"";
static const char close_script[] = "exec 3<&-;";

/* Where a stream of the child goes. */
struct sink {
	int ours;      /* the end that the server reads */
	int theirs;    /* the end of a pipe, or -1 */
	char path[64]; /* of the slave, if it is a terminal */
};

/* What is opened for one command. */
struct plan {
	const struct throwaway_options *options;
	struct sink out, err;
	int input, script;  /* files, or -1 */
	int group;          /* cgroup.procs, or -1 */
	int reserve;        /* a descriptor reserved for the pidfd */
	int server, runner; /* ends of the socket between server and runner */
};

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Make a sealed memfd with the prefix and the bytes, positioned at its beginning. */
static int make_file(const char *name, const char *prefix, const void *bytes, size_t length)
{
	const struct {
		const char *bytes;
		size_t length;
	} parts[] = {{prefix, strlen(prefix)}, {bytes, length}};
	int rc = 0, fd = spawn_move_fd_high(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (fd < 0)
		return fd;
	for (size_t i = 0; i < sizeof parts / sizeof *parts && rc == 0; i++)
		for (size_t done = 0; done < parts[i].length && rc == 0;) {
			ssize_t n = write(fd, parts[i].bytes + done, parts[i].length - done);
			if (n < 0 && errno != EINTR)
				rc = -errno;
			done += n > 0 ? (size_t)n : 0;
		}
	if (rc == 0 &&
		(lseek(fd, 0, SEEK_SET) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE) < 0))
		rc = -errno;
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* Make output exact; a read of the terminal returns end of file at once. */
static int make_raw(int master, unsigned rows, unsigned cols)
{
	const struct winsize size = cell_size_window(rows, cols);
	struct termios t;
	if (tcgetattr(master, &t) < 0)
		return -errno;
	cfmakeraw(&t);
	t.c_cc[VMIN] = 0;
	t.c_cc[VTIME] = 0;
	t.c_iflag |= IUTF8;
	if (tcsetattr(master, TCSANOW, &t) < 0 || ioctl(master, TIOCSWINSZ, &size) < 0)
		return -errno;
	return 0;
}

static int open_terminal(const struct throwaway_options *o, struct sink *s)
{
	int rc;
	s->ours = spawn_move_fd_high(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (s->ours < 0)
		return s->ours;
	if (grantpt(s->ours) < 0 || unlockpt(s->ours) < 0)
		return -errno;
	rc = ptsname_r(s->ours, s->path, sizeof s->path);
	return rc != 0 ? -rc : make_raw(s->ours, o->rows, o->cols);
}

static int open_pipe(struct sink *s)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	s->ours = spawn_move_fd_high(fds[0]);
	s->theirs = spawn_move_fd_high(fds[1]);
	return s->ours < 0 ? s->ours : s->theirs < 0 ? s->theirs : 0;
}

static int open_sink(const struct throwaway_options *o, struct sink *s)
{
	int rc = o->terminals ? open_terminal(o, s) : open_pipe(s);
	if (rc == 0 && fcntl(s->ours, F_SETFL, O_NONBLOCK) < 0)
		rc = -errno;
	return rc;
}

static int change_owner(int fd, uid_t owner)
{
	return fchown(fd, owner, (gid_t)-1) < 0 ? -errno : 0;
}

static int change_owner_of_sink(const struct sink *s, uid_t owner)
{
	if (s->theirs >= 0)
		return change_owner(s->theirs, owner);
	int fd = ioctl(s->ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : change_owner(fd, owner);
	close_if(fd);
	return rc;
}

/* Allow the command's user to reopen its streams (/dev/stdout). */
static int change_owners(const struct plan *p)
{
	uid_t owner = p->options->owner;
	if (owner == 0 || owner == geteuid())
		return 0;
	int rc = change_owner_of_sink(&p->out, owner);
	if (rc == 0)
		rc = change_owner_of_sink(&p->err, owner);
	if (rc == 0 && p->input >= 0)
		rc = change_owner(p->input, owner);
	return rc;
}

static int open_socket(struct plan *p)
{
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	p->server = spawn_move_fd_high(fds[0]);
	p->runner = spawn_move_fd_high(fds[1]);
	return p->server < 0 ? p->server : p->runner < 0 ? p->runner : 0;
}

/* Open everything that may fail for lack of resources, before the child exists. */
static int prepare(struct plan *p)
{
	const struct throwaway_options *o = p->options;
	int rc = open_sink(o, &p->out);
	if (rc == 0)
		rc = open_sink(o, &p->err);
	if (rc == 0 && o->input_fd > 0) {
		p->input = fcntl(o->input_fd, F_DUPFD_CLOEXEC, SPAWN_FIRST_FREE_FD);
		rc = p->input < 0 ? -errno : 0;
	} else if (rc == 0 && o->input) {
		p->input = make_file("stdin", "", o->input, o->input_length);
		rc = p->input < 0 ? p->input : 0;
	}
	if (rc == 0 && (o->secret || o->command_length >= ARGUMENT_MAX)) {
		p->script = make_file("command", close_script, o->command, o->command_length);
		rc = p->script < 0 ? p->script : 0;
	}
	if (rc == 0)
		rc = change_owners(p);
	if (rc == 0 && o->group_fd > 0) {
		p->group = fcntl(o->group_fd, F_DUPFD_CLOEXEC, SPAWN_FIRST_FREE_FD);
		rc = p->group < 0 ? -errno : 0;
	}
	if (rc == 0)
		rc = open_socket(p);
	if (rc == 0) {
		p->reserve = spawn_move_fd_high(open("/dev/null", O_RDONLY | O_CLOEXEC));
		rc = p->reserve < 0 ? p->reserve : 0;
	}
	return rc;
}

/* Close what the child has inherited; if the start has failed, our ends too. */
static void release(struct plan *p, bool failed)
{
	close_if(p->out.theirs);
	close_if(p->err.theirs);
	close_if(p->input);
	close_if(p->script);
	close_if(p->group);
	close_if(p->reserve);
	close_if(p->runner);
	if (failed) {
		close_if(p->server);
		close_if(p->out.ours);
		close_if(p->err.ours);
	}
}

static int add_sink(posix_spawn_file_actions_t *actions, int fd, const struct sink *s)
{
	if (s->theirs >= 0)
		return posix_spawn_file_actions_adddup2(actions, s->theirs, fd);
	return posix_spawn_file_actions_addopen(actions, fd, s->path, O_RDWR | O_NOCTTY, 0);
}

static int fill_actions(posix_spawn_file_actions_t *actions, const void *user)
{
	const struct plan *p = user;
	bool script = p->script >= 0;
	int rc = p->input >= 0
		? posix_spawn_file_actions_adddup2(actions, p->input, STDIN_FILENO)
		: posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (rc == 0)
		rc = add_sink(actions, STDOUT_FILENO, &p->out);
	if (rc == 0)
		rc = add_sink(actions, STDERR_FILENO, &p->err);
	if (rc == 0 && script)
		rc = posix_spawn_file_actions_adddup2(actions, p->script, RUNNER_SCRIPT_FD);
	else if (rc == 0)
		rc = posix_spawn_file_actions_addclose(actions, RUNNER_SCRIPT_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, p->runner, RUNNER_SOCKET_FD);
	if (rc == 0)
		rc = spawn_add_fds(actions, RUNNER_SOCKET_FD + 1, p->options->filter_fd, p->group);
	return -rc;
}

/* Numbers of the command line, as text. */
struct numbers {
	char nofile[24], tasks[24], memory[24];
};

static char *word(const char *text)
{
	return (char *)(uintptr_t)text; /* posix_spawn does not write to it */
}

static size_t put_number(char **words, const char *option, char *text, size_t size, uint64_t number)
{
	if (number == 0)
		return 0;
	snprintf(text, size, "%llu", (unsigned long long)number);
	words[0] = word(option);
	words[1] = text;
	return 2;
}

/* Build the command line of the runner, which points into *n. Returns 0 or -E2BIG. */
static int put_words(const struct plan *p, struct numbers *n, char *words[WORDS_MAX])
{
	const struct throwaway_options *o = p->options;
	size_t k = 0;
	words[k++] = word("ringside-holder");
	words[k++] = word(RUNNER_OPTION);
	k += put_number(words + k, "--nofile", n->nofile, sizeof n->nofile, (uint64_t)o->nofile);
	k += put_number(words + k, "--tasks", n->tasks, sizeof n->tasks, o->tasks);
	k += put_number(words + k, "--memory", n->memory, sizeof n->memory, o->memory);
	if (p->group >= 0) {
		words[k++] = word("--group");
		words[k++] = word(TEXT(SPAWN_GROUP_FD));
	}
	if (o->spares)
		words[k++] = word("--spare");
	if (o->filter_fd > 0)
		words[k++] = word("--watched");
	if (!o->wrapper) {
		const char *const rest[] = {"--cwd", o->cwd, "--show", "--program", o->bash};
		for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
			words[k++] = word(rest[i]);
	}
	words[k++] = word("--");
	int wrapped = spawn_wrap(words + k, o->wrapper);
	if (wrapped < 0)
		return wrapped;
	k += (size_t)wrapped;
	if (wrapped == 0)
		words[k++] = word("bash");
	words[k++] = word("-c");
	words[k++] = word(p->script >= 0 ? eval_script : o->command);
	words[k] = NULL;
	return 0;
}

static int spawn_runner(const struct plan *p, pid_t *ret_pid)
{
	const struct throwaway_options *o = p->options;
	struct numbers numbers;
	char *words[WORDS_MAX];
	int rc = put_words(p, &numbers, words);
	return rc < 0 ? rc : spawn_program(o->holder, words, o->envp, fill_actions, p, ret_pid);
}

/* Open a pidfd in place of the reserved descriptor. */
static int open_pidfd(struct plan *p, pid_t pid)
{
	close(p->reserve);
	p->reserve = -1;
	int fd = pidfd_open(pid, PIDFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Receive the runner's first message. Returns the pid of the command, or a negative errno. */
static pid_t receive_start(int socket_fd)
{
	struct pollfd p = {.fd = socket_fd, .events = POLLIN};
	struct runner_message m;
	int n;
	do
		n = poll(&p, 1, START_TIMEOUT_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ETIMEDOUT;
	if (recv(socket_fd, &m, sizeof m, 0) != sizeof m)
		return -ECHILD;
	if (m.type == RUNNER_STARTED && m.value > 0)
		return m.value;
	return m.type == RUNNER_FAILED && m.value < 0 ? m.value : -EPROTO;
}

/* Kill and reap a runner that has no command or cannot be watched. Returns error. */
static int kill_runner(struct plan *p, pid_t pid, int error)
{
	close(p->server);
	p->server = -1;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return error;
}

int throwaway_start(const struct throwaway_options *o, struct throwaway *ret)
{
	struct plan p = {.options = o,
		.out = {.ours = -1, .theirs = -1},
		.err = {.ours = -1, .theirs = -1},
		.input = -1,
		.script = -1,
		.group = -1,
		.reserve = -1,
		.server = -1,
		.runner = -1};
	pid_t pid = 0, command = 0;
	int pidfd = -1;
	int rc = prepare(&p);
	if (rc == 0)
		rc = spawn_runner(&p, &pid);
	bool started = rc == 0;
	if (started) {
		close(p.runner); /* so that recv() returns when the runner ends */
		p.runner = -1;
		command = receive_start(p.server);
		pidfd = command < 0 ? command : open_pidfd(&p, pid);
		rc = pidfd < 0 ? kill_runner(&p, pid, pidfd) : 0;
	}
	release(&p, rc < 0);
	if (rc == 0)
		*ret = (struct throwaway){.pid = command,
			.runner = pid,
			.pidfd = pidfd,
			.socket_fd = p.server,
			.out = p.out.ours,
			.err = p.err.ours};
	return rc;
}
