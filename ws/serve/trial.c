/*
 * The program's end is seen by its pidfd. Then what it has printed is read from a pipe, without waiting for processes that have
 * inherited it.
 */
#include "ws/serve/trial.h"

#include "ring/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void on_closed(uv_handle_t *handle)
{
	struct trial *t = handle->data;
	t->open_handles--;
}

static void close_handle(uv_handle_t *handle)
{
	uv_close(handle, on_closed);
}

/* Stop watching the program, which has ended. Returns its wait(2) status. */
static int finish(struct trial *t)
{
	int status = 0;
	while (waitpid(t->pid, &status, 0) < 0 && errno == EINTR)
		;
	t->pid = 0;
	close_handle((uv_handle_t *)&t->end);
	close_handle((uv_handle_t *)&t->output);
	close_handle((uv_handle_t *)&t->timer);
	close(t->pidfd);
	close(t->pipe_fd);
	return status;
}

/* Read what it has printed; what does not fit is dropped. */
static void read_output(struct trial *t)
{
	char dropped[512];
	for (;;) {
		size_t space = TRIAL_TEXT_MAX - t->length;
		ssize_t n = read(t->pipe_fd, space > 0 ? t->text + t->length : dropped,
			space > 0 ? space : sizeof dropped);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0 && t->pid > 0)
				uv_poll_stop(&t->output);
			return;
		}
		t->length += space > 0 ? (size_t)n : 0;
	}
}

/* Make one line of printable text of what was printed. */
static void clean_text(struct trial *t)
{
	for (size_t i = 0; i < t->length; i++)
		if ((unsigned char)t->text[i] < ' ' || t->text[i] == 0x7f)
			t->text[i] = ' ';
	while (t->length > 0 && t->text[t->length - 1] == ' ')
		t->length--;
	t->text[t->length] = '\0';
	if (!utf8_is_valid_string(t->text))
		snprintf(t->text, sizeof t->text, "it printed bytes that are not UTF-8");
}

static bool says_ready(const struct trial *t)
{
	size_t size = strlen(TRIAL_READY), length = strlen(t->text);
	return length >= size && strcmp(t->text + length - size, TRIAL_READY) == 0;
}

static void on_end(uv_poll_t *poll, int poll_status, int events)
{
	struct trial *t = poll->data;
	char problem[TRIAL_TEXT_MAX + 64];
	(void)poll_status;
	(void)events;
	read_output(t);
	int status = finish(t);
	clean_text(t);
	if (!t->timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0 && says_ready(t)) {
		t->done(t->user, NULL);
		return;
	}
	if (t->timed_out)
		snprintf(problem, sizeof problem, "it did not end within %u s",
			TRIAL_WITHIN_MS / 1000);
	else if (WIFSIGNALED(status))
		snprintf(problem, sizeof problem, "it was killed by signal %d %s", WTERMSIG(status),
			t->text);
	else if (t->text[0])
		snprintf(problem, sizeof problem, "%s", t->text);
	else
		snprintf(problem, sizeof problem, "it ended with status %d", WEXITSTATUS(status));
	t->done(t->user, problem);
}

static void on_output(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	read_output(poll->data);
}

static void on_late(uv_timer_t *timer)
{
	struct trial *t = timer->data;
	t->timed_out = true;
	kill(t->pid, SIGKILL);
}

static int fill_actions(posix_spawn_file_actions_t *actions, int output)
{
	int rc = posix_spawn_file_actions_adddup2(actions, output, 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, output, 2);
	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, 3);
	return -rc;
}

static int spawn(const char *program, char *const *argv, int output, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(
		&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	int rc = fill_actions(&actions, output);
	if (rc == 0)
		rc = -posix_spawn(ret_pid, program, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* The server's words with --check behind "serve"; freed by free(). */
static char **make_words(char *const *argv)
{
	size_t count = 0;
	while (argv[count])
		count++;
	char **words = calloc(count + 2, sizeof *words);
	if (!words)
		return NULL;
	words[0] = argv[0];
	words[1] = argv[1];
	words[2] = (char *)"--check";
	for (size_t i = 2; i < count; i++)
		words[i + 1] = argv[i];
	return words;
}

static void watch(struct trial *t, uv_loop_t *loop)
{
	uv_poll_init(loop, &t->end, t->pidfd);
	uv_poll_init(loop, &t->output, t->pipe_fd);
	uv_timer_init(loop, &t->timer);
	t->end.data = t->output.data = t->timer.data = t;
	t->open_handles = 3;
	uv_poll_start(&t->end, UV_READABLE, on_end);
	uv_poll_start(&t->output, UV_READABLE, on_output);
	uv_timer_start(&t->timer, on_late, TRIAL_WITHIN_MS, 0);
}

int trial_begin(struct trial *t, uv_loop_t *loop, const char *program, char *const *argv,
	void (*done)(void *user, const char *problem), void *user)
{
	int fds[2];
	*t = (struct trial){.done = done, .user = user};
	char **words = make_words(argv);
	if (!words)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0) {
		free(words);
		return -errno;
	}
	(void)fcntl(fds[1], F_SETFL, 0); /* the program's end may block */
	int rc = spawn(program, words, fds[1], &t->pid);
	close(fds[1]);
	free(words);
	if (rc == 0) {
		t->pidfd = pidfd_open(t->pid, 0);
		rc = t->pidfd < 0 ? -errno : 0;
		if (rc < 0) {
			kill(t->pid, SIGKILL);
			waitpid(t->pid, NULL, 0);
		}
	}
	if (rc < 0) {
		close(fds[0]);
		t->pid = 0;
		return rc;
	}
	t->pipe_fd = fds[0];
	watch(t, loop);
	return 0;
}

void trial_cancel(struct trial *t)
{
	if (t->pid <= 0)
		return;
	kill(t->pid, SIGKILL);
	(void)finish(t);
}
