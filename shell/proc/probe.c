/* Each side is one connection. The probe ends when one side succeeds or both have failed. */
#include "shell/proc/probe.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define SIDES 2u

bool probe_path_is_valid(const char *path)
{
	if (path[0] != '/' || strlen(path) > PROBE_PATH_MAX)
		return false;
	for (; *path; path++)
		if ((unsigned char)*path <= ' ' || (unsigned char)*path >= 0x7f)
			return false;
	return true;
}

/* RFC 9112, 4: HTTP-version SP status-code SP [ reason ]. */
int probe_parse_status(const char *line, size_t length)
{
	static const char start[] = "HTTP/1.";
	size_t known = length < sizeof start - 1 ? length : sizeof start - 1;
	if (memcmp(line, start, known) != 0)
		return -1;
	if (length < sizeof "HTTP/1.1 200")
		return 0;
	const char *at = line + sizeof start - 1;
	if (at[0] < '0' || at[0] > '9' || at[1] != ' ')
		return -1;
	at += 2;
	int status = 0;
	for (int i = 0; i < 3; i++, at++) {
		if (*at < '0' || *at > '9')
			return -1;
		status = 10 * status + (*at - '0');
	}
	return status >= 100 && (*at == ' ' || *at == '\r' || *at == '\n') ? status : -1;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct probe *p = handle->data;
	p->open_handles--;
	if (p->open_handles > 0)
		return;
	if (p->closing) {
		p->close_cb(p->user);
	} else {
		p->running = false;
		p->done(p->user, p->ready, p->status);
	}
}

static void on_side_closed(uv_handle_t *handle)
{
	struct probe_side *s = handle->data;
	handle->data = s->probe;
	on_handle_closed(handle);
}

static void close_side(struct probe_side *s)
{
	if (s->open)
		uv_close((uv_handle_t *)&s->tcp, on_side_closed);
	s->open = false;
	s->done = true;
}

static void close_all(struct probe *p)
{
	for (unsigned i = 0; i < SIDES; i++)
		close_side(&p->sides[i]);
	if (!uv_is_closing((uv_handle_t *)&p->timer))
		uv_close((uv_handle_t *)&p->timer, on_handle_closed);
}

static void succeed(struct probe *p, int status)
{
	p->ready = true;
	p->status = status;
	close_all(p);
}

static void fail_side(struct probe_side *s, int status)
{
	struct probe *p = s->probe;
	if (status > 0)
		p->status = status;
	close_side(s);
	if (p->sides[0].done && p->sides[1].done)
		close_all(p);
}

static void on_timeout(uv_timer_t *timer)
{
	close_all(timer->data);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct probe_side *s = handle->data;
	(void)suggested;
	*buf = uv_buf_init(s->line + s->line_length, (unsigned)(sizeof s->line - s->line_length));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct probe_side *s = stream->data;
	const struct probe_options *o = s->probe->options;
	(void)buf;
	if (n < 0) {
		fail_side(s, 0);
		return;
	}
	s->line_length += (size_t)n;
	int status = probe_parse_status(s->line, s->line_length);
	if (status > 0 && (unsigned)status >= o->status_min && (unsigned)status <= o->status_max)
		succeed(s->probe, status);
	else if (status != 0 || s->line_length == sizeof s->line)
		fail_side(s, status);
}

static void on_written(uv_write_t *write, int rc)
{
	struct probe_side *s = write->data;
	if (rc < 0 && s->open)
		fail_side(s, 0);
}

static void on_connected(uv_connect_t *connect, int rc)
{
	struct probe_side *s = connect->data;
	struct probe *p = s->probe;
	if (!s->open)
		return; /* closed meanwhile */
	if (rc < 0) {
		fail_side(s, 0);
		return;
	}
	if (!p->options->http) {
		succeed(p, 0);
		return;
	}
	uv_buf_t request = uv_buf_init(p->request, (unsigned)p->request_length);
	s->write.data = s;
	rc = uv_write(&s->write, (uv_stream_t *)&s->tcp, &request, 1, on_written);
	if (rc == 0)
		rc = uv_read_start((uv_stream_t *)&s->tcp, on_alloc, on_read);
	if (rc < 0)
		fail_side(s, 0);
}

void probe_init(struct probe *p, uv_loop_t *loop, void (*done)(void *user, bool ready, int status),
	void *user)
{
	*p = (struct probe){.loop = loop, .done = done, .user = user};
}

static void start_side(struct probe *p, struct probe_side *s, const struct sockaddr *address)
{
	*s = (struct probe_side){.probe = p};
	if (uv_tcp_init(p->loop, &s->tcp) < 0) {
		s->done = true;
		return;
	}
	s->tcp.data = s->connect.data = s;
	s->open = true;
	p->open_handles++;
	if (uv_tcp_connect(&s->connect, &s->tcp, address, on_connected) < 0)
		close_side(s);
}

void probe_start(struct probe *p, const struct probe_options *options)
{
	const struct sockaddr_in four = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)options->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct sockaddr_in6 six = {.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)options->port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	assert(!p->running && !p->closing);
	p->options = options;
	p->running = true;
	p->ready = false;
	p->status = 0;
	p->request_length = (size_t)snprintf(p->request, sizeof p->request,
		"GET %s HTTP/1.1\r\nHost: localhost:%u\r\nAccept: */*\r\nConnection: close\r\n\r\n",
		options->path, options->port);
	uv_timer_init(p->loop, &p->timer);
	p->timer.data = p;
	p->open_handles = 1;
	uv_timer_start(&p->timer, on_timeout, PROBE_TIMEOUT_MS, 0);
	start_side(p, &p->sides[0], (const struct sockaddr *)&four);
	start_side(p, &p->sides[1], (const struct sockaddr *)&six);
	if (p->sides[0].done && p->sides[1].done)
		close_all(p);
}

static void on_nothing_closed(uv_handle_t *handle)
{
	struct probe *p = handle->data;
	p->close_cb(p->user);
}

void probe_close(struct probe *p, void (*close_cb)(void *user))
{
	assert(!p->closing);
	p->closing = true;
	p->close_cb = close_cb;
	if (p->running) {
		close_all(p);
		return;
	}
	uv_timer_init(p->loop, &p->timer);
	p->timer.data = p;
	uv_close((uv_handle_t *)&p->timer, on_nothing_closed);
}
