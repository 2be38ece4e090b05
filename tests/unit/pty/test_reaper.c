#include "pty/reaper.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static uv_loop_t loop;
static struct reaper r;
static uv_idle_t busy; /* the reaper's own handle is unreferenced */

static void set_up(void)
{
	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(reaper_open(&r, &loop), 0);
}

static void tear_down(void)
{
	reaper_close(&r);
	uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&loop), 0);
}

TestSuite(reaper, .init = set_up, .fini = tear_down, .timeout = 30);

/* Start a child that lives until its pipe is closed. */
static pid_t start_child(int *ret_fd)
{
	int fds[2];
	char c;
	cr_assert_eq(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(fds[1]);
		(void)!read(fds[0], &c, 1);
		_exit(0);
	}
	close(fds[0]);
	fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	*ret_fd = fds[1];
	return pid;
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle;
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

Test(reaper, reports_its_children)
{
	int fds[40];
	pid_t pids[40];
	for (int i = 0; i < 40; i++) {
		cr_assert_eq(reaper_reserve(&r), 0);
		pids[i] = start_child(&fds[i]);
		reaper_add(&r, pids[i]);
	}
	cr_assert_eq(r.count, 40);
	for (int i = 0; i < 40; i++)
		close(fds[i]);
	uv_idle_init(&loop, &busy);
	uv_idle_start(&busy, on_idle);
	cr_assert(LOOP_UNTIL(&loop, r.count == 0));
	for (int i = 0; i < 40; i++)
		cr_assert(is_gone(pids[i]));
	uv_close((uv_handle_t *)&busy, NULL);
}

Test(reaper, child_that_ended_before_it_was_added)
{
	int fd;
	siginfo_t info;
	cr_assert_eq(reaper_reserve(&r), 0);
	pid_t pid = start_child(&fd);
	close(fd);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	reaper_add(&r, pid);
	cr_assert_eq(r.count, 0);
	cr_assert(is_gone(pid));
}

Test(reaper, leaves_other_children_alone)
{
	int fd, status;
	pid_t pid = start_child(&fd);
	close(fd);
	uv_idle_init(&loop, &busy);
	uv_idle_start(&busy, on_idle);
	for (int i = 0; i < 100; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	uv_close((uv_handle_t *)&busy, NULL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
}

Test(reaper, does_not_keep_the_loop_alive)
{
	cr_assert_eq(uv_loop_alive(&loop), 0);
}
