/*
 * A tunnel is in the table for as long as its run is. What waits for it to be ready is told when it is, or when the run is over;
 * who waits for it to be gone, when the run is over.
 */
#include "shell/tunnel/tunnels.h"

#include "shell/clock.h"
#include "shell/tunnel/cloudflared.h"
#include "shell/wait/port_watch.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define LINE_SIZE 4096u  /* bytes of a line that are looked at, with the NUL */
#define PROBE_MS 250u    /* between questions whether it is connected */
#define MISSING_CODE 127 /* of the command below, where there is no such program */

/* The token is no argument: those anybody on the machine can read. */
static const char command[] =
	"command -v cloudflared >/dev/null || exit 127\n"
	"set -- --metrics 127.0.0.1:0 --no-autoupdate --output json\n"
	"url=http://localhost:$RINGSIDE_TUNNEL_PORT\n"
	"if [ -n \"${TUNNEL_TOKEN-}\" ]; then exec cloudflared tunnel \"$@\" run --url \"$url\"; fi\n"
	"exec cloudflared tunnel \"$@\" --url \"$url\"\n";

struct tunnel {
	struct tunnel *prev, *next;
	struct tunnels *all;
	char id[NAME_ID_MAX + 1], attempt[NAME_ID_MAX + 1];
	bool named;
	unsigned port, grace_ms;
	uint64_t started_ms;
	struct run *run;  /* NULL: it is over */
	uv_timer_t timer; /* until it has to be ready */
	struct port_watch watch;
	bool watching;  /* its metrics are asked */
	bool connected; /* they have said so */
	bool ready, stopping, given_up;
	unsigned open_handles;
	char url[CLOUDFLARED_URL_SIZE];
	char why[TUNNEL_WHY_SIZE]; /* what went wrong last; "" */
	char line[LINE_SIZE];
	size_t line_length;
	struct tunnel_waiter *waiters;
	struct tunnel_farewell *farewells;
};

struct tunnels {
	uv_loop_t *loop;
	struct runs *runs;
	struct tunnel *list;
	unsigned count;
	tunnels_exited exited;
	void *user;
};

static struct tunnel_view view_of(const struct tunnel *t)
{
	static const char scheme[] = "https://";
	return (struct tunnel_view){.id = t->id,
		.run = t->attempt,
		.named = t->named,
		.ready = t->ready,
		.port = t->port,
		.url = t->url,
		.hostname = t->url[0] ? t->url + sizeof scheme - 1 : "",
		.started_ms = t->started_ms};
}

/* Its life */

static void tell_waiters(struct tunnel *t, enum tunnel_end end, const char *why)
{
	const struct tunnel_view view = view_of(t);
	struct tunnel_waiter *w;
	while ((w = t->waiters)) {
		DL_DELETE(t->waiters, w);
		w->tunnel = NULL;
		w->done(w, end, &view, why);
	}
}

static void maybe_ready(struct tunnel *t)
{
	if (t->ready || t->stopping || t->given_up || !t->connected || (!t->named && !t->url[0]))
		return;
	t->ready = true;
	uv_timer_stop(&t->timer);
	tell_waiters(t, TUNNEL_READY, "");
}

static void on_connected(void *user, int status)
{
	struct tunnel *t = user;
	(void)status;
	t->connected = true;
	maybe_ready(t);
}

static void watch(struct tunnel *t, unsigned port)
{
	static const struct probe_options ready = {
		.http = true, .path = "/ready", .status_min = 200, .status_max = 200};
	struct probe_options options = ready;
	options.port = port;
	t->watching = true;
	t->open_handles++;
	port_watch_start(&t->watch, t->all->loop, &options, PROBE_MS, on_connected, t);
}

static void on_too_long(uv_timer_t *timer)
{
	struct tunnel *t = timer->data;
	if (!t->why[0])
		snprintf(t->why, sizeof t->why, "It was not connected in time");
	t->given_up = true;
	run_cancel(t->run, t->grace_ms);
}

/* What it says */

static void take_line(struct tunnel *t)
{
	unsigned port = t->watching ? 0 : cloudflared_metrics(t->line);
	if (port > 0)
		watch(t, port);
	if (!t->named && !t->url[0])
		(void)cloudflared_url(t->line, t->url);
	(void)cloudflared_error(t->line, t->why, sizeof t->why);
	maybe_ready(t);
}

static void on_output(void *user, enum run_stream stream, const void *bytes, size_t length)
{
	struct tunnel *t = user;
	const char *at = bytes;
	if (stream != RUN_STDERR) /* its log; there is nothing else */
		return;
	for (size_t i = 0; i < length; i++) {
		if (at[i] != '\n') {
			if (t->line_length < LINE_SIZE - 1)
				t->line[t->line_length++] = at[i];
			continue;
		}
		t->line[t->line_length] = '\0';
		t->line_length = 0;
		take_line(t);
	}
}

/* Its end */

static void on_handle_closed(struct tunnel *t)
{
	if (--t->open_handles > 0)
		return;
	free(t);
}

static void on_timer_closed(uv_handle_t *handle)
{
	on_handle_closed(handle->data);
}

static void on_watch_closed(void *user)
{
	on_handle_closed(user);
}

static void release(struct tunnel *t)
{
	if (t->watching)
		port_watch_close(&t->watch, on_watch_closed);
	uv_close((uv_handle_t *)&t->timer, on_timer_closed);
}

static void on_done(void *user, const struct run_result *result)
{
	struct tunnel *t = user;
	struct tunnels *all = t->all;
	struct tunnel_farewell *f;
	int code = run_exit_code(result);
	bool missing = code == MISSING_CODE && !t->watching && !t->why[0];
	t->run = NULL;
	DL_DELETE(all->list, t);
	all->count--;
	tell_waiters(t, missing ? TUNNEL_MISSING : TUNNEL_FAILED,
		t->why[0]             ? t->why
			: t->stopping ? "It was stopped"
				      : "It has ended");
	if (t->ready && !t->stopping && all->exited) {
		const struct tunnel_view view = view_of(t);
		all->exited(all->user, &view, WIFEXITED(result->status) ? code : -1);
	}
	while ((f = t->farewells)) {
		DL_DELETE(t->farewells, f);
		f->tunnel = NULL;
		f->gone(f);
	}
	release(t);
}

static const struct run_callbacks run_callbacks = {.output = on_output, .done = on_done};

/* The table */

struct tunnels *tunnels_open(uv_loop_t *loop, struct runs *runs)
{
	struct tunnels *all = calloc(1, sizeof *all);
	if (all)
		*all = (struct tunnels){.loop = loop, .runs = runs};
	return all;
}

void tunnels_tell(struct tunnels *all, tunnels_exited exited, void *user)
{
	all->exited = exited;
	all->user = user;
}

void tunnels_close(struct tunnels *all)
{
	if (!all)
		return;
	assert(!all->list);
	free(all);
}

static struct tunnel *find(const struct tunnels *all, const char *id)
{
	struct tunnel *t;
	DL_FOREACH (all->list, t)
		if (strcmp(t->id, id) == 0)
			return t;
	return NULL;
}

static bool is_that_attempt(const struct tunnel *t, const struct tunnel_request *request)
{
	return request->run[0] && strcmp(t->attempt, request->run) == 0 &&
		t->named == request->named && t->port == request->port && !t->stopping &&
		!t->given_up;
}

static void on_known(uv_timer_t *timer)
{
	struct tunnel *t = timer->data;
	if (t->ready)
		tell_waiters(t, TUNNEL_READY, "");
}

/* It is under way, or there: whoever asks now is told later all the same. */
static void wait_for(struct tunnel *t, struct tunnel_waiter *w)
{
	if (!w)
		return;
	w->tunnel = t;
	DL_APPEND(t->waiters, w);
	if (t->ready)
		uv_timer_start(&t->timer, on_known, 0, 0);
}

static int run(struct tunnel *t, const struct tunnel_request *request)
{
	char port[16];
	const char *const names[] = {"RINGSIDE_TUNNEL_PORT", "TUNNEL_TOKEN"};
	const char *const values[] = {port, request->named ? request->token : ""};
	snprintf(port, sizeof port, "%u", request->port);
	const struct run_options options = {.command = command,
		.command_length = sizeof command - 1,
		.cwd = request->cwd,
		.env_names = names,
		.env_values = values,
		.env_count = 2,
		.whole = true};
	return run_start(t->all->runs, &options, &run_callbacks, t, &t->run);
}

static int create(struct tunnels *all, const struct tunnel_request *request, struct tunnel **ret)
{
	struct tunnel *t = calloc(1, sizeof *t);
	if (!t)
		return -ENOMEM;
	t->all = all;
	snprintf(t->id, sizeof t->id, "%s", request->id);
	snprintf(t->attempt, sizeof t->attempt, "%s", request->run);
	t->named = request->named;
	t->port = request->port;
	t->grace_ms = request->grace_ms > 0 ? request->grace_ms : TUNNEL_GRACE_MS;
	t->started_ms = clock_wall_ms();
	int rc = run(t, request);
	if (rc < 0) {
		free(t);
		return rc;
	}
	uv_timer_init(all->loop, &t->timer);
	t->timer.data = t;
	t->open_handles = 1;
	uv_timer_start(&t->timer, on_too_long,
		request->ready_ms > 0 ? request->ready_ms : TUNNEL_READY_MS, 0);
	DL_APPEND(all->list, t);
	all->count++;
	*ret = t;
	return 0;
}

int tunnels_start(struct tunnels *all, const struct tunnel_request *request,
	struct tunnel_waiter *w, bool *ret_started)
{
	struct tunnel *t = find(all, request->id);
	if (t && !is_that_attempt(t, request))
		return -EEXIST;
	*ret_started = !t;
	if (!t && all->count >= TUNNELS_MAX)
		return -EUSERS;
	int rc = t ? 0 : create(all, request, &t);
	if (rc == 0)
		wait_for(t, w);
	return rc;
}

void tunnel_waiter_forget(struct tunnel_waiter *w)
{
	if (!w->tunnel)
		return;
	DL_DELETE(w->tunnel->waiters, w);
	w->tunnel = NULL;
}

int tunnels_stop(struct tunnels *all, const char *id, const char *attempt, struct tunnel_farewell *f)
{
	struct tunnel *t = find(all, id);
	if (!t || (attempt && strcmp(t->attempt, attempt) != 0))
		return -ENOENT;
	f->tunnel = t;
	DL_APPEND(t->farewells, f);
	t->stopping = true;
	run_cancel(t->run, t->grace_ms);
	return 0;
}

void tunnel_farewell_forget(struct tunnel_farewell *f)
{
	if (!f->tunnel)
		return;
	DL_DELETE(f->tunnel->farewells, f);
	f->tunnel = NULL;
}

void tunnels_list(const struct tunnels *all,
	void (*each)(void *user, const struct tunnel_view *view), void *user)
{
	const struct tunnel *t;
	DL_FOREACH (all->list, t) {
		const struct tunnel_view view = view_of(t);
		each(user, &view);
	}
}
