/* The user of a connection's other end: processes of this machine, closed ends. */
#include "ws/net/peer_user.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct pair {
	int client, server;
};

/* Both ends of a loopback connection; `of` is the family of the client's socket, which may differ. */
static struct pair connect_pair(int family, int of)
{
	struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
	socklen_t length = sizeof address;
	if (family == AF_INET)
		((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
	int listener = socket(family, SOCK_STREAM, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address,
			     family == AF_INET ? sizeof(struct sockaddr_in)
					       : sizeof(struct sockaddr_in6)),
		0);
	cr_assert_eq(listen(listener, 1), 0);
	getsockname(listener, (struct sockaddr *)&address, &length);
	if (family == AF_INET && of == AF_INET6) {
		struct sockaddr_in6 mapped = {.sin6_family = AF_INET6,
			.sin6_port = ((struct sockaddr_in *)&address)->sin_port};
		memcpy(&mapped.sin6_addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
		memcpy(&address, &mapped, sizeof mapped);
		length = sizeof mapped;
	}
	struct pair p = {.client = socket(of, SOCK_STREAM, 0)};
	cr_assert_eq(connect(p.client, (struct sockaddr *)&address, length), 0);
	p.server = accept(listener, NULL, NULL);
	cr_assert_geq(p.server, 0);
	close(listener);
	return p;
}

static bool has_ipv6(void)
{
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	bool has = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
	if (fd >= 0)
		close(fd);
	return has;
}

Test(peer_user, is_found_over_tcp_of_any_family)
{
	static const int families[][2] = {
		{AF_INET, AF_INET}, {AF_INET, AF_INET6}, {AF_INET6, AF_INET6}};
	int diag = peer_user_open();
	cr_assert_geq(diag, 0);
	for (size_t i = 0; i < (has_ipv6() ? 3 : 1); i++) {
		struct pair p = connect_pair(families[i][0], families[i][1]);
		uid_t uid = 12345;
		cr_assert_eq(peer_user_find(diag, p.server, &uid), 0, "%zu", i);
		cr_assert_eq(uid, geteuid());
		cr_assert(peer_user_is_trusted(diag, p.server));
		close(p.client);
		close(p.server);
	}
	close(diag);
}

Test(peer_user, another_user_is_recognised)
{
	if (geteuid() != 0)
		cr_skip_test("only root can change its user");
	int diag = peer_user_open();
	struct pair ours = connect_pair(AF_INET, AF_INET);
	cr_assert_eq(seteuid(4321), 0); /* sockets created from here on belong to that user */
	struct pair theirs = connect_pair(AF_INET, AF_INET);
	uid_t uid;
	cr_assert_eq(peer_user_find(diag, theirs.server, &uid), 0);
	cr_assert_eq(uid, 4321);
	cr_assert(peer_user_is_trusted(diag, theirs.server));
	cr_assert(peer_user_is_trusted(diag, ours.server), "root is always trusted");
	cr_assert_eq(seteuid(0), 0);
	cr_assert_not(peer_user_is_trusted(diag, theirs.server));
}

/* The kernel reports root for a socket without a process: a client that sends and closes must not be root. */
Test(peer_user, closed_connection_has_no_user)
{
	int diag = peer_user_open();
	struct pair p = connect_pair(AF_INET, AF_INET);
	uid_t uid = 12345;
	cr_assert_eq(shutdown(p.client, SHUT_WR), 0);
	cr_assert_eq(peer_user_find(diag, p.server, &uid), 0, "the client still has the socket");
	cr_assert_eq(uid, geteuid());
	close(p.client);
	cr_assert_eq(peer_user_find(diag, p.server, &uid), -ENOENT);
	cr_assert_not(peer_user_is_trusted(diag, p.server));
	close(p.server);
	close(diag);
}

Test(peer_user, unix_sockets_need_no_check)
{
	int ends[2];
	uid_t uid = 12345;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	cr_assert_eq(peer_user_find(-1, ends[0], &uid), 0);
	cr_assert_eq(uid, geteuid());
}

Test(peer_user, other_sockets_have_no_user)
{
	struct pair p = connect_pair(AF_INET, AF_INET);
	uid_t uid;
	cr_assert_eq(peer_user_find(-ENOENT, p.server, &uid), -ENOENT);
	cr_assert_lt(peer_user_find(-1, p.server, &uid), 0);
	cr_assert_not(peer_user_is_trusted(-1, p.server));
	int fd = socket(AF_INET, SOCK_STREAM, 0), diag = peer_user_open();
	cr_assert_eq(peer_user_find(diag, fd, &uid), -ENOTCONN);
}
