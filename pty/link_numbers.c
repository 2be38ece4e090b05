/*
 * The numbers of a holder's processes. One in a namespace of its own tells those that it sees: it is number 1 there, its
 * shell is 2. The kernel knows the holder's number for us, by the socket; those of its children are found below it.
 */
#include "pty/internal.h"
#include "pty/parentage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHILDREN_MAX 4096u /* bytes of a list of children that are read */

/* Its number in the innermost namespace that it lives in; 0: it is no more. */
static pid_t inner_number(pid_t pid)
{
	char path[32], line[256];
	pid_t number = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && number == 0 && fgets(line, sizeof line, f)) {
		const char *last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
		if (last)
			number = (pid_t)strtol(last + 1, NULL, 10);
	}
	if (f)
		fclose(f);
	return number;
}

static void read_children(pid_t parent, char text[CHILDREN_MAX])
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, CHILDREN_MAX - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
}

/* The child of parent that has this number inside. */
static pid_t find_child(pid_t parent, pid_t inside)
{
	char text[CHILDREN_MAX], *at = text, *end;
	read_children(parent, text);
	for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
		if (inner_number((pid_t)pid) == inside)
			return (pid_t)pid;
	return 0;
}

bool link_peer(const struct link *l, struct ucred *ret)
{
	socklen_t length = sizeof *ret;
	return l->socket_fd >= 0 &&
		getsockopt(l->socket_fd, SOL_SOCKET, SO_PEERCRED, ret, &length) == 0;
}

void link_find_holder(struct link *l)
{
	struct ucred peer = {0};
	if (l->info.shell_pid < 0)
		l->info.shell_pid = 0;
	bool known = link_peer(l, &peer) && peer.pid > 0;
	l->foreign = known && peer.pid != l->info.holder_pid;
	if (known && (l->foreign || peer.uid != geteuid())) {
		l->info.holder_pid = peer.pid;
		l->info.shell_pid = link_number(l, peer.pid, l->info.shell_pid);
	}
	link_see_shell(l);
}

void link_see_shell(struct link *l)
{
	pid_t shell = l->info.shell_pid;
	l->shell_seen = shell > 0 && parentage_parent(shell) == l->info.holder_pid;
}

pid_t link_number(const struct link *l, pid_t parent, pid_t number)
{
	/* Whoever writes the ring may say any number: none stands for several, as those below 0 do. */
	if (number <= 0)
		return 0;
	if (l->foreign)
		return find_child(parent, number);
	/* We may signal and read processes that another user may not: nobody names us but its own. */
	return link_user(l) == geteuid() || parentage_parent(number) == parent ? number : 0;
}

bool link_confirms_number(const struct link *l, pid_t number)
{
	struct ucred peer;
	if (!link_peer(l, &peer))
		return false;
	/* 0: it lives in a namespace that we do not see into. */
	return peer.pid == number || peer.pid == 0 || inner_number(peer.pid) == number;
}

/* Kill a child of what has been stopped. The descriptor came first: it is that of who was looked at, or of nobody. */
static void kill_child(pid_t pid, pid_t parent)
{
	int fd = pidfd_open(pid, 0);
	if (fd < 0)
		return;
	if (parentage_parent(pid) == parent)
		(void)pidfd_send_signal(fd, SIGKILL, NULL, 0);
	close(fd);
}

void link_kill_started(const struct link *l)
{
	char text[CHILDREN_MAX], *at = text, *end;
	/* Children do not go on without it; one that cannot be stopped has ended, and its number is anybody's. */
	if (l->started_fd < 0 || pidfd_send_signal(l->started_fd, SIGSTOP, NULL, 0) < 0)
		return;
	read_children(l->started, text);
	for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
		kill_child((pid_t)pid, l->started);
	(void)pidfd_send_signal(l->started_fd, SIGKILL, NULL, 0);
}
