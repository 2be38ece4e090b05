#include "pty/proc/proc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REST "1 7 9 34816 -1 4194560 1 2 3 4 50 6 7 8 20 0 3 0 "

Test(proc_parse, texts)
{
	static const struct {
		const char *text;
		bool good;
		struct proc_stat want;
	} cases[] = {
		{"12 (bash) S " REST "4711 9 9", true,
			{.pid = 12,
				.parent = 1,
				.group = 7,
				.name = "bash",
				.state = 'S',
				.terminal = 34816,
				.threads = 3,
				.cpu_ticks = 56,
				.start_ticks = 4711}},
		{"12 (a) b (c) T " REST "1 2", true,
			{.pid = 12,
				.parent = 1,
				.group = 7,
				.name = "a) b (c",
				.state = 'T',
				.terminal = 34816,
				.threads = 3,
				.cpu_ticks = 56,
				.start_ticks = 1}},
		{"12 (123456789012345678) R " REST "1", true,
			{.pid = 12,
				.parent = 1,
				.group = 7,
				.name = "123456789012345",
				.state = 'R',
				.terminal = 34816,
				.threads = 3,
				.cpu_ticks = 56,
				.start_ticks = 1}},
		{"12 () R " REST "18446744073709551615", true,
			{.pid = 12,
				.parent = 1,
				.group = 7,
				.state = 'R',
				.terminal = 34816,
				.threads = 3,
				.cpu_ticks = 56,
				.start_ticks = UINT64_MAX}},
		{"12 () R " REST, false, {0}},
		{")", false, {0}},
		{"12 (bash", false, {0}},
		{"12 bash)", false, {0}},
		{"12 )(", false, {0}},
		{"12 (bash) S", false, {0}},
		{"12 (bash)", false, {0}},
		{"(bash) S " REST "1", false, {0}},
		{"", false, {0}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct proc_stat s = {0};
		cr_expect_eq(proc_parse(cases[i].text, &s), cases[i].good, "%s", cases[i].text);
		cr_expect_eq(memcmp(&s, &cases[i].want, sizeof s), 0, "%s", cases[i].text);
	}
}

/* A child that waits for its end; with a grandchild, whose number *ret_below is, if that is asked for. */
static pid_t start(pid_t *ret_below)
{
	int fds[2];
	cr_assert_eq(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0) {
		pid_t below = ret_below ? fork() : 1;
		if (below > 0)
			(void)!write(fds[1], &below, sizeof below);
		for (;;)
			pause();
	}
	pid_t below = 0;
	cr_assert_eq(read(fds[0], &below, sizeof below), (ssize_t)sizeof below);
	if (ret_below)
		*ret_below = below;
	close(fds[0]);
	close(fds[1]);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(proc, a_process_and_its_end)
{
	struct proc_stat s;
	pid_t pid = start(NULL);
	cr_assert(proc_stat(pid, &s));
	cr_assert_eq(s.pid, pid);
	cr_assert_eq(s.parent, getpid());
	cr_assert_eq(s.group, getpgrp());
	cr_assert_eq(s.threads, 1);
	cr_assert(proc_is_living(&s));
	kill(pid, SIGKILL);
	siginfo_t info;
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	cr_assert(proc_stat(pid, &s) && !proc_is_living(&s));
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_not(proc_stat(pid, &s));
	cr_assert_eq(proc_open(pid), -ENOENT);
	cr_assert_eq(proc_inner_pid(pid), 0);
}

static void *wait_for_ever(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

/* The kernel says of its first thread that it is a zombie. */
Test(proc, a_process_lives_on_in_its_other_threads, .timeout = 30)
{
	struct proc_stat s;
	pthread_t thread;
	pid_t pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		pthread_exit(NULL);
	}
	do
		cr_assert(proc_stat(pid, &s));
	while (s.state != 'Z');
	cr_expect(proc_is_living(&s));
	kill(pid, SIGKILL);
	do
		cr_assert(proc_stat(pid, &s));
	while (proc_is_living(&s));
	waitpid(pid, NULL, 0);
}

Test(proc, files_are_read_up_to_a_size)
{
	char text[8];
	int fd = proc_open(getpid());
	cr_assert_geq(fd, 0);
	cr_assert_eq(proc_read(fd, "stat", text, sizeof text), (ssize_t)sizeof text - 1);
	cr_assert_eq(strlen(text), sizeof text - 1);
	cr_assert_eq(proc_read(fd, "none", text, sizeof text), -ENOENT);
	cr_assert_str_eq(text, "");
	close(fd);
}

Test(proc, links_are_whole_or_not_known)
{
	char path[64], small[4];
	cr_assert_eq(chdir("/proc"), 0);
	cr_assert_eq(proc_link(getpid(), "cwd", path, sizeof path), strlen("/proc"));
	cr_assert_str_eq(path, "/proc");
	cr_assert_eq(proc_link(getpid(), "cwd", small, sizeof small), 0);
	cr_assert_str_eq(small, "");
	cr_assert_eq(proc_link(0, "cwd", path, sizeof path), 0);
}

Test(proc, who_is_below_whom)
{
	pid_t below, pid = start(&below);
	cr_assert(proc_is_below(below, pid));
	cr_assert(proc_is_below(below, getpid()));
	cr_assert(proc_is_below(pid, pid));
	cr_assert_not(proc_is_below(pid, below));
	cr_assert_not(proc_is_below(getpid(), pid));
	kill(below, SIGKILL);
	end(pid);
	cr_assert_not(proc_is_below(pid, getpid()));
}

Test(proc, the_number_in_a_namespace_is_ours_in_our_own)
{
	cr_assert_eq(proc_inner_pid(getpid()), getpid());
}

struct seen {
	pid_t wanted, list[16];
	unsigned count, most;
};

static bool see(void *user, pid_t pid)
{
	struct seen *s = user;
	if (s->wanted == 0 || s->wanted == pid)
		s->list[s->count++ % 16] = pid;
	return s->count < s->most;
}

static void *fork_and_stay(void *user)
{
	__atomic_store_n((pid_t *)user, start(NULL), __ATOMIC_RELEASE);
	pause();
	return NULL;
}

Test(proc, children_of_all_threads)
{
	pid_t first = start(NULL), second = 0;
	pthread_t thread;
	cr_assert(proc_lists_children(), "this test needs CONFIG_PROC_CHILDREN");
	cr_assert_eq(pthread_create(&thread, NULL, fork_and_stay, &second), 0);
	while (__atomic_load_n(&second, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	struct seen s = {.most = 16};
	proc_each_child(getpid(), see, &s);
	cr_assert_eq(s.count, 2);
	cr_assert_eq(s.list[0] + s.list[1], first + second);
	struct seen one = {.most = 1};
	proc_each_child(getpid(), see, &one);
	cr_assert_eq(one.count, 1, "it goes on");
	end(first);
	end(second);
}

Test(proc, the_youngest_come_first)
{
	pid_t list[2];
	bool more;
	pid_t pids[] = {start(NULL), start(NULL), start(NULL)};
	cr_assert_eq(proc_children(getpid(), NULL, list, 2, &more), 2);
	cr_assert(more);
	cr_assert(list[0] == pids[2] && list[1] == pids[1]);
	for (unsigned i = 0; i < 3; i++)
		end(pids[i]);
	cr_assert_eq(proc_children(getpid(), NULL, list, 2, &more), 0);
	cr_assert_not(more);
}

Test(proc, all_of_the_machine)
{
	pid_t pid = start(NULL);
	struct seen s = {.wanted = pid, .most = 2};
	cr_assert_eq(proc_each(see, &s), 0);
	cr_assert_eq(s.count, 1);
	end(pid);
}
