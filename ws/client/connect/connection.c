/*
 * The server is the one of --url, --socket, $RINGSIDE_SOCKET, or the default runtime directory,
 * where some commands start one.
 */
#include "ws/client/connect/connection.h"

#include "ws/client/connect/start.h"
#include "ws/net/local_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Another user could serve a socket of their own in such a directory. */
bool connection_is_private_dir(const char *dir)
{
	struct stat st;
	return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
		(st.st_uid == geteuid() || st.st_uid == 0) && (st.st_mode & 022) == 0;
}

/* Connect to the socket. Returns a descriptor or a negative errno. */
static int connect_socket(const struct cli *cli)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int dir_fd;
	int rc = local_socket_address(cli->path, address.sun_path, &dir_fd);
	if (rc < 0)
		return rc;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
		rc = -errno;
	if (rc < 0 && fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	return rc < 0 ? rc : fd;
}

int connection_probe(const struct cli *cli)
{
	if (!cli->target.socket)
		return 0;
	int fd = connect_socket(cli);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int connection_peer(const struct cli *cli, pid_t *ret_pid)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	int fd = connect_socket(cli), rc = fd < 0 ? fd : 0;
	if (rc == 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	if (rc == 0 && peer.pid <= 0)
		rc = -ESRCH; /* in another pid namespace */
	if (rc == 0)
		*ret_pid = peer.pid;
	return rc;
}

static int choose_socket(struct cli *cli)
{
	const char *given = cli->socket ? cli->socket : getenv("RINGSIDE_SOCKET");
	cli->named = given && *given;
	if (cli->named) {
		if (strlen(given) >= sizeof cli->path)
			return cli_usage(cli, "the socket's path is too long: %.200s", given);
		snprintf(cli->path, sizeof cli->path, "%s", given);
	} else {
		char dir[PATH_MAX];
		cli->strange = local_socket_find_dir(dir);
		if (access(dir, F_OK) == 0 && !connection_is_private_dir(dir))
			return cli_fail(cli, "%s is not a directory of this user", dir);
		snprintf(cli->path, sizeof cli->path, "%s/" LOCAL_SOCKET_NAME, dir);
	}
	cli->target.socket = cli->path;
	return 0;
}

/* Start a server in the default directory, even if another one was looked at before. */
static int start_default(struct cli *cli)
{
	char dir[PATH_MAX];
	(void)local_socket_default_dir(dir); /* the server reports an error here itself */
	snprintf(cli->path, sizeof cli->path, "%s/" LOCAL_SOCKET_NAME, dir);
	return start_server(cli);
}

/* Check that a server listens; if none does and the command starts one, start it. */
static int check_socket(struct cli *cli)
{
	int rc = connection_probe(cli);
	bool none = rc == -ENOENT || rc == -ECONNREFUSED || rc == -ENOTDIR;
	if (rc == 0)
		return 0;
	cli->status = CLI_NO_SERVER;
	if (none && cli->starts && !cli->no_start && !cli->named) {
		rc = start_default(cli);
		cli->status = rc;
		return rc;
	}
	if (cli->strange && rc == -ENOENT)
		return cli_fail(cli, "no server is running at %s (XDG_RUNTIME_DIR %s)", cli->path,
			cli->strange);
	if (none && cli->named && !cli->socket && getenv("RINGSIDE_SESSION"))
		return cli_fail(cli,
			"no server is running at %s; or it cannot be seen from in here (--isolate)",
			cli->path);
	if (none)
		return cli_fail(cli, "no server is running at %s", cli->path);
	return cli_fail(cli, "%s: %s", cli->path, strerror(-rc));
}

/* Report a wrong URL, without the part before an @, which may be a password. */
static int report_url(struct cli *cli, const char *why)
{
	const char *url = cli->url, *at = strrchr(url, '@'), *slashes = strstr(url, "//");
	bool has_password = at && slashes && slashes < at;
	return cli_usage(cli, "%.*s%s%s%s", has_password ? (int)(slashes + 2 - url) : 0, url,
		has_password ? "***" : "", has_password ? at : url, why);
}

/* Parse the port of a URL, behind the colon. Returns its end, or NULL if it is not one. */
static const char *parse_port(const char *text, unsigned *ret_port)
{
	char digits[8];
	uint64_t port;
	size_t length = strspn(text, "0123456789");
	if (length >= sizeof digits)
		return NULL;
	snprintf(digits, sizeof digits, "%.*s", (int)length, text);
	if (!cli_parse_number(digits, 65535, &port) || port == 0)
		return NULL;
	*ret_port = (unsigned)port;
	return text + length;
}

/* Parse http://HOST[:PORT][/PATH]. */
static int parse_url(struct cli *cli)
{
	const char *p = cli->url;
	cli->target.tls = strncmp(p, "https://", 8) == 0;
	if (!cli->target.tls && strncmp(p, "http://", 7) != 0)
		return report_url(cli, " is not an http:// or https:// URL");
	p += cli->target.tls ? 8 : 7;
	cli->target.port = cli->target.tls ? 443 : 80;
	bool bracketed = *p == '[';
	size_t length = bracketed ? strcspn(++p, "]") : strcspn(p, ":/?#");
	if (length == 0 || length >= sizeof cli->host)
		return report_url(cli, " names no host");
	snprintf(cli->host, sizeof cli->host, "%.*s", (int)length, p);
	p += length + (bracketed && p[length] == ']' ? 1 : 0);
	if (*p == ':')
		p = parse_port(p + 1, &cli->target.port);
	if (!p || (*p && *p != '/') || strchr(cli->host, '@'))
		return report_url(cli, ": an address has a host and a port");
	for (length = strlen(p); length > 0 && p[length - 1] == '/';)
		length--;
	if (length >= sizeof cli->prefix || p[strcspn(p, "?# \\")] != '\0')
		return report_url(cli, ": only a path may follow the host, without ? and #");
	snprintf(cli->prefix, sizeof cli->prefix, "%.*s", (int)length, p);
	cli->target.prefix = length > 0 ? cli->prefix : NULL;
	cli->target.host = cli->host;
	return 0;
}

/* source: of the token, for the error. */
static int set_token(struct cli *cli, const char *token, const char *source)
{
	if (strlen(token) >= sizeof cli->token)
		return cli_fail(cli, "%s: the token has more than %zu bytes", source,
			sizeof cli->token - 1);
	snprintf(cli->token, sizeof cli->token, "%s", token);
	return 0;
}

static int read_token_file(struct cli *cli)
{
	char line[CLI_TOKEN_MAX + 2]; /* CR LF or one byte too many, and NUL */
	FILE *f = fopen(cli->token_file, "re");
	bool found = f && fgets(line, sizeof line, f);
	int error = errno;
	if (f)
		fclose(f);
	if (!found)
		return cli_fail(cli, "%s: %s", cli->token_file,
			f ? "the file contains no token" : strerror(error));
	line[strcspn(line, "\r\n")] = '\0';
	return set_token(cli, line, cli->token_file);
}

static int find_token(struct cli *cli)
{
	const char *given = getenv("RINGSIDE_TOKEN");
	int rc = 0;
	/* A token of a link is set already. */
	if (!cli->token[0] && cli->token_file)
		rc = read_token_file(cli);
	else if (!cli->token[0] && given && cli->url)
		rc = set_token(cli, given, "RINGSIDE_TOKEN");
	cli->target.token = cli->token[0] ? cli->token : NULL;
	return rc;
}

int connection_open(struct cli *cli)
{
	cli_apply_config(cli);
	int rc = find_token(cli);
	cli->starts = cli->starts || cli->command->starts;
	if (rc == 0)
		rc = cli->url ? parse_url(cli) : choose_socket(cli);
	if (rc == 0 && !cli->url)
		rc = check_socket(cli);
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
