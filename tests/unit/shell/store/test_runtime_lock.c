#include "shell/store/runtime_lock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/ringside-lock-XXXXXX";
static struct runtime_lock lock;

static int open_dir(void)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int take(void)
{
	int fd = open_dir();
	int rc = runtime_lock_acquire(&lock, fd);
	close(fd);
	return rc;
}

static void make(void)
{
	cr_assert_not_null(mkdtemp(path));
}

static void clean(void)
{
	char file[64];
	snprintf(file, sizeof file, "%s/lock", path);
	unlink(file);
	rmdir(path);
}

/* A process that has the lock until it is killed, and then leaves a child with its descriptors for ms. */
static pid_t start_server(unsigned ms)
{
	int fds[2];
	char byte;
	cr_assert_eq(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (take() < 0)
			_exit(1);
		pid_t server = getpid();
		if (ms > 0 && fork() == 0) {
			/* As one between fork and exec: what is locked by description stays locked. */
			while (getppid() == server)
				usleep(1000);
			usleep(ms * 1000);
			_exit(0);
		}
		(void)!write(fds[1], "r", 1);
		pause();
	}
	close(fds[1]);
	cr_assert_eq(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void end_server(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TestSuite(runtime_lock, .init = make, .fini = clean, .timeout = 30);

Test(runtime_lock, one_server_at_a_time)
{
	pid_t other = start_server(0);
	cr_assert_eq(take(), -EBUSY);
	end_server(other);
	cr_assert_eq(take(), 0);
	runtime_lock_release(&lock);
	cr_assert_eq(take(), 0);
	runtime_lock_release(&lock);
}

Test(runtime_lock, killed_server_leaves_a_child_between_fork_and_exec)
{
	pid_t other = start_server(300);
	end_server(other);
	cr_assert_eq(take(), 0);
	runtime_lock_release(&lock);
}

Test(runtime_lock, server_of_an_earlier_release)
{
	char file[64];
	snprintf(file, sizeof file, "%s/lock", path);
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	cr_assert_eq(take(), -EBUSY);
	close(fd);
	cr_assert_eq(take(), 0);
	fd = open(file, O_RDWR | O_CLOEXEC);
	cr_assert_lt(flock(fd, LOCK_EX | LOCK_NB), 0, "and such a one sees us");
	runtime_lock_release(&lock);
}

Test(runtime_lock, directory_that_is_made_again_under_a_server)
{
	pid_t other = start_server(0);
	clean();
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_assert_eq(take(), -EBUSY);
	end_server(other);
	cr_assert_eq(take(), 0);
	runtime_lock_release(&lock);
}

Test(runtime_lock, other_directories_have_locks_of_their_own)
{
	char saved[sizeof path];
	pid_t other = start_server(0);
	snprintf(saved, sizeof saved, "%s", path);
	snprintf(path, sizeof path, "/tmp/ringside-lock-XXXXXX");
	make();
	cr_assert_eq(take(), 0);
	runtime_lock_release(&lock);
	clean();
	snprintf(path, sizeof path, "%s", saved);
	end_server(other);
}

Test(runtime_lock, holds_while_the_directory_is_what_it_was)
{
	char file[sizeof path + 8], moved[sizeof path + 8];
	cr_assert_eq(take(), 0);
	cr_expect(runtime_lock_is_held(&lock, path));
	cr_expect(runtime_lock_is_held(&lock, path), "to ask does not end it");
	pid_t other = fork();
	if (other == 0)
		_exit(take() == -EBUSY ? 0 : 1);
	int status;
	waitpid(other, &status, 0);
	cr_expect_eq(status, 0);
	snprintf(moved, sizeof moved, "%s.moved", path);
	snprintf(file, sizeof file, "%s/lock", path);
	cr_assert_eq(rename(path, moved), 0);
	cr_expect_not(runtime_lock_is_held(&lock, path), "it is gone");
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_not(runtime_lock_is_held(&lock, path), "it is another one");
	int fd = open(file, O_CREAT | O_WRONLY, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_expect_not(runtime_lock_is_held(&lock, path), "that has a lock of its own");
	unlink(file);
	rmdir(path);
	cr_assert_eq(symlink(moved, path), 0);
	cr_expect(runtime_lock_is_held(&lock, path), "by whatever way: it is the same");
	unlink(path);
	cr_assert_eq(rename(moved, path), 0);
	cr_expect(runtime_lock_is_held(&lock, path));
	runtime_lock_release(&lock);
}

Test(runtime_lock, many_refused_ones)
{
	pid_t other = start_server(0);
	pid_t pids[8];
	int status;
	for (int i = 0; i < 8; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(take() == -EBUSY ? 0 : 1);
	}
	for (int i = 0; i < 8; i++) {
		waitpid(pids[i], &status, 0);
		cr_assert_eq(status, 0);
	}
	end_server(other);
}
