/* The foreground program of a pane, from /proc, as in tmux. What cannot be read is "". */
#include "ws/client/tmux/backend.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 4096u

/* Read a file of /proc/PID, NUL-terminated. Returns its length. */
static size_t read_proc(int pid, const char *what, char text[TEXT_MAX])
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", pid, what);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* A field of stat, counted from the one behind the program's name. 0 if it cannot be read. */
static long long read_stat(int pid, unsigned field)
{
	char text[TEXT_MAX];
	if (read_proc(pid, "stat", text) == 0)
		return 0;
	char *p = strrchr(text, ')');
	for (unsigned i = 0; p && i < field; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoll(p + 1, NULL, 10) : 0;
}

uint64_t backend_process_start(int pid)
{
	return pid > 0 ? (uint64_t)read_stat(pid, 20) : 0;
}

/* The pid of the leader of the terminal's foreground process group; otherwise of the started program. */
static int find_front(const struct pane *p)
{
	int pid = (int)json_integer_value(json_object_get(p->info, "pid"));
	int front = pid > 0 && !p->dead ? (int)read_stat(pid, 6) : 0;
	return front > 0 ? front : pid;
}

char *backend_program_name(struct tmux *t, const char *command)
{
	char *name, *end;
	while (*command == '"' || *command == '\'')
		command++;
	if (strncmp(command, "exec ", 5) == 0)
		command += 5;
	while (*command == ' ' || *command == '-')
		command++;
	name = arena_copy_n(&t->arena, command, strcspn(command, " "));
	end = name + strlen(name);
	while (end > name && !isalnum((unsigned char)end[-1]) && !ispunct((unsigned char)end[-1]))
		*--end = '\0';
	while (end > name && (end[-1] == '"' || end[-1] == '\''))
		*--end = '\0';
	const char *slash = *name == '/' ? strrchr(name, '/') : NULL;
	return slash ? arena_copy(&t->arena, slash + 1) : name;
}

char *backend_command(struct tmux *t, const struct pane *p)
{
	char text[TEXT_MAX];
	if (p->dead || !p->info || read_proc(find_front(p), "cmdline", text) == 0)
		return backend_program_name(t, p->command);
	return backend_program_name(t, text);
}

char *backend_directory(struct tmux *t, const struct pane *p)
{
	char path[64], text[PATH_MAX];
	int pid = find_front(p);
	snprintf(path, sizeof path, "/proc/%d/cwd", pid);
	ssize_t n = pid > 0 ? readlink(path, text, sizeof text - 1) : -1;
	return arena_copy_n(&t->arena, text, n > 0 ? (size_t)n : 0);
}

char *backend_window_name(struct tmux *t, const struct window *w)
{
	if (w->named || !w->active)
		return w->name;
	char *name = backend_command(t, w->active);
	if (w->active->dead)
		name = arena_print(&t->arena, "%s[dead]", name);
	return *name ? name : w->name;
}

void backend_kill_pipe(struct pane *p)
{
	if (p->pipe > 0 && backend_process_start(p->pipe) == p->pipe_start_time &&
		p->pipe_start_time != 0)
		kill(p->pipe, SIGTERM);
	p->pipe = 0;
	p->pipe_start_time = 0;
}
