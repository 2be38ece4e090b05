/*
 * Sockets are checked by their properties in the kernel, not by LISTEN_FDNAMES. Addresses that --listen would refuse are
 * refused later.
 */
#include "ws/serve/supervisor.h"

#include "ws/log.h"
#include "ws/net/local_socket.h"
#include "ws/serve/fail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FIRST_SOCKET 3u /* SD_LISTEN_FDS_START */

/* Parse a whole number without sign or blanks. Returns 0 if it is invalid or too large. */
static unsigned long parse_count(const char *text)
{
	char *end;
	if (!text || text[0] < '0' || text[0] > '9')
		return 0;
	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	return *end || errno ? 0 : n;
}

static int get_option(int fd, int option)
{
	int value = -1;
	socklen_t length = sizeof value;
	return getsockopt(fd, SOL_SOCKET, option, &value, &length) < 0 ? -1 : value;
}

/* Whether path is the command line's socket in runtime_dir, even if its directory has another name. */
static bool is_command(const char *path, const char *runtime_dir)
{
	char dir[sizeof((struct sockaddr_un *)0)->sun_path + 1];
	struct stat there, ours;
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path || strcmp(slash + 1, LOCAL_SOCKET_NAME) != 0)
		return false;
	snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
	return stat(dir, &there) == 0 && stat(runtime_dir, &ours) == 0 &&
		there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

/* Get a socket's address in the form of --listen. Returns false if that has no such form. */
static bool name_socket(int fd, const char *runtime_dir, struct server_inherited *ret)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un local;
	} a = {0};
	char host[INET6_ADDRSTRLEN];
	socklen_t length = sizeof a;
	if (getsockname(fd, &a.any, &length) < 0)
		return false;
	if (a.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &a.v4.sin_addr, host, sizeof host);
		snprintf(ret->address, sizeof ret->address, "%s:%u", host, ntohs(a.v4.sin_port));
		return true;
	}
	if (a.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a.v6.sin6_addr, host, sizeof host);
		snprintf(ret->address, sizeof ret->address, "[%s]:%u", host, ntohs(a.v6.sin6_port));
		return true;
	}
	if (a.any.sa_family != AF_UNIX || a.local.sun_path[0] != '/')
		return false;
	/* A path of maximum length has no terminator. */
	snprintf(ret->address, sizeof ret->address, "unix:%.*s", (int)sizeof a.local.sun_path,
		a.local.sun_path);
	ret->command = is_command(ret->address + strlen("unix:"), runtime_dir);
	return true;
}

static int refuse(int fd, const char *why)
{
	char what[32];
	snprintf(what, sizeof what, "LISTEN_FDS: %d", fd);
	return serve_fail(what, why);
}

static int acquire_one(int fd, const char *runtime_dir, struct supervisor_sockets *s)
{
	struct server_inherited *i = &s->items[s->count];
	int flags = fcntl(fd, F_GETFL);
	*i = (struct server_inherited){.fd = fd};
	if (flags < 0)
		return refuse(fd, strerror(errno));
	if (get_option(fd, SO_TYPE) != SOCK_STREAM)
		return refuse(fd, "is not a stream socket");
	if (get_option(fd, SO_ACCEPTCONN) != 1)
		return refuse(fd, "is not listening: set Accept=no");
	if (!name_socket(fd, runtime_dir, i))
		return refuse(fd, "has an address that --listen does not support");
	if (i->command && s->command > 0)
		return refuse(fd, "the command line's socket is given twice");
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return refuse(fd, strerror(errno));
	s->command += i->command;
	s->count++;
	return 0;
}

static int acquire_all(unsigned long count, const char *runtime_dir, struct supervisor_sockets *s)
{
	if (count == 0 || count > SUPERVISOR_SOCKETS_MAX)
		return serve_fail("LISTEN_FDS", "must be a number from 1 to 16");
	for (unsigned long n = 0; n < count; n++)
		if (acquire_one((int)(FIRST_SOCKET + n), runtime_dir, s) < 0)
			return -1;
	return 0;
}

int supervisor_acquire_sockets(const char *runtime_dir, struct supervisor_sockets *ret)
{
	const char *count = getenv("LISTEN_FDS");
	*ret = (struct supervisor_sockets){0};
	int rc = 0;
	if (count && parse_count(getenv("LISTEN_PID")) == (unsigned long)getpid())
		rc = acquire_all(parse_count(count), runtime_dir, ret);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_PIDFDID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return rc;
}

/* Returns 0 or a negative errno. */
static int send_to(const char *path, const char *words)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(path);
	if ((path[0] != '/' && path[0] != '@') || length < 2 || length >= sizeof address.sun_path)
		return -EINVAL;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0'; /* an abstract name */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	ssize_t n = sendto(
		fd, words, strlen(words), MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
	int rc = n < 0 ? -errno : 0;
	close(fd);
	return rc;
}

void supervisor_notify(const char *words)
{
	const char *path = getenv("NOTIFY_SOCKET");
	if (!path || !*path)
		return;
	int rc = send_to(path, words);
	if (rc < 0)
		log_write(LOG_WARN, "main", "cannot notify the service manager", "what", words,
			"error", strerror(-rc), NULL);
}

void supervisor_notify_reloading(void)
{
	char words[64];
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(words, sizeof words, "RELOADING=1\nMONOTONIC_USEC=%lld",
		(long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	supervisor_notify(words);
}
