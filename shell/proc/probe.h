/*
 * Probe of a port of this machine: whether it accepts a connection, or answers an HTTP GET with a
 * status in a range. Tries 127.0.0.1 and ::1; one success suffices. Only the status line is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#define PROBE_TIMEOUT_MS 5000u
#define PROBE_PATH_MAX 2048u
#define PROBE_LINE_MAX 1024u /* bytes of an answer that are read */

/* What to probe. */
struct probe_options {
	unsigned port;
	bool http;
	char path[PROBE_PATH_MAX + 1]; /* begins with a slash; see probe_path_is_valid() */
	unsigned status_min, status_max;
};

/* The connection to one of the two addresses. Private to probe.c. */
struct probe_side {
	struct probe *probe;
	uv_tcp_t tcp;
	uv_connect_t connect;
	uv_write_t write;
	bool open, done;
	char line[PROBE_LINE_MAX];
	size_t line_length;
};

/* A probe; the memory is the caller's. Fields are private to probe.c. */
struct probe {
	const struct probe_options *options; /* borrowed while it runs */
	/* Called once per probe_start(), never inside it. status: of HTTP; 0: none received. */
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

/* Whether path begins with a slash and has no spaces or control characters. */
bool probe_path_is_valid(const char *path);

/* Parse a status line. Returns the status, 0 if it is incomplete, -1 if it is not HTTP. Pure. */
int probe_parse_status(const char *line, size_t length);

/* Initialize p; loop is borrowed. */
void probe_init(struct probe *p, uv_loop_t *loop, void (*done)(void *user, bool ready, int status),
	void *user);

/* Start; the previous probe must be done. options: borrowed until done(). */
void probe_start(struct probe *p, const struct probe_options *options);

/* Stop and close; done() is not called any more. p must stay valid until close_cb. */
void probe_close(struct probe *p, void (*close_cb)(void *user));
