/*
 * The way to the server: --url, --socket, $RINGSIDE_SOCKET, or the default runtime directory. Whether somebody is there
 * shows with the first request; what makes no sense is complained of before.
 */
#include "ws/client/connect/connection.h"

#include "ws/net/local_socket.h"

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
static void find_socket(struct cli *cli)
{
	char dir[PATH_MAX], plain[64];
	local_socket_default_dir(dir);
	snprintf(plain, sizeof plain, "/tmp/ringside-%u", (unsigned)geteuid());
	snprintf(cli->path, sizeof cli->path, "%s/" LOCAL_SOCKET_NAME, dir);
	if (access(cli->path, F_OK) == 0 || !is_ours(plain))
		return;
	char other[sizeof plain + sizeof LOCAL_SOCKET_NAME];
	snprintf(other, sizeof other, "%s/" LOCAL_SOCKET_NAME, plain);
	if (access(other, F_OK) == 0)
		snprintf(cli->path, sizeof cli->path, "%s", other);
}

int connection_probe(const struct cli *cli)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int dir_fd, rc = 0;
	if (!cli->target.socket)
		return 0;
	rc = local_socket_address(cli->path, address.sun_path, &dir_fd);
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

static int choose_socket(struct cli *cli)
{
	const char *given = cli->socket ? cli->socket : getenv("RINGSIDE_SOCKET");
	if (given && *given) {
		if (strlen(given) >= sizeof cli->path)
			return cli_usage(cli, "the socket's path is too long");
		snprintf(cli->path, sizeof cli->path, "%s", given);
	} else {
		find_socket(cli);
		char *slash = strrchr(cli->path, '/');
		*slash = '\0';
		bool strange = access(cli->path, F_OK) == 0 && !is_ours(cli->path);
		if (strange)
			return cli_fail(cli, "%s is not a directory of this user", cli->path);
		*slash = '/';
	}
	cli->target.socket = cli->path;
	int rc = connection_probe(cli);
	if (rc == 0)
		return 0;
	cli->status = CLI_NO_SERVER;
	if (rc == -ENOENT || rc == -ECONNREFUSED || rc == -ENOTDIR)
		return cli_fail(cli, "no server is running at %s", cli->path);
	return cli_fail(cli, "%s: %s", cli->path, strerror(-rc));
}

/* http://HOST[:PORT][/…] */
static int take_url(struct cli *cli)
{
	char *end;
	const char *p = cli->url;
	cli->target.tls = strncmp(p, "https://", 8) == 0;
	if (!cli->target.tls && strncmp(p, "http://", 7) != 0)
		return cli_usage(cli, "%s is no http:// or https:// address", cli->url);
	p += cli->target.tls ? 8 : 7;
	cli->target.port = cli->target.tls ? 443 : 80;
	bool bracketed = *p == '[';
	size_t length = bracketed ? strcspn(++p, "]") : strcspn(p, ":/?#");
	if (length == 0 || length >= sizeof cli->host)
		return cli_usage(cli, "%s names no host", cli->url);
	snprintf(cli->host, sizeof cli->host, "%.*s", (int)length, p);
	p += length + (bracketed && p[length] == ']' ? 1 : 0);
	if (*p == ':') {
		cli->target.port = (unsigned)strtoul(p + 1, &end, 10);
		p = end;
	}
	if (cli->target.port == 0 || cli->target.port > 65535 || p[strspn(p, "/")] != '\0')
		return cli_usage(cli, "%s: an address has a host and a port", cli->url);
	cli->target.host = cli->host;
	return 0;
}

static int take_token(struct cli *cli)
{
	const char *given = getenv("RINGSIDE_TOKEN");
	if (cli->token_file) {
		FILE *f = fopen(cli->token_file, "re");
		if (!f || !fgets(cli->token, sizeof cli->token, f)) {
			int error = errno;
			if (f)
				fclose(f);
			return cli_fail(cli, "%s: %s", cli->token_file,
				f ? "there is no token in it" : strerror(error));
		}
		fclose(f);
		cli->token[strcspn(cli->token, "\r\n")] = '\0';
	} else if (given && cli->url) {
		snprintf(cli->token, sizeof cli->token, "%s", given);
	}
	cli->target.token = cli->token[0] ? cli->token : NULL;
	return 0;
}

int connection_open(struct cli *cli)
{
	int rc = take_token(cli);
	if (rc == 0)
		rc = cli->url ? take_url(cli) : choose_socket(cli);
	if (rc != 0)
		return rc;
	rc = uv_loop_init(&cli->loop);
	if (rc < 0)
		return cli_fail(cli, "%s", strerror(-rc));
	cli->loop_open = true;
	rc = client_open(&cli->loop, &cli->target, &cli->client);
	return rc < 0 ? cli_fail(cli, "cannot set up libwebsockets: %s", strerror(-rc)) : 0;
}

void connection_close(struct cli *cli)
{
	client_close(cli->client);
	cli->client = NULL;
	if (cli->loop_open)
		uv_loop_close(&cli->loop);
	cli->loop_open = false;
}
