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

static int acquire(void)
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

/* A server that holds the lock until it is killed, and leaves a child with its descriptors for ms. */
static pid_t start_server(unsigned ms)
{
	int fds[2];
	char byte;
	cr_assert_eq(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (acquire() < 0)
			_exit(1);
		pid_t server = getpid();
		if (ms > 0 && fork() == 0) {
			/* Like a child between fork and exec: a lock of the open file description would stay. */
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

static void kill_server(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TestSuite(runtime_lock, .init = make, .fini = clean, .timeout = 30);

Test(runtime_lock, one_server_at_a_time)
{
	pid_t other = start_server(0);
	cr_assert_eq(acquire(), -EBUSY);
	kill_server(other);
	cr_assert_eq(acquire(), 0);
	runtime_lock_release(&lock);
	cr_assert_eq(acquire(), 0);
	runtime_lock_release(&lock);
}

Test(runtime_lock, child_of_a_killed_server_does_not_hold_the_lock)
{
	pid_t other = start_server(300);
	kill_server(other);
	cr_assert_eq(acquire(), 0);
	runtime_lock_release(&lock);
}

Test(runtime_lock, server_of_an_earlier_release_is_respected)
{
	char file[64];
	snprintf(file, sizeof file, "%s/lock", path);
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	cr_assert_eq(acquire(), -EBUSY);
	close(fd);
	cr_assert_eq(acquire(), 0);
	fd = open(file, O_RDWR | O_CLOEXEC);
	cr_assert_lt(flock(fd, LOCK_EX | LOCK_NB), 0, "an earlier release sees the lock");
	runtime_lock_release(&lock);
}

Test(runtime_lock, directory_created_again_under_a_server)
{
	pid_t other = start_server(0);
	clean();
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_assert_eq(acquire(), -EBUSY);
	kill_server(other);
	cr_assert_eq(acquire(), 0);
	runtime_lock_release(&lock);
}

Test(runtime_lock, other_directories_have_their_own_locks)
{
	char saved[sizeof path];
	pid_t other = start_server(0);
	snprintf(saved, sizeof saved, "%s", path);
	snprintf(path, sizeof path, "/tmp/ringside-lock-XXXXXX");
	make();
	cr_assert_eq(acquire(), 0);
	runtime_lock_release(&lock);
	clean();
	snprintf(path, sizeof path, "%s", saved);
	kill_server(other);
}

Test(runtime_lock, is_held_while_the_directory_is_the_same)
{
	char file[sizeof path + 8], moved[sizeof path + 8];
	cr_assert_eq(acquire(), 0);
	cr_expect(runtime_lock_is_held(&lock, path));
	cr_expect(runtime_lock_is_held(&lock, path), "the check does not release it");
	pid_t other = fork();
	if (other == 0)
		_exit(acquire() == -EBUSY ? 0 : 1);
	int status;
	waitpid(other, &status, 0);
	cr_expect_eq(status, 0);
	snprintf(moved, sizeof moved, "%s.moved", path);
	snprintf(file, sizeof file, "%s/lock", path);
	cr_assert_eq(rename(path, moved), 0);
	cr_expect_not(runtime_lock_is_held(&lock, path), "the directory has gone");
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_not(runtime_lock_is_held(&lock, path), "it is another directory");
	int fd = open(file, O_CREAT | O_WRONLY, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_expect_not(runtime_lock_is_held(&lock, path), "the other directory has its own lock");
	unlink(file);
	rmdir(path);
	cr_assert_eq(symlink(moved, path), 0);
	cr_expect(runtime_lock_is_held(&lock, path), "a link to the same directory");
	unlink(path);
	cr_assert_eq(rename(moved, path), 0);
	cr_expect(runtime_lock_is_held(&lock, path));
	runtime_lock_release(&lock);
}

Test(runtime_lock, concurrent_attempts_are_refused)
{
	pid_t other = start_server(0);
	pid_t pids[8];
	int status;
	for (int i = 0; i < 8; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(acquire() == -EBUSY ? 0 : 1);
	}
	for (int i = 0; i < 8; i++) {
		waitpid(pids[i], &status, 0);
		cr_assert_eq(status, 0);
	}
	kill_server(other);
}

Test(runtime_lock, left_lock_stays_locked_and_is_taken_over)
{
	int fd, name_fd, status;
	cr_assert_eq(acquire(), 0);
	runtime_lock_leave(&lock, &fd, &name_fd);
	cr_expect_eq(fcntl(fd, F_GETFD), 0, "the next program inherits it");
	cr_expect_eq(fcntl(name_fd, F_GETFD), 0);
	runtime_lock_release(&lock);
	pid_t other = fork();
	if (other == 0)
		_exit(acquire() == -EBUSY ? 0 : 1);
	cr_assert_eq(waitpid(other, &status, 0), other);
	cr_expect_eq(status, 0, "another server cannot acquire it");
	cr_assert_eq(runtime_lock_take_over(&lock, fd, name_fd), 0);
	cr_expect(runtime_lock_is_held(&lock, path));
	cr_expect_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	runtime_lock_release(&lock);
	cr_assert_eq(acquire(), 0);
	runtime_lock_release(&lock);
}

Test(runtime_lock, lock_of_another_process_is_not_taken_over)
{
	char file[64];
	pid_t other = start_server(0);
	snprintf(file, sizeof file, "%s/lock", path);
	int fd = open(file, O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_expect_eq(runtime_lock_take_over(&lock, fd, -1), -EBUSY);
	kill_server(other);
}
