/*
 * See throwaway.h. A command that is longer than one argument may be (MAX_ARG_STRLEN) comes to bash as an
 * inherited file, which it evals: the same parser, $0 and error messages as for -c. The file's own first
 * words close it, so the command's children do not get it.
 *
 * posix_spawn cannot set limits. prlimit(2) on the child comes too late when we are preempted, and ulimit
 * in bash would be a change of the command; so our own soft limit of descriptors is lowered until the child
 * has its copy. The descriptors that we have are not touched by that, and this thread opens none meanwhile;
 * another one could be refused a descriptor above that limit for the moment that it takes.
 */
#include "pty/throwaway.h"
#include "pty/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define ARGUMENT_MAX ((size_t)128 << 10) /* MAX_ARG_STRLEN of Linux, with its NUL */
#define SCRIPT_FD 3
#define FIRST_FREE_FD 16 /* our own copies lie above, so that dup2 in the child overwrites none */

static const char eval_script[] = "eval \"$(</proc/self/fd/3)\"";
static const char close_script[] = "exec 3<&-;";

/* Where a stream of the child goes. */
struct sink {
	int ours;      /* the end that we read */
	int theirs;    /* the end of a pipe, or -1 */
	char path[64]; /* of a terminal */
};

struct plan {
	const struct throwaway_options *options;
	struct sink out, err;
	int input, script; /* files, or -1 */
	int group;         /* cgroup.procs, or -1 */
	int reserve;       /* keeps a descriptor for the pidfd */
};

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Move a descriptor out of the way of the child's numbers. Takes fd, also when it fails. */
static int lift(int fd)
{
	if (fd < 0)
		return -errno;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	int rc = high < 0 ? -errno : high;
	close(fd);
	return rc;
}

/* A file that has these bytes, to be read from its beginning and never to be changed. */
static int make_file(const char *name, const char *prefix, const void *bytes, size_t length)
{
	const struct {
		const char *bytes;
		size_t length;
	} parts[] = {{prefix, strlen(prefix)}, {bytes, length}};
	int rc = 0, fd = lift(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
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

/* Output as it was written; whoever reads from such a terminal is at its end. */
static int make_raw(int master, unsigned rows, unsigned cols)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
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
	s->ours = lift(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (s->ours == -ENOSPC)
		return -ENOSR; /* see throwaway.h */
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
	s->ours = lift(fds[0]);
	s->theirs = lift(fds[1]);
	return s->ours < 0 ? s->ours : s->theirs < 0 ? s->theirs : 0;
}

static int open_sink(const struct throwaway_options *o, struct sink *s)
{
	int rc = o->terminals ? open_terminal(o, s) : open_pipe(s);
	if (rc == 0 && fcntl(s->ours, F_SETFL, O_NONBLOCK) < 0)
		rc = -errno;
	return rc;
}

static int give(int fd, uid_t owner)
{
	return fchown(fd, owner, (gid_t)-1) < 0 ? -errno : 0;
}

static int give_sink(const struct sink *s, uid_t owner)
{
	if (s->theirs >= 0)
		return give(s->theirs, owner);
	int fd = ioctl(s->ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : give(fd, owner);
	close_if(fd);
	return rc;
}

/* What the child has open it may also open again (/dev/stdout), as another user than we too. */
static int give_away(const struct plan *p)
{
	uid_t owner = p->options->owner;
	if (owner == 0 || owner == geteuid())
		return 0;
	int rc = give_sink(&p->out, owner);
	if (rc == 0)
		rc = give_sink(&p->err, owner);
	if (rc == 0 && p->input >= 0)
		rc = give(p->input, owner);
	return rc;
}

/* Everything that may fail for want of something, before there is a child. */
static int prepare(struct plan *p)
{
	const struct throwaway_options *o = p->options;
	int rc = open_sink(o, &p->out);
	if (rc == 0)
		rc = open_sink(o, &p->err);
	if (rc == 0 && o->input_fd > 0) {
		p->input = fcntl(o->input_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
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
		rc = give_away(p);
	if (rc == 0 && o->group_fd > 0) {
		p->group = fcntl(o->group_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
		rc = p->group < 0 ? -errno : 0;
	}
	if (rc == 0) {
		p->reserve = lift(open("/dev/null", O_RDONLY | O_CLOEXEC));
		rc = p->reserve < 0 ? p->reserve : 0;
	}
	return rc;
}

/* Give back what the child has by now; without a child also our ends. */
static void release(struct plan *p, bool failed)
{
	close_if(p->out.theirs);
	close_if(p->err.theirs);
	close_if(p->input);
	close_if(p->script);
	close_if(p->group);
	close_if(p->reserve);
	if (failed) {
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

static int fill_actions(posix_spawn_file_actions_t *actions, const struct plan *p)
{
	bool script = p->script >= 0;
	int rc = p->input >= 0
		? posix_spawn_file_actions_adddup2(actions, p->input, STDIN_FILENO)
		: posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (rc == 0)
		rc = add_sink(actions, STDOUT_FILENO, &p->out);
	if (rc == 0)
		rc = add_sink(actions, STDERR_FILENO, &p->err);
	if (rc == 0 && script)
		rc = posix_spawn_file_actions_adddup2(actions, p->script, SCRIPT_FD);
	int first = script ? SCRIPT_FD + 1 : SCRIPT_FD;
	if (rc == 0)
		rc = p->options->wrapper
			? spawn_lend(actions, first, p->options->filter_fd, p->group)
			: posix_spawn_file_actions_addclosefrom_np(actions, first);
	if (rc == 0 && !p->options->wrapper)
		rc = posix_spawn_file_actions_addchdir_np(actions, p->options->cwd);
	return -rc;
}

/* posix_spawn with another soft limit of descriptors. */
static int spawn_limited(const struct plan *p, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, pid_t *ret_pid)
{
	const struct throwaway_options *o = p->options;
	/* posix_spawn does not write to them. */
	char *words[SPAWN_WRAPPER_MAX + 4];
	int wrapped = spawn_wrap(words, o->wrapper);
	if (wrapped < 0)
		return wrapped;
	char **word = words + wrapped;
	const char *program = word > words ? words[0] : o->bash;
	if (word == words)
		*word++ = (char *)(uintptr_t) "bash";
	*word++ = (char *)(uintptr_t) "-c";
	*word++ = (char *)(uintptr_t)(p->script >= 0 ? eval_script : o->command);
	*word = NULL;
	struct rlimit ours, theirs;
	bool limited = o->nofile > 0 && getrlimit(RLIMIT_NOFILE, &ours) == 0 &&
		(rlim_t)o->nofile < ours.rlim_cur;
	if (limited) {
		theirs = (struct rlimit){(rlim_t)o->nofile, ours.rlim_max};
		limited = setrlimit(RLIMIT_NOFILE, &theirs) == 0;
	}
	int rc = -posix_spawn(ret_pid, program, actions, attributes, words, o->envp);
	if (limited)
		setrlimit(RLIMIT_NOFILE, &ours);
	return rc;
}

static int spawn(const struct plan *p, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc = -posix_spawn_file_actions_init(&actions);
	if (rc < 0)
		return rc;
	rc = -posix_spawnattr_init(&attributes);
	if (rc < 0)
		goto err_actions;
	rc = fill_actions(&actions, p);
	if (rc == 0)
		rc = spawn_attributes(&attributes);
	if (rc == 0)
		rc = spawn_limited(p, &actions, &attributes, ret_pid);
	posix_spawnattr_destroy(&attributes);
err_actions:
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* A pidfd in the place that is kept for it. Without one the child is of no use: it is killed. */
static int watch(struct plan *p, pid_t pid, int *ret_pidfd)
{
	close(p->reserve);
	p->reserve = -1;
	int fd = pidfd_open(pid, PIDFD_NONBLOCK);
	if (fd >= 0) {
		*ret_pidfd = fd;
		return 0;
	}
	int rc = -errno;
	kill(-pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}

int throwaway_start(const struct throwaway_options *o, struct throwaway *ret)
{
	struct plan p = {.options = o,
		.out = {.ours = -1, .theirs = -1},
		.err = {.ours = -1, .theirs = -1},
		.input = -1,
		.script = -1,
		.group = -1,
		.reserve = -1};
	pid_t pid = 0;
	int pidfd = -1;
	int rc = prepare(&p);
	if (rc == 0)
		rc = spawn(&p, &pid);
	if (rc == 0)
		rc = watch(&p, pid, &pidfd);
	release(&p, rc < 0);
	if (rc == 0)
		*ret = (struct throwaway){pid, pidfd, p.out.ours, p.err.ours};
	return rc;
}
