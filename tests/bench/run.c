/*
 * A run of `true` through shell/run/run.h, in terminals and in pipes, against the fastest possible: posix_spawn of
 * `bash -c true` in a PTY and a wait for it. Measured in turn, so that noise affects all. -m MiB makes the process that
 * large, for the cost of forking large processes.
 */
#include "shell/run/run.h"

#include "process.h"
#include "stats.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS_MAX 20001u
#define MIB_MAX 16384

extern char **environ;

static double bare_us(void)
{
	static char *const argv[] = {(char *)(uintptr_t) "bash", (char *)(uintptr_t) "-c",
		(char *)(uintptr_t) "true", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char path[64], byte;
	pid_t pid;
	uint64_t start = stats_now_ns();
	int status, master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
		ptsname_r(master, path, sizeof path) != 0)
		die("terminal");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 0, 1);
	posix_spawn_file_actions_adddup2(&actions, 0, 2);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	if (posix_spawn(&pid, "/bin/bash", &actions, &attributes, argv, environ) != 0)
		die("posix_spawn");
	/* Until no process has the terminal open. */
	while (read(master, &byte, 1) > 0)
		;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		die("bash");
	close(master);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return stats_us_since(start);
}

static void on_done(void *user, const struct run_result *result)
{
	if (run_exit_code(result) != 0)
		die("run");
	*(bool *)user = true;
}

static double run_us(uv_loop_t *loop, struct runs *all, bool terminals)
{
	static const struct run_callbacks callbacks = {.done = on_done};
	struct run_options options = {.command = "true",
		.command_length = 4,
		.cwd = "/",
		.terminals = terminals,
		.rows = 24,
		.cols = 80,
		.output_max = RUN_OUTPUT_DEFAULT};
	struct run *r;
	bool done = false;
	uint64_t start = stats_now_ns();
	if (run_start(all, &options, &callbacks, &done, &r) < 0)
		die("run_start");
	while (!done)
		uv_run(loop, UV_RUN_ONCE);
	return stats_us_since(start);
}

int main(int argc, char **argv)
{
	static double us[3][ROUNDS_MAX];
	double times[3];
	static const char *const names[] = {"bare", "terminals", "pipes"};
	static struct stats_line line;
	unsigned rounds = 501;
	long mib = 256;
	int option;
	while ((option = getopt(argc, argv, "n:m:")) != -1) {
		long value = option == '?' ? -1 : strtol(optarg, NULL, 10);
		if (value < 1 || value > MIB_MAX) {
			fprintf(stderr, "usage: %s [-n ROUNDS] [-m MIB]\n", argv[0]);
			return 2;
		}
		if (option == 'n')
			rounds = (unsigned)value;
		else
			mib = value;
	}
	char *large = malloc((size_t)mib << 20);
	uv_loop_t loop;
	struct runs *all;
	const struct runs_config config = {
		.holder = getenv("RINGSIDE_HOLDER"), .environment = environ};
	if (!large || uv_loop_init(&loop) < 0 || runs_open(&loop, &config, &all) < 0)
		die("memory");
	memset(large, 1, (size_t)mib << 20);
	for (unsigned n = 0; n < rounds; n++) {
		us[0][n] = bare_us();
		us[1][n] = run_us(&loop, all, true);
		us[2][n] = run_us(&loop, all, false);
	}
	for (int i = 0; i < 3; i++)
		times[i] = stats_ratio(us[i], us[0], rounds);
	printf("run: microseconds of `true` in a bash of its own, by a process of %ld MiB; ratio to bare posix_spawn\n"
	       "streams        p50      p99   ratio\n",
		mib);
	for (int i = 0; i < 3; i++) {
		double p50 = stats_median(us[i], rounds), p99 = stats_quantile(us[i], rounds, 0.99);
		printf("%-10s %7.0f  %7.0f %7.2f\n", names[i], p50, p99, times[i]);
		stats_add(&line, p50, "%s_us", names[i]);
		stats_add(&line, times[i], "%s_ratio", names[i]);
	}
	runs_close(all);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	free(large);
	stats_print(&line, "run");
	return 0;
}
