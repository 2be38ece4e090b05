/*
 * `ringside serve` in the background. A lock file in the runtime directory is held until the server
 * accepts connections, so that concurrent commands find that server instead of starting another.
 * The server is a session leader and inherits no descriptor but its log. If it exits early, the
 * last line of its log is reported.
 */
#include "ws/client/connect/start.h"

#include "ws/client/connect/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_NAME "server.log"
#define LOG_MAX ((off_t)4 << 20) /* a longer log is renamed to server.log.1 */
#define LOCK_NAME "start.lock"
#define READY_MS 60000u /* for the server to listen: it adopts sessions before */
#define LATE_MS 3000u   /* for another server that was faster */
#define LOOK_MS 10u     /* between two attempts to connect */
#define WORDS_MAX 400u  /* bytes of the last line of its log */
#define DEFAULT_PORT 7070

extern char **environ;

/* Prepared before fork(): the child may only call async-signal-safe functions. */
struct start {
	char dir[PATH_MAX], exe[PATH_MAX];
	char log_path[PATH_MAX + sizeof LOG_NAME + 1];
	const char *home;
	char **environment; /* owned; the strings belong to environ */
	int log, null;
	off_t log_start; /* size of the log before the start */
	char *argv[7];
	pid_t pid; /* 0: it has exited */
	bool late; /* it has exited because another server runs */
};

static const char *const removed_variables[] = {
	"RINGSIDE_TOKEN=", "RINGSIDE_SESSION=", "RINGSIDE_SOCKET="};

/* The environment without the variables of another server. */
static char **copy_environment(void)
{
	size_t n = 0, kept = 0;
	while (environ[n])
		n++;
	char **list = calloc(n + 1, sizeof *list);
	for (size_t i = 0; list && i < n; i++) {
		bool keep = true;
		for (size_t w = 0; w < sizeof removed_variables / sizeof *removed_variables; w++)
			keep = keep &&
				strncmp(environ[i], removed_variables[w],
					strlen(removed_variables[w])) != 0;
		if (keep)
			list[kept++] = environ[i];
	}
	return list;
}

static int find_program(struct cli *cli, struct start *s)
{
	static const char gone[] = " (deleted)"; /* the file was replaced by a new version */
	ssize_t n = readlink("/proc/self/exe", s->exe, sizeof s->exe - 1);
	if (n <= 0)
		return cli_fail(cli, "/proc/self/exe: %s", strerror(errno));
	s->exe[n] = '\0';
	size_t length = (size_t)n, tail = sizeof gone - 1;
	if (length > tail && strcmp(s->exe + length - tail, gone) == 0)
		s->exe[length - tail] = '\0';
	return 0;
}

/*
 * Whether the default port is free. Another user's server may have it; then ours listens on any
 * port.
 */
static bool is_port_free(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(DEFAULT_PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return true;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	bool used = bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 &&
		errno == EADDRINUSE;
	close(fd);
	return !used;
}

static int open_log(struct cli *cli, struct start *s)
{
	struct stat st;
	char older[sizeof s->log_path + 2];
	snprintf(s->log_path, sizeof s->log_path, "%s/" LOG_NAME, s->dir);
	snprintf(older, sizeof older, "%s.1", s->log_path);
	if (lstat(s->log_path, &st) == 0 && st.st_size > LOG_MAX && rename(s->log_path, older) < 0)
		return cli_fail(cli, "%s: %s", s->log_path, strerror(errno));
	s->log = open(
		s->log_path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
	if (s->log < 0 || fstat(s->log, &st) < 0)
		return cli_fail(cli, "%s: %s", s->log_path, strerror(errno));
	s->log_start = st.st_size;
	return 0;
}

/* Create and check the runtime directory, as the server does. */
static int make_dir(struct cli *cli, struct start *s)
{
	snprintf(s->dir, sizeof s->dir, "%.*s", (int)(strrchr(cli->path, '/') - cli->path),
		cli->path);
	if (mkdir(s->dir, 0700) < 0 && errno != EEXIST)
		return cli_fail(cli, "%s: %s", s->dir, strerror(errno));
	if (!connection_is_private_dir(s->dir))
		return cli_fail(cli, "%s is not a directory of this user", s->dir);
	return 0;
}

/* Wait for the lock. Returns its descriptor or a negative errno. */
static int lock_dir(const char *dir)
{
	char path[PATH_MAX + sizeof LOCK_NAME + 1];
	snprintf(path, sizeof path, "%s/" LOCK_NAME, dir);
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	for (unsigned waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += LOOK_MS) {
		int error = errno;
		if ((error != EWOULDBLOCK && error != EINTR) || waited >= READY_MS) {
			close(fd);
			return error == EWOULDBLOCK ? -ETIMEDOUT : -error;
		}
		usleep(LOOK_MS * 1000);
	}
	return fd;
}

static void __attribute__((noreturn)) become_server(const struct start *s)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	setsid();
	umask(077);
	if (dup2(s->null, STDIN_FILENO) >= 0 && dup2(s->log, STDOUT_FILENO) >= 0 &&
		dup2(s->log, STDERR_FILENO) >= 0 && (chdir(s->home) == 0 || chdir("/") == 0)) {
		close_range(STDERR_FILENO + 1, ~0u, 0);
		execve(s->exe, s->argv, s->environment);
	}
	_exit(127);
}

/* Read the last line of the log. Control characters become "?". */
static void read_last_line(const struct start *s, char words[WORDS_MAX + 1])
{
	struct stat st;
	words[0] = '\0';
	if (fstat(s->log, &st) < 0 || st.st_size <= s->log_start)
		return;
	off_t from = st.st_size - s->log_start > (off_t)WORDS_MAX ? st.st_size - (off_t)WORDS_MAX
								  : s->log_start;
	ssize_t n = pread(s->log, words, WORDS_MAX, from);
	if (n < 0)
		n = 0;
	while (n > 0 && words[n - 1] == '\n')
		n--;
	words[n] = '\0';
	const char *line = strrchr(words, '\n');
	if (line)
		memmove(words, line + 1, strlen(line));
	for (char *p = words; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

static int report_exit(struct cli *cli, const struct start *s)
{
	char words[WORDS_MAX + 1];
	read_last_line(s, words);
	return cli_fail(cli, "the server that was started has ended: %s",
		words[0] ? words : "it logged nothing");
}

/* Whether a server may still come up. */
static bool is_starting(struct start *s)
{
	char words[WORDS_MAX + 1];
	if (s->pid > 0 && waitpid(s->pid, NULL, WNOHANG) == s->pid) {
		s->pid = 0;
		/* It lost against a server that was started by hand at the same moment. */
		read_last_line(s, words);
		s->late = strstr(words, "another server") != NULL;
	}
	return s->pid > 0 || s->late;
}

static int wait_ready(struct cli *cli, struct start *s)
{
	unsigned limit = READY_MS;
	for (unsigned waited = 0; waited < limit; waited += LOOK_MS) {
		if (connection_probe(cli) == 0)
			return 0;
		if (!is_starting(s))
			return report_exit(cli, s);
		if (s->late && limit == READY_MS)
			limit = waited + LATE_MS;
		usleep(LOOK_MS * 1000);
	}
	return s->late
		? report_exit(cli, s)
		: cli_fail(cli, "the server that was started does not answer; see %s", s->log_path);
}

/* Called with the lock. */
static int start_one(struct cli *cli, struct start *s)
{
	int rc = find_program(cli, s);
	if (rc == 0)
		rc = open_log(cli, s);
	if (rc != 0)
		return rc;
	s->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	s->environment = copy_environment();
	if (s->null < 0 || !s->environment)
		return cli_fail(cli, "%s", strerror(s->null < 0 ? errno : ENOMEM));
	const char *home = getenv("HOME");
	s->home = home && home[0] == '/' ? home : "/";
	size_t n = 0;
	s->argv[n++] = (char *)"ringside";
	s->argv[n++] = (char *)"serve";
	/* Overrides the config file: we wait for the socket in this directory. */
	s->argv[n++] = (char *)"--runtime-dir";
	s->argv[n++] = s->dir;
	if (!cli->config.listens && !is_port_free()) {
		s->argv[n++] = (char *)"--listen";
		s->argv[n++] = (char *)"127.0.0.1:0";
	}
	s->pid = fork();
	if (s->pid == 0)
		become_server(s);
	return s->pid < 0 ? cli_fail(cli, "fork: %s", strerror(errno)) : wait_ready(cli, s);
}

int start_server(struct cli *cli)
{
	struct start s = {.log = -1, .null = -1};
	int rc = make_dir(cli, &s), lock;
	if (rc != 0)
		return rc;
	lock = lock_dir(s.dir);
	if (lock < 0)
		return cli_fail(cli, "%s/" LOCK_NAME ": %s", s.dir, strerror(-lock));
	if (connection_probe(cli) < 0)
		rc = start_one(cli, &s);
	close(lock);
	if (s.log >= 0)
		close(s.log);
	if (s.null >= 0)
		close(s.null);
	free(s.environment);
	return rc;
}
