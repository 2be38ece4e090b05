#include "path.h"

#include "process.h"
#include "stats.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE 40 /* keys before the line is erased */
#define KILL_LINE "\x15"
#define WAIT_MS 10000
#define DRAIN_MS 20
#define SETTLE_US 20000

static uint8_t buffer[CLIENT_READ];

static void wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	errno = 0;
	if (poll(&p, 1, WAIT_MS) <= 0)
		die("no output");
}

struct path path_bare(const char *script)
{
	struct path p = {0};
	p.pid = process_on_pty(script, &p.fd);
	process_expect(p.fd, "READY");
	return p;
}

struct path path_relay(const struct relay *r, const char *script)
{
	const char *slash = strrchr(script, '/');
	struct client *c = client_open_plain(r->port, slash ? slash + 1 : script, "READY");
	client_wait(c);
	return (struct path){.fd = c->fd, .client = c};
}

struct path path_session(const struct target *t, const char *id, const char *script)
{
	struct path p = {.target = t, .pid = process_parent(target_session(t, id, script))};
	snprintf(p.session, sizeof p.session, "%s", id);
	p.client = client_open(t->port, id, "", "READY");
	client_wait(p.client);
	p.fd = p.client->fd;
	return p;
}

struct path path_viewer(const struct target *t, const char *id, const char *query)
{
	struct client *c = client_open(t->port, id, query, NULL);
	client_wait(c);
	return (struct path){.fd = c->fd, .client = c};
}

void path_close(struct path *p)
{
	if (p->client)
		client_close(p->client);
	else
		close(p->fd);
	if (p->target)
		target_delete(p->target, p->session);
	else if (p->pid > 0)
		process_kill(p->pid);
	*p = (struct path){.fd = -1};
}

void path_put(const struct path *p, const char *keys)
{
	size_t length = strlen(keys);
	if (p->client)
		client_type(p->client, keys, length);
	else if (write(p->fd, keys, length) != (ssize_t)length)
		die("write");
}

size_t path_read(struct path *p)
{
	if (p->client) {
		uint64_t before = p->client->bytes;
		size_t n = client_read(p->client, buffer, sizeof buffer);
		p->bytes += p->client->bytes - before;
		p->ended = p->client->exited;
		errno = 0;
		return n;
	}
	ssize_t n = read(p->fd, buffer, sizeof buffer);
	if (n < 0 && errno != EAGAIN &&
		errno != EIO) /* EIO: the last process with the terminal has gone */
		die("read");
	p->ended = n == 0 || (n < 0 && errno == EIO);
	errno = 0;
	p->bytes += n > 0 ? (uint64_t)n : 0;
	return n > 0 ? (size_t)n : 0;
}

void path_drain(struct path *p, int quiet_ms)
{
	struct pollfd wait = {.fd = p->fd, .events = POLLIN};
	while (!p->ended && poll(&wait, 1, quiet_ms) > 0)
		path_read(p);
	errno = 0;
}

void path_settle(struct path *p)
{
	fcntl(p->fd, F_SETFL, fcntl(p->fd, F_GETFL) | O_NONBLOCK);
	usleep(SETTLE_US);
	while (path_read(p) > 0)
		;
	p->bytes = 0;
	if (p->client)
		p->client->bytes = p->client->skips = 0;
}

/* Wait until the output ends in this byte. */
static void await(struct path *p, uint8_t last)
{
	uint8_t got = 0;
	do {
		uint64_t before = p->bytes;
		while (p->bytes == before) {
			wait_readable(p->fd);
			path_read(p);
		}
		got = p->client ? p->client->last : buffer[(p->bytes - before - 1)];
	} while (got != last);
}

void path_echo(struct path *p, unsigned pause_us, double *us, unsigned count)
{
	path_drain(p, DRAIN_MS);
	for (unsigned i = 0; i < count; i++) {
		char key[2] = {(char)('a' + i % 26), '\0'};
		if (i % LINE == LINE - 1) {
			path_put(p, KILL_LINE);
			path_drain(p, DRAIN_MS);
		}
		if (pause_us > 0)
			usleep(pause_us);
		uint64_t start = stats_now_ns();
		path_put(p, key);
		await(p, (uint8_t)key[0]);
		us[i] = stats_us_since(start);
	}
	path_put(p, KILL_LINE);
}
