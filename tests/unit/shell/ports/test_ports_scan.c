#include "shell/ports/ports_scan.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int listen_somewhere(unsigned *ret_port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	cr_assert_eq(listen(fd, 1), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&a, &length), 0);
	*ret_port = ntohs(a.sin_port);
	return fd;
}

static const struct ports_scan_owner *owner_of(const struct ports_scan *l, unsigned port)
{
	for (size_t i = 0; i < l->found.count; i++)
		if (l->found.ports[i].port == port)
			return &l->owners[i];
	return NULL;
}

Test(ports_scan, finds_listeners_below_a_root, .timeout = 20)
{
	struct ports_scan *l = calloc(1, sizeof *l);
	unsigned own_port, child_port;
	int ready[2], end[2], fd = listen_somewhere(&own_port);
	cr_assert_eq(pipe(ready) + pipe(end), 0);
	pid_t child = fork();
	if (child == 0) {
		unsigned port;
		char c;
		close(fd);
		close(end[1]);
		listen_somewhere(&port);
		if (write(ready[1], &port, sizeof port) < 0 || read(end[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(end[0]);
	cr_assert_eq(read(ready[0], &child_port, sizeof child_port), sizeof child_port);
	l->roots[0] = getpid();
	l->roots_count = 1;
	ports_scan(l);
	cr_assert_eq(l->error, 0);
	cr_assert_not_null(owner_of(l, own_port));
	cr_assert_eq(owner_of(l, own_port)->pid, 0, "the root is not below itself");
	cr_assert_not_null(owner_of(l, child_port));
	cr_assert_eq(owner_of(l, child_port)->pid, child);
	cr_assert(owner_of(l, child_port)->name[0]);
	close(end[1]);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	struct listening before = l->found;
	l->known = &before;
	ports_scan(l);
	cr_assert_not(l->same);
	cr_assert_null(owner_of(l, child_port));
	close(fd);
	attempts_finish(&l->attempts);
	free(l);
}
