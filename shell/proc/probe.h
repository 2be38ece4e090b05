/*
 * Probing a port of this machine: whether somebody accepts connections there, or answers a GET over HTTP
 * with a status in a range. Both loopback addresses are tried, IPv4 and IPv6, and one suffices. Of an
 * answer only its first line is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#define PROBE_TIMEOUT_MS 5000u
#define PROBE_PATH_MAX 2048u
#define PROBE_LINE_MAX 1024u /* bytes of an answer that are looked at */

struct probe_options {
	unsigned port;
	bool http;
	char path[PROBE_PATH_MAX + 1]; /* begins with a slash; see probe_path_is_valid() */
	unsigned status_min, status_max;
};

struct probe_side {
	struct probe *probe;
	uv_tcp_t tcp;
	uv_connect_t connect;
	uv_write_t write;
	bool open, done;
	char line[PROBE_LINE_MAX];
	size_t line_length;
};

struct probe {
	const struct probe_options *options; /* borrowed while it runs */
	/* Once for each probe_start(), never from inside it. status: of HTTP, 0 when there was none. */
	void (*done)(void *user, bool ready, int status);
	void *user;
	uv_loop_t *loop;
	uv_timer_t timer;
	struct probe_side sides[2];
	char request[PROBE_PATH_MAX + 128];
	size_t request_length;
	unsigned open_handles;
	bool running, ready, closing;
	int status;
	void (*close_cb)(void *user);
};

/* Whether path may stand in a request: it begins with a slash and has no spaces or control characters. */
bool probe_path_is_valid(const char *path);

/* The status in the first line of an answer, 0 while that is not complete, -1 when it is no HTTP. Pure. */
int probe_parse_status(const char *line, size_t length);

void probe_init(struct probe *p, uv_loop_t *loop, void (*done)(void *user, bool ready, int status),
	void *user);

/* Begin; none may be running. */
void probe_start(struct probe *p, const struct probe_options *options);

/* Stop, if it runs, and let go; done does not come any more. The memory is the caller's until close_cb. */
void probe_close(struct probe *p, void (*close_cb)(void *user));
