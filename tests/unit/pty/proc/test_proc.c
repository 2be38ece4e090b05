#include "pty/proc/proc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDS \
	"Umask:\t0022\nState:\tS (sleeping)\nTgid:\t12\nNgid:\t0\nPid:\t12\nPPid:\t1\nTracerPid:\t0\n"
#define USER "Uid:\t1000\t33\t1000\t1000\nGid:\t7\t7\t7\t7\n"

Test(proc_parse_status, texts)
{
	static const struct {
		const char *text, *name; /* NULL: not the text of a process */
		unsigned threads;
	} cases[] = {
		{"Name:\tbash\n" IDS USER "Groups:\t7 \nThreads:\t3\n", "bash", 3},
		{"Name:\ta\\nPid:\t9\\\\b\n" IDS USER, "a\nPid:\t9\\b", 0},
		{"Name:\t123456789012345678\n" IDS USER "Threads:\t2", "123456789012345", 2},
		{"Name:\t\\\n" IDS USER, "\\", 0},
		{"Name:\tbash\n" IDS, NULL, 0},
		{"Name:\tbash\n" USER, NULL, 0},
		{IDS USER, NULL, 0},
		{"Name:\tbash", NULL, 0},
		{"Name:\ta\nState:\t", NULL, 0},
		{"", NULL, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct proc_status s = {0}, want = {0};
		if (cases[i].name) {
			strcpy(want.name, cases[i].name);
			want.pid = 12;
			want.parent = 1;
			want.owner = 33;
			want.state = 'S';
			want.threads = cases[i].threads;
		}
		cr_expect_eq(proc_parse_status(cases[i].text, &s), cases[i].name != NULL, "%s",
			cases[i].text);
		cr_expect_eq(memcmp(&s, &want, sizeof s), 0, "%s", cases[i].text);
	}
}

#define REST "1 7 9 34816 -1 4194560 1 2 3 4 50 6 7 8 20 0 3 0 "

Test(proc_parse_start_time, texts)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t want;
	} cases[] = {
		{"12 (bash) S " REST "4711 9 9", true, 4711},
		{"12 (a) b (c) T " REST "1 2", true, 1},
		{"12 () R " REST "18446744073709551615", true, UINT64_MAX},
		{"12 () R " REST, false, 0},
		{")", false, 0},
		{"12 (bash", false, 0},
		{"12 bash)", false, 0},
		{"12 (bash) S", false, 0},
		{"12 (bash)", false, 0},
		{"", false, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t ticks = 0;
		cr_expect_eq(proc_parse_start_time(cases[i].text, &ticks), cases[i].good, "%s",
			cases[i].text);
		cr_expect_eq(ticks, cases[i].want, "%s", cases[i].text);
	}
}

/*
 * A child that sleeps until it is killed. If ret_below is set, the child has a child too, whose pid *ret_below
 * gets.
 */
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

static void kill_child(pid_t child)
{
	kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(proc, process_and_its_end)
{
	struct proc_status s;
	pid_t pid = start(NULL);
	cr_assert(proc_status(pid, &s));
	cr_assert_eq(s.pid, pid);
	cr_assert_eq(s.parent, getpid());
	cr_assert_eq(s.owner, geteuid());
	cr_assert_eq(s.threads, 1);
	cr_assert(proc_is_alive(&s));
	kill(pid, SIGKILL);
	siginfo_t info;
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	cr_assert(proc_status(pid, &s) && !proc_is_alive(&s));
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_not(proc_status(pid, &s));
	cr_assert_eq(proc_open(pid), -ENOENT);
	cr_assert_eq(proc_inner_pid(pid), 0);
}

static void *wait_for_ever(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

/* Enough groups that /proc/PID/status is cut before its number of threads. */
static void join_groups(void)
{
	static gid_t groups[4000];
	for (unsigned i = 0; i < 4000; i++)
		groups[i] = 1000000000 + i;
	if (getuid() == 0)
		cr_assert_eq(setgroups(4000, groups), 0);
}

/* A process whose first thread is a zombie to the kernel, while another thread runs. */
static void check_other_threads(bool in_groups)
{
	struct proc_status s;
	pthread_t thread;
	pid_t pid = fork();
	if (pid == 0) {
		if (in_groups)
			join_groups();
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		pthread_exit(NULL);
	}
	do
		cr_assert(proc_status(pid, &s));
	while (s.state != 'Z');
	cr_expect(proc_is_alive(&s));
	kill(pid, SIGKILL);
	do
		cr_assert(proc_status(pid, &s));
	while (proc_is_alive(&s));
	waitpid(pid, NULL, 0);
}

Test(proc, process_lives_on_in_its_other_threads, .timeout = 30)
{
	check_other_threads(false);
	check_other_threads(true);
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

Test(proc, links_are_whole_or_unknown)
{
	char path[64], small[4];
	cr_assert_eq(chdir("/proc"), 0);
	cr_assert_eq(proc_read_link(getpid(), "cwd", path, sizeof path), strlen("/proc"));
	cr_assert_str_eq(path, "/proc");
	cr_assert_eq(proc_read_link(getpid(), "cwd", small, sizeof small), 0);
	cr_assert_str_eq(small, "");
	cr_assert_eq(proc_read_link(0, "cwd", path, sizeof path), 0);
}

Test(proc, descendants)
{
	pid_t below, pid = start(&below);
	cr_assert(proc_is_descendant(below, pid));
	cr_assert(proc_is_descendant(below, getpid()));
	cr_assert(proc_is_descendant(pid, pid));
	cr_assert_not(proc_is_descendant(pid, below));
	cr_assert_not(proc_is_descendant(getpid(), pid));
	kill(below, SIGKILL);
	kill_child(pid);
	cr_assert_not(proc_is_descendant(pid, getpid()));
}

Test(proc, pid_in_our_own_namespace_is_the_same)
{
	cr_assert_eq(proc_inner_pid(getpid()), getpid());
}

struct seen {
	pid_t wanted, list[16];
	unsigned count, most;
};

static bool add_pid(void *user, pid_t pid)
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

Test(proc, children_of_all_threads_are_found)
{
	pid_t first = start(NULL), second = 0;
	pthread_t thread;
	cr_assert(proc_can_list_children(), "this test needs CONFIG_PROC_CHILDREN");
	cr_assert_eq(pthread_create(&thread, NULL, fork_and_stay, &second), 0);
	while (__atomic_load_n(&second, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	struct seen s = {.most = 16};
	proc_each_child(getpid(), add_pid, &s);
	cr_assert_eq(s.count, 2);
	cr_assert_eq(s.list[0] + s.list[1], first + second);
	struct seen one = {.most = 1};
	proc_each_child(getpid(), add_pid, &one);
	cr_assert_eq(one.count, 1, "the listing does not stop");
	kill_child(first);
	kill_child(second);
}

Test(proc, youngest_children_come_first)
{
	pid_t list[2];
	bool more;
	pid_t pids[] = {start(NULL), start(NULL), start(NULL)};
	cr_assert_eq(proc_children(getpid(), NULL, list, 2, &more), 2);
	cr_assert(more);
	cr_assert(list[0] == pids[2] && list[1] == pids[1]);
	for (unsigned i = 0; i < 3; i++)
		kill_child(pids[i]);
	cr_assert_eq(proc_children(getpid(), NULL, list, 2, &more), 0);
	cr_assert_not(more);
}

Test(proc, all_processes_of_the_machine_are_listed)
{
	pid_t pid = start(NULL);
	struct seen s = {.wanted = pid, .most = 2};
	cr_assert_eq(proc_each(add_pid, &s), 0);
	cr_assert_eq(s.count, 1);
	kill_child(pid);
}
