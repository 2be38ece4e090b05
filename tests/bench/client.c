#include "client.h"

#include "process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS 5000
#define OPCODE_TEXT 1
#define OPCODE_BINARY 2
#define OPCODE_PING 9

int client_connect(unsigned port)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

void client_buffer_little(const struct client *c)
{
	int size = 16384;
	setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

/* The number after a field's name, or 0. */
static uint64_t number(const char *text, const char *field)
{
	const char *at = strstr(text, field);
	return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

/* Handle a complete text frame. */
static void handle_text(struct client *c)
{
	c->text[c->text_length] = '\0';
	if (strstr(c->text, "\"type\":\"ready\""))
		c->ready = true;
	else if (strstr(c->text, "\"type\":\"exit\"")) {
		c->exited = true;
		c->exit_offset = number(c->text, "\"offset\":");
	} else if (strstr(c->text, "\"type\":\"sync\""))
		c->offset = number(c->text, "\"offset\":");
	else if (strstr(c->text, "\"type\":\"snapshot\"")) {
		c->snapshot_left = number(c->text, "\"bytes\":");
		c->skips += strstr(c->text, "\"reason\":\"lag\"") != NULL;
	}
	c->text_length = 0;
}

/* A naive search is enough for these texts, which do not overlap themselves. */
static void look_for_wanted(struct client *c, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && c->wanted[c->wanted_found]; i++) {
		if (p[i] != (uint8_t)c->wanted[c->wanted_found])
			c->wanted_found = 0;
		if (p[i] == (uint8_t)c->wanted[c->wanted_found])
			c->wanted_found++;
	}
}

static void handle_payload(struct client *c, const uint8_t *p, size_t n)
{
	if (c->binary) {
		if (c->wanted)
			look_for_wanted(c, p, n);
		c->last = p[n - 1];
		uint64_t drawn = n < c->snapshot_left ? n : c->snapshot_left;
		c->snapshot_left -= drawn;
		c->snapshot_bytes += drawn;
		c->bytes += n - drawn;
		c->offset += n - drawn;
	} else {
		if (c->text_length + n >= sizeof c->text)
			die("text frame");
		memcpy(c->text + c->text_length, p, n);
		c->text_length += n;
	}
	c->left -= n;
}

/* Begin a frame when its header is complete. */
static void handle_header(struct client *c)
{
	unsigned opcode = c->header[0] & 15, short_length = c->header[1];
	unsigned need = short_length == 127 ? 10 : short_length == 126 ? 4 : 2;
	if (c->header_length < need)
		return;
	c->left = need == 2 ? short_length : 0;
	for (unsigned i = 2; i < need; i++)
		c->left = c->left << 8 | c->header[i];
	c->header_length = 0;
	c->in_frame = true;
	c->binary = opcode == OPCODE_BINARY;
	errno = 0;
	if (opcode == OPCODE_PING)
		die("a ping: the benchmark takes too long");
	if (opcode != OPCODE_TEXT && opcode != OPCODE_BINARY && opcode != 0)
		die("unexpected frame");
}

static void parse(struct client *c, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	while (p < end) {
		if (!c->in_frame) {
			c->header[c->header_length++] = *p++;
			if (c->header_length >= 2)
				handle_header(c);
		} else {
			size_t part = (size_t)(end - p) < c->left ? (size_t)(end - p)
								  : (size_t)c->left;
			handle_payload(c, p, part);
			p += part;
		}
		if (c->in_frame && c->left == 0) {
			c->in_frame = false;
			if (!c->binary)
				handle_text(c);
		}
	}
}

size_t client_read(struct client *c, uint8_t *buffer, size_t size)
{
	ssize_t n = read(c->fd, buffer, size);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == 0 && c->plain) {
		c->exited = true;
		return 0;
	}
	if (n <= 0)
		die("the server closed the connection");
	parse(c, buffer, (size_t)n);
	return (size_t)n;
}

static void shake_hands(struct client *c, unsigned port, const char *session, const char *query)
{
	char text[4096];
	size_t have = 0;
	int n = snprintf(text, sizeof text,
		"GET /ws/pty?sessionId=%s&cols=80&rows=24%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
		session, query, port);
	if (write(c->fd, text, (size_t)n) != n)
		die("upgrade");
	for (;;) {
		ssize_t got = read(c->fd, text + have, sizeof text - 1 - have);
		if (got <= 0)
			die("upgrade");
		have += (size_t)got;
		text[have] = '\0';
		char *end = strstr(text, "\r\n\r\n");
		if (!end)
			continue;
		errno = 0;
		if (strncmp(text, "HTTP/1.1 101", 12) != 0)
			die(text);
		end += 4;
		parse(c, (uint8_t *)end, have - (size_t)(end - text));
		return;
	}
}

static struct client *create(unsigned port, const char *wanted)
{
	struct client *c = calloc(1, sizeof *c);
	if (!c)
		die("memory");
	c->wanted = wanted;
	c->fd = client_connect(port);
	return c;
}

struct client *client_open(unsigned port, const char *session, const char *query, const char *wanted)
{
	struct client *c = create(port, wanted);
	shake_hands(c, port, session, query);
	return c;
}

struct client *client_open_plain(unsigned port, const char *name, const char *wanted)
{
	struct client *c = create(port, wanted);
	c->plain = c->ready = true;
	shake_hands(c, port, name, "");
	return c;
}

void client_close(struct client *c)
{
	close(c->fd);
	free(c);
}

static void wait_readable(const struct client *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	errno = 0;
	if (poll(&p, 1, WAIT_MS) <= 0)
		die("the server is silent");
}

void client_wait(struct client *c)
{
	uint8_t buffer[CLIENT_READ];
	while (!c->ready || (c->wanted && c->wanted[c->wanted_found])) {
		wait_readable(c);
		client_read(c, buffer, sizeof buffer);
	}
	c->wanted = NULL;
}

void client_type(struct client *c, const void *keys, size_t length)
{
	/* The mask is zero, so the payload stays as it is. */
	uint8_t frame[6 + 125] = {0x80 | OPCODE_BINARY, (uint8_t)(0x80 | length)};
	if (length > 125)
		die("keystrokes");
	memcpy(frame + 6, keys, length);
	if (write(c->fd, frame, 6 + length) != (ssize_t)(6 + length))
		die("keystrokes");
}
