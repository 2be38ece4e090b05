#include "ws/client/connect/connection.h"

#include "ws/net/rendezvous.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A directory that others could have prepared is nobody to talk to. */
static bool is_ours(const char *dir)
{
	struct stat st;
	return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
		(st.st_uid == geteuid() || st.st_uid == 0) && (st.st_mode & 022) == 0;
}

/* The default: where `ringside serve` would be; it may have been started without XDG_RUNTIME_DIR, or with. */
static void find_socket(struct line *l)
{
	char dir[PATH_MAX], plain[64];
	rendezvous_default_dir(dir);
	snprintf(plain, sizeof plain, "/tmp/ringside-%u", (unsigned)geteuid());
	snprintf(l->path, sizeof l->path, "%s/" RENDEZVOUS_SOCKET, dir);
	if (access(l->path, F_OK) == 0 || !is_ours(plain))
		return;
	char other[sizeof plain + sizeof RENDEZVOUS_SOCKET];
	snprintf(other, sizeof other, "%s/" RENDEZVOUS_SOCKET, plain);
	if (access(other, F_OK) == 0)
		snprintf(l->path, sizeof l->path, "%s", other);
}

int connection_probe(const struct line *l)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int dir_fd, rc = 0;
	if (!l->target.socket)
		return 0;
	rc = rendezvous_name(l->path, address.sun_path, &dir_fd);
	if (rc < 0)
		return rc;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	return rc;
}

static int choose_socket(struct line *l)
{
	const char *given = l->socket ? l->socket : getenv("RINGSIDE_SOCKET");
	if (given && *given) {
		if (strlen(given) >= sizeof l->path)
			return line_usage(l, "the socket's path is too long");
		snprintf(l->path, sizeof l->path, "%s", given);
	} else {
		find_socket(l);
		char *slash = strrchr(l->path, '/');
		*slash = '\0';
		bool strange = access(l->path, F_OK) == 0 && !is_ours(l->path);
		if (strange)
			return line_fail(l, "%s is not a directory of this user", l->path);
		*slash = '/';
	}
	l->target.socket = l->path;
	int rc = connection_probe(l);
	if (rc == 0)
		return 0;
	l->status = LINE_NO_SERVER;
	if (rc == -ENOENT || rc == -ECONNREFUSED || rc == -ENOTDIR)
		return line_fail(l, "no server is running at %s", l->path);
	return line_fail(l, "%s: %s", l->path, strerror(-rc));
}

/* http://HOST[:PORT][/…] */
static int take_url(struct line *l)
{
	char *end;
	const char *p = l->url;
	l->target.tls = strncmp(p, "https://", 8) == 0;
	if (!l->target.tls && strncmp(p, "http://", 7) != 0)
		return line_usage(l, "%s is no http:// or https:// address", l->url);
	p += l->target.tls ? 8 : 7;
	l->target.port = l->target.tls ? 443 : 80;
	bool bracketed = *p == '[';
	size_t length = bracketed ? strcspn(++p, "]") : strcspn(p, ":/?#");
	if (length == 0 || length >= sizeof l->host)
		return line_usage(l, "%s names no host", l->url);
	snprintf(l->host, sizeof l->host, "%.*s", (int)length, p);
	p += length + (bracketed && p[length] == ']' ? 1 : 0);
	if (*p == ':') {
		l->target.port = (unsigned)strtoul(p + 1, &end, 10);
		p = end;
	}
	if (l->target.port == 0 || l->target.port > 65535 || p[strspn(p, "/")] != '\0')
		return line_usage(l, "%s: an address has a host and a port", l->url);
	l->target.host = l->host;
	return 0;
}

static int take_token(struct line *l)
{
	const char *given = getenv("RINGSIDE_TOKEN");
	if (l->token_file) {
		FILE *f = fopen(l->token_file, "re");
		if (!f || !fgets(l->token, sizeof l->token, f)) {
			int error = errno;
			if (f)
				fclose(f);
			return line_fail(l, "%s: %s", l->token_file,
				f ? "there is no token in it" : strerror(error));
		}
		fclose(f);
		l->token[strcspn(l->token, "\r\n")] = '\0';
	} else if (given && l->url) {
		snprintf(l->token, sizeof l->token, "%s", given);
	}
	l->target.token = l->token[0] ? l->token : NULL;
	return 0;
}

int connection_open(struct line *l)
{
	int rc = take_token(l);
	if (rc == 0)
		rc = l->url ? take_url(l) : choose_socket(l);
	if (rc != 0)
		return rc;
	rc = uv_loop_init(&l->loop);
	if (rc < 0)
		return line_fail(l, "%s", strerror(-rc));
	l->loop_open = true;
	rc = client_open(&l->loop, &l->target, &l->client);
	return rc < 0 ? line_fail(l, "cannot set up libwebsockets: %s", strerror(-rc)) : 0;
}

void connection_close(struct line *l)
{
	client_close(l->client);
	l->client = NULL;
	if (l->loop_open)
		uv_loop_close(&l->loop);
	l->loop_open = false;
}
