/*
 * Listening sockets. At a lack of descriptors new connections are accepted and closed at once: otherwise they would stay in the
 * backlog, and the loop would be woken up for ever. With too many connections a few more are answered with 503, see conn.busy.
 */
#include "ws/log.h"
#include "ws/net/internal.h"
#include "ws/net/conn.h"
#include "ws/net/local_socket.h"
#include "ws/net/peer_user.h"
#include "ws/preview/previews.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 512
#define ACCEPTS_PER_TURN 32
#define RELISTEN_MS 100u
#define OWNER_RESERVE 8u /* connections of the owner beyond the limit */

bool server_address_is_local(const char *address)
{
	return strncmp(address, "unix:", 5) == 0 || strncmp(address, "127.", 4) == 0 ||
		strncmp(address, "localhost:", 10) == 0 || strncmp(address, "[::1]:", 6) == 0;
}

static enum conn_trust classify_peer(const struct listener *l, int fd)
{
	const struct server *s = l->server;
	bool matters = l->command || s->options.auth->open;
	bool ours = matters && peer_user_is_trusted(s->peer_user, fd);
	return l->command && ours                ? CONN_TRUST_OWNER
		: s->options.auth->open && !ours ? CONN_TRUST_FOREIGN
						 : CONN_TRUST_NONE;
}

static void admit_connection(struct listener *l, int fd)
{
	struct server *s = l->server;
	int one = 1, size = SERVER_SNDBUF;
	enum conn_trust by = classify_peer(l, fd);
	unsigned most = s->options.max_connections + (by == CONN_TRUST_OWNER ? OWNER_RESERVE : 0);
	bool full = s->connections + conns_count(s) >= most;
	s->options.metrics->connections_refused += s->stopping || full;
	s->options.metrics->connections_accepted += !s->stopping && !full;
	if (s->stopping) {
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	if (!l->unix_socket) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	}
	conn_accept(s, l, by, full, fd);
}

static void on_relisten(uv_timer_t *timer);

/* No descriptor is left: accept and close one connection by means of the reserve, and listen again later. */
static void reject_connection(struct listener *l)
{
	struct server *s = l->server;
	s->options.metrics->connections_refused++;
	if (s->reserve_fd >= 0) {
		close(s->reserve_fd);
		int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			close(fd);
		s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	for (size_t i = 0; i < s->listeners_count; i++)
		uv_poll_stop(&s->listeners[i].poll);
	uv_timer_start(&s->relisten, on_relisten, RELISTEN_MS, 0);
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct listener *l = poll->data;
	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			admit_connection(l, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			reject_connection(l);
		return;
	}
}

static void on_relisten(uv_timer_t *timer)
{
	struct server *s = timer->data;
	if (s->reserve_fd < 0)
		s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < s->listeners_count; i++)
		if (s->listeners[i].open)
			uv_poll_start(&s->listeners[i].poll, UV_READABLE, on_connection);
}

/* Split "HOST:PORT" or "[HOST]:PORT". */
static int parse_address(struct listener *l, const char *text)
{
	const char *colon = strrchr(text, ':');
	char *end;
	if (!colon || colon == text)
		return -EINVAL;
	bool bracketed = text[0] == '[' && colon[-1] == ']';
	size_t length = (size_t)(colon - text) - (bracketed ? 2 : 0);
	unsigned long port = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end || port > 65535 || length == 0 ||
		length >= sizeof l->address)
		return -EINVAL;
	memcpy(l->address, text + (bracketed ? 1 : 0), length);
	l->address[length] = '\0';
	if (strcmp(l->address, "localhost") == 0)
		snprintf(l->address, sizeof l->address, "127.0.0.1");
	l->port = (unsigned)port;
	return 0;
}

static void name_tcp(struct listener *l)
{
	bool any = strcmp(l->address, "0.0.0.0") == 0 || strcmp(l->address, "::") == 0;
	bool bracketed = strchr(l->address, ':') && !any;
	snprintf(l->url, sizeof l->url, "%s://%s%s%s:%u/",
		l->server->options.tls_cert ? "https" : "http", bracketed ? "[" : "",
		any ? "127.0.0.1" : l->address, bracketed ? "]" : "", l->port);
}

static int bind_tcp(struct listener *l, const char *text)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof address;
	int one = 1, rc = parse_address(l, text);
	if (rc < 0)
		return rc;
	bool v6 = strchr(l->address, ':') != NULL;
	rc = v6 ? uv_ip6_addr(l->address, (int)l->port, (struct sockaddr_in6 *)&address)
		: uv_ip4_addr(l->address, (int)l->port, (struct sockaddr_in *)&address);
	if (rc < 0)
		return rc;
	l->fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return -errno;
	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	socklen_t size = v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	if (bind(l->fd, (const struct sockaddr *)&address, size) < 0 ||
		getsockname(l->fd, (struct sockaddr *)&address, &length) < 0)
		return -errno;
	l->port = ntohs(v6 ? ((const struct sockaddr_in6 *)&address)->sin6_port
			   : ((const struct sockaddr_in *)&address)->sin_port);
	name_tcp(l);
	return 0;
}

/* Whether the path is a unix socket on which no process listens. */
static bool is_stale(const struct sockaddr_un *address)
{
	struct stat st;
	if (lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	bool refused = connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 &&
		errno == ECONNREFUSED;
	close(fd);
	return refused;
}

static void name_unix(struct listener *l, const char *path)
{
	l->unix_socket = true;
	snprintf(l->address, sizeof l->address, "%s", path);
	snprintf(l->url, sizeof l->url, "unix:%s", path);
}

static int bind_unix(struct listener *l, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	name_unix(l, path);
	if (strlen(path) >= sizeof address.sun_path || !*path)
		return -ENAMETOOLONG;
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return -errno;
	/* The runtime directory is locked, so the command line's socket in it is a dead server's. */
	if (l->command || is_stale(&address))
		unlink(path);
	mode_t mask = umask(0177);
	int rc = bind(l->fd, (const struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
	umask(mask);
	return rc;
}

/* Listen on a bound socket. rc: error of binding it, which is logged. */
static int start_listener(struct listener *l, const char *name, int rc)
{
	struct server *s = l->server;
	if (rc == 0 && listen(l->fd, BACKLOG) < 0)
		rc = -errno;
	if (rc == 0)
		rc = uv_poll_init(s->options.loop, &l->poll, l->fd);
	if (rc < 0) {
		log_write(LOG_ERROR, "listen", "cannot listen", "address", name, "error",
			strerror(-rc), NULL);
		if (l->fd >= 0)
			close(l->fd);
		if (l->dir_fd >= 0)
			close(l->dir_fd);
		return rc;
	}
	l->poll.data = l;
	l->open = true;
	s->listeners_count++;
	if (!l->unix_socket)
		origin_add_listener(&s->origins, l->address, l->port);
	if (!l->unix_socket && s->options.previews)
		previews_add_own(s->options.previews, l->port);
	return uv_poll_start(&l->poll, UV_READABLE, on_connection);
}

static struct listener *next_listener(struct server *s)
{
	struct listener *l = &s->listeners[s->listeners_count];
	*l = (struct listener){.server = s, .fd = -1, .dir_fd = -1};
	return l;
}

static int open_one(struct server *s, const char *text)
{
	struct listener *l = next_listener(s);
	bool local = strncmp(text, "unix:", 5) == 0;
	return start_listener(l, text, local ? bind_unix(l, text + 5) : bind_tcp(l, text));
}

/* Name the command line's socket. */
static int name_command(struct listener *l)
{
	char path[PATH_MAX], name[LOCAL_SOCKET_PATH_MAX];
	snprintf(path, sizeof path, "%s/" LOCAL_SOCKET_NAME, l->server->options.runtime_dir);
	int rc = local_socket_address(path, name, &l->dir_fd);
	if (rc == 0)
		name_unix(l, name);
	return rc;
}

/* Use an inherited socket, which has been checked. Another listen() changes only its backlog. */
static int open_inherited(struct server *s, const struct server_inherited *i)
{
	struct listener *l = next_listener(s);
	bool local = strncmp(i->address, "unix:", 5) == 0;
	int rc = 0;
	l->fd = i->fd;
	l->inherited = !i->ours;
	l->command = i->command;
	if (i->command && i->ours)
		rc = name_command(l);
	else if (local)
		name_unix(l, i->address + 5);
	else
		rc = parse_address(l, i->address);
	if (rc == 0 && !local)
		name_tcp(l);
	return start_listener(l, i->address, rc);
}

/* Open the command line's socket. Processes of our user and of root are the owner there. */
static int open_command(struct server *s)
{
	struct listener *l = next_listener(s);
	char path[PATH_MAX], name[LOCAL_SOCKET_PATH_MAX];
	l->command = true;
	snprintf(path, sizeof path, "%s/" LOCAL_SOCKET_NAME, s->options.runtime_dir);
	int rc = local_socket_address(path, name, &l->dir_fd);
	return start_listener(l, path, rc < 0 ? rc : bind_unix(l, name));
}

int listen_open(struct server *s)
{
	s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (s->options.auth->open)
		s->peer_user = peer_user_open();
	uv_timer_init(s->options.loop, &s->relisten);
	s->relisten.data = s;
	bool commanded = false;
	for (size_t i = 0; i < s->options.inherited_count; i++) {
		int rc = open_inherited(s, &s->options.inherited[i]);
		if (rc < 0)
			return rc;
		commanded = commanded || s->options.inherited[i].command;
	}
	for (size_t i = 0; i < s->options.listen_count; i++) {
		int rc = open_one(s, s->options.listen[i]);
		if (rc < 0)
			return rc;
	}
	return commanded ? 0 : open_command(s);
}

void listen_hold(struct server *s)
{
	uv_timer_stop(&s->relisten);
	for (size_t i = 0; i < s->listeners_count; i++)
		if (s->listeners[i].open)
			uv_poll_stop(&s->listeners[i].poll);
}

void listen_resume(struct server *s)
{
	on_relisten(&s->relisten);
}

void listen_leave(struct server *s)
{
	for (size_t i = 0; i < s->listeners_count; i++) {
		struct listener *l = &s->listeners[i];
		if (l->open)
			uv_close((uv_handle_t *)&l->poll, NULL);
		l->open = false;
		if (l->dir_fd >= 0)
			close(l->dir_fd);
	}
	uv_timer_stop(&s->relisten);
}

void listen_close(struct server *s)
{
	for (size_t i = 0; i < s->listeners_count; i++) {
		struct listener *l = &s->listeners[i];
		if (!l->open)
			continue;
		l->open = false;
		uv_close((uv_handle_t *)&l->poll, NULL);
		close(l->fd);
		if (l->unix_socket && !l->inherited)
			unlink(l->address);
		if (l->dir_fd >= 0)
			close(l->dir_fd);
	}
	uv_timer_stop(&s->relisten);
}
