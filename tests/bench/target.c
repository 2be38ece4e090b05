#include "target.h"

#include "client.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void target_rounds(int argc, char **argv, unsigned *ret_rounds, unsigned max)
{
	int option;
	while ((option = getopt(argc, argv, "n:")) != -1) {
		if (option != 'n' || atoi(optarg) < 1) {
			fprintf(stderr, "usage: %s [-n ROUNDS] [RINGSIDE]\n", argv[0]);
			exit(2);
		}
		*ret_rounds = (unsigned)atoi(optarg) < max ? (unsigned)atoi(optarg) : max;
	}
}

const char *target_arguments(int argc, char **argv, unsigned *ret_rounds, unsigned max)
{
	target_rounds(argc, argv, ret_rounds, max);
	const char *program = optind < argc ? argv[optind] : getenv("RINGSIDE");
	errno = 0;
	if (!program || access(program, X_OK) < 0)
		die("path of ringside");
	return program;
}

/* exit() closes these: a benchmark that fails must not leave sessions behind. */
static struct target *open_targets;

/* Print the end of the log. */
static void print_log(const struct target *t)
{
	char text[4096];
	snprintf(text, sizeof text, "%s/log", t->dir);
	int fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)lseek(fd, -(off_t)sizeof text, SEEK_END); /* fails if the log is short */
	ssize_t n = read(fd, text, sizeof text);
	if (n > 0)
		fwrite(text, 1, (size_t)n, stderr);
	close(fd);
}

static void close_all(void)
{
	while (open_targets && open_targets->owner == getpid()) {
		print_log(open_targets);
		target_close(open_targets);
	}
}

static _Noreturn void run_server(const struct target *t, int out)
{
	char dir[80], home[80], log[80], size[32];
	snprintf(log, sizeof log, "%s/log", t->dir);
	int err = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (err >= 0)
		dup2(err, 2);
	snprintf(dir, sizeof dir, "%s/run", t->dir);
	snprintf(home, sizeof home, "%s/home", t->dir);
	snprintf(size, sizeof size, "%lu", t->ring_size);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(out, 1);
	execl(t->program, t->program, "serve", "--listen", "127.0.0.1:0", "--runtime-dir", dir,
		"--no-auth", "--kill-sessions-on-exit", "--max-sessions", "4000", "--workspace",
		home, t->ring_size ? "--ring-size" : (char *)NULL, size, (char *)NULL);
	_exit(127);
}

void target_start(struct target *t)
{
	int fds[2];
	char line[256] = "";
	size_t have = 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		die("pipe");
	fflush(NULL);
	t->pid = fork();
	if (t->pid < 0)
		die("fork");
	if (t->pid == 0)
		run_server(t, fds[1]);
	close(fds[1]);
	while (!strchr(line, '\n') && have < sizeof line - 1) {
		ssize_t n = read(fds[0], line + have, sizeof line - 1 - have);
		if (n <= 0)
			break;
		have += (size_t)n;
		line[have] = '\0';
	}
	close(fds[0]);
	errno = 0;
	if (sscanf(line, "Ringside is at http://127.0.0.1:%u/", &t->port) != 1)
		die("ringside did not start");
}

/* Use an empty home, so that the user's files have no effect. */
static void make_home(const struct target *t)
{
	char home[80];
	snprintf(home, sizeof home, "%s/home", t->dir);
	if (mkdir(home, 0700) < 0)
		die(home);
	setenv("HOME", home, 1);
	unsetenv("PROMPT_COMMAND");
	unsetenv("HISTFILE");
}

void target_open(struct target *t, const char *program, unsigned long ring_size)
{
	*t = (struct target){.program = program, .ring_size = ring_size};
	snprintf(t->dir, sizeof t->dir, "/tmp/ringside-bench-XXXXXX");
	if (!mkdtemp(t->dir))
		die(t->dir);
	t->owner = getpid();
	t->next = open_targets;
	if (!open_targets)
		atexit(close_all);
	open_targets = t;
	make_home(t);
	target_start(t);
}

void target_kill(struct target *t)
{
	process_kill(t->pid);
	t->pid = 0;
}

void target_close(struct target *t)
{
	char command[128];
	int status = 0;
	struct target **at = &open_targets;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	if (t->pid > 0) {
		kill(t->pid, SIGTERM);
		waitpid(t->pid, &status, 0);
	}
	if (status != 0) {
		print_log(t);
		fprintf(stderr, "ringside exited with wait status %#x\n", (unsigned)status);
	}
	snprintf(command, sizeof command, "rm -rf %s", t->dir);
	if (system(command) != 0)
		fprintf(stderr, "%s: failed\n", command);
}

int target_http(
	const struct target *t, const char *request, const char *body, char *answer, size_t cap)
{
	int fd = client_connect(t->port), status = 0;
	size_t have = 0;
	ssize_t n;
	int length = snprintf(answer, cap,
		"%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		request, t->port, body ? strlen(body) : 0, body ? body : "");
	if (length < 0 || (size_t)length >= cap || write(fd, answer, (size_t)length) != length)
		die(request);
	while (have < cap - 1 && (n = read(fd, answer + have, cap - 1 - have)) > 0)
		have += (size_t)n;
	close(fd);
	answer[have] = '\0';
	errno = 0;
	if (sscanf(answer, "HTTP/1.1 %d", &status) != 1)
		die(request);
	return status;
}

pid_t target_session(const struct target *t, const char *id, const char *program)
{
	char options[256];
	snprintf(options, sizeof options, "\"shell\":\"%s\"", program);
	return target_session_with(t, id, options);
}

pid_t target_session_with(const struct target *t, const char *id, const char *options)
{
	char body[512], answer[4096];
	snprintf(body, sizeof body, "{\"id\":\"%s\",\"cols\":80,\"rows\":24,%s}", id, options);
	int status = target_http(t, "POST /api/session/create", body, answer, sizeof answer);
	const char *pid = strstr(answer, "\"pid\":");
	if (status != 200 || !pid)
		die(answer);
	return atoi(pid + 6);
}

void target_delete(const struct target *t, const char *id)
{
	char body[256], answer[4096];
	snprintf(body, sizeof body, "{\"sessionId\":\"%s\"}", id);
	if (target_http(t, "POST /api/session/delete", body, answer, sizeof answer) != 200)
		die(answer);
}

void target_script(const struct target *t, const char *name, const char *text, char *ret_path)
{
	snprintf(ret_path, 128, "%s/%s", t->dir, name);
	int fd = open(ret_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0700);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) < 0)
		die(ret_path);
}
