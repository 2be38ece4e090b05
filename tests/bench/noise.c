#include "noise.h"

#include "process.h"

#include <poll.h>
#include <unistd.h>

#define PATHS_MAX 16

static _Noreturn void read_for_ever(const struct path *paths, unsigned count)
{
	static uint8_t buffer[CLIENT_READ];
	struct pollfd polled[PATHS_MAX];
	for (unsigned i = 0; i < count; i++)
		polled[i] = (struct pollfd){.fd = paths[i].fd, .events = POLLIN};
	for (;;) {
		if (poll(polled, count, -1) < 0)
			_exit(1);
		for (unsigned i = 0; i < count; i++)
			if (polled[i].revents && read(polled[i].fd, buffer, sizeof buffer) <= 0)
				polled[i].fd = -1;
	}
}

pid_t noise_start(const struct path *paths, unsigned count)
{
	if (count > PATHS_MAX)
		die("noise");
	for (unsigned i = 0; i < count; i++)
		path_put(&paths[i], "\n");
	pid_t pid = process_fork();
	if (pid == 0)
		read_for_ever(paths, count);
	usleep(NOISE_MS * 1000);
	return pid;
}

void noise_end(pid_t pid, struct path *paths, unsigned count)
{
	process_kill(pid);
	for (unsigned i = 0; i < count; i++)
		path_close(&paths[i]);
}
