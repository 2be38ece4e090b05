/*
 * See pty/supervise.h. The supervisor is a subreaper, so background processes of the command become
 * its children and waitpid(2) reports the last end. It keeps the unused terminal open: otherwise
 * the master would be hung up all the time.
 */
#include "pty/supervise.h"

#include "pty/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct supervisor {
	pid_t holder, command;
	int in, out, err, record;
	int input_writer; /* keeps the FIFO of standard input open for writing, or -1 */
	int status;       /* of the command */
	bool ended;
};

static _Noreturn void give_up(const char *what)
{
	dprintf(STDERR_FILENO, "ringside: %s: %s\n", what, strerror(errno));
	_exit(SUPERVISE_EXIT_SETUP);
}

static int open_place(const struct supervisor *s, int place, int flags)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)s->holder, place);
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		give_up(path);
	return fd;
}

/* Open both ends of the FIFO, so that open(2) does not block. */
static void open_input(struct supervisor *s, int dir)
{
	s->in = openat(dir, SUPERVISE_STDIN, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (s->in >= 0)
		s->input_writer = openat(dir, SUPERVISE_STDIN, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (s->input_writer < 0 || fcntl(s->in, F_SETFL, 0) < 0)
		give_up("cannot open standard input");
}

static void open_all(struct supervisor *s, bool input)
{
	/* The command's script expects the directory at this number. */
	int dir = open_place(s, SUPERVISE_DIRECTORY_FD, O_PATH | O_DIRECTORY);
	if (dir != SUPERVISE_DIRECTORY_FD && dup3(dir, SUPERVISE_DIRECTORY_FD, O_CLOEXEC) < 0)
		give_up("cannot open directory");
	s->out = open_place(s, WIRE_FIXED_FD_STDOUT, O_WRONLY);
	s->err = open_place(s, WIRE_FIXED_FD_STDERR, O_WRONLY);
	s->record = open_place(s, WIRE_FIXED_FD_FIFO, O_WRONLY);
	s->input_writer = -1;
	if (input)
		open_input(s, SUPERVISE_DIRECTORY_FD);
	else
		s->in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (s->in < 0)
		give_up("/dev/null");
}

static _Noreturn void run(const struct supervisor *s, char **argv)
{
	sigset_t none;
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGHUP); /* without the supervisor its output is lost */
	if (dup2(s->in, 0) < 0 || dup2(s->out, 1) < 0 || dup2(s->err, 2) < 0)
		_exit(SUPERVISE_EXIT_SETUP);
	close_range(3, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "ringside: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* One write is one record. Blocks while the FIFO is full. */
static void write_record(const struct supervisor *s, char what, int number)
{
	char text[32];
	int length = snprintf(text, sizeof text, "%c %d\n", what, number);
	while (write(s->record, text, (size_t)length) < 0 && errno == EINTR)
		;
}

static void close_input(struct supervisor *s)
{
	if (s->input_writer >= 0)
		close(s->input_writer);
	s->input_writer = -1;
}

/* Exit with the command's status, for the holder's exit event. */
static _Noreturn void exit_as_command(const struct supervisor *s)
{
	sigset_t none;
	if (WIFEXITED(s->status))
		_exit(WEXITSTATUS(s->status));
	prctl(PR_SET_DUMPABLE, 0); /* the command has dumped core already */
	signal(WTERMSIG(s->status), SIG_DFL);
	raise(WTERMSIG(s->status));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(128 + WTERMSIG(s->status));
}

static void reap(struct supervisor *s)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != s->command)
			continue;
		s->status = status;
		s->ended = true;
		close_input(s);
		write_record(s, 'x', status);
	}
	if (pid < 0 && errno == ECHILD)
		exit_as_command(s);
}

static _Noreturn void watch(struct supervisor *s)
{
	sigset_t awaited;
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGUSR1);
	sigaddset(&awaited, SIGHUP);
	for (;;) {
		int signo = sigwaitinfo(&awaited, NULL);
		if (signo == SIGCHLD)
			reap(s);
		else if (signo == SIGUSR1)
			close_input(s);
		else if (signo == SIGHUP && getppid() != s->holder)
			_exit(128 + SIGHUP); /* the holder has died; output is lost */
	}
}

void supervise(char **argv)
{
	struct supervisor s = {.holder = getppid()};
	sigset_t all;
	if (!argv[0] || !argv[1])
		_exit(2);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "ringside-watch");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		give_up("cannot become subreaper");
	open_all(&s, strcmp(argv[0], "pipe") == 0);
	s.command = fork();
	if (s.command == 0)
		run(&s, argv + 1);
	if (s.command < 0) {
		dprintf(s.err, "ringside: fork: %s\n", strerror(errno));
		_exit(SUPERVISE_EXIT_SETUP);
	}
	close(s.in);
	close(s.out);
	close(s.err);
	write_record(&s, 'p', (int)s.command);
	watch(&s);
}
