/*
 * See memory_api.h. The part of a transport is played as ws/net does: an answer is read when it has been given, events
 * are pulled when they are wanted, and the request is abandoned at the end, however it went.
 */
#include "tests/lib/memory_api.h"

#include "ws/api/openapi.h"
#include "ws/error.h"
#include "ws/log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct memory_api memory_api;

const char *const memory_api_hostile[] = {"", " ", "\t", "..", ".", "/", "../../etc/passwd", "a/b",
	"-", "%", "%n%s%n", "\\", "\"", "'; rm -rf /", "$(reboot)", "`id`", "\x7f", "\x1b[31m",
	"\n", "a\nb", "\r\nX-Header: 1", "\xe2\x80\xae" /* right to left */, "\xef\xbb\xbf",
	"\xf0\x9f\x92\xa9", "NaN", "-1", "0", "18446744073709551616", "null", "__proto__", NULL};

/* Opening and closing */

static void on_changed(void *user)
{
	api_sessions_changed(user);
}

static void on_failed(void *user, const char *id, const char *what, int error)
{
	(void)user;
	(void)id;
	(void)what;
	(void)error;
}

static void on_ended(void *user, const struct process *process)
{
	(void)user;
	(void)process;
}

static const struct sessions_callbacks of_sessions = {.changed = on_changed, .failed = on_failed};
static const struct processes_callbacks of_processes = {.ended = on_ended, .failed = on_failed};

static void on_alive(uv_timer_t *timer)
{
	(void)timer;
}

static char path[] = "PATH=/usr/bin:/bin";
static char *const environment[] = {path, NULL};

static void open_tables(struct memory_api *m)
{
	const struct sessions_config sessions = {.runtime_dir = m->folder.path,
		.holder = "/nonexistent",
		.cwd = "/",
		.environment = environment,
		.ring_size = RING_SIZE_MIN,
		.scrollback = 100,
		.max_sessions = MEMORY_API_SESSIONS};
	const struct processes_config processes = {.runtime_dir = m->folder.path,
		.holder = "/nonexistent",
		.cwd = "/",
		.environment = environment,
		.ring_size = RING_SIZE_MIN,
		.max = MEMORY_API_PROCESSES,
		.kept = 10};
	const struct runs_config runs = {.dir = m->folder.path, .environment = environment};
	cr_assert_eq(sessions_open(&m->sessions, &m->loop, &sessions, &of_sessions, &m->api), 0);
	cr_assert_eq(processes_open(&m->processes, &m->loop, &processes, &of_processes, m), 0);
	cr_assert_eq(runs_open(&m->loop, &runs, &m->runs), 0);
}

void memory_api_open(void)
{
	struct memory_api *m = &memory_api;
	*m = (struct memory_api){.open = true};
	log_set_level(LOG_ERROR);
	folder_make(&m->folder);
	cr_assert_eq(uv_loop_init(&m->loop), 0);
	uv_timer_init(&m->loop, &m->alive);
	uv_timer_start(&m->alive, on_alive, 10, 10);
	open_tables(m);
	const struct auth_options auth = {.runtime_dir = m->folder.path};
	cr_assert_eq(auth_open(&m->auth, &auth), 0);
	m->api = (struct api){.sessions = &m->sessions,
		.processes = &m->processes,
		.auth = &m->auth,
		.metrics = &m->metrics,
		.terminals = &m->terminals,
		.runs = m->runs,
		.controls = &m->controls,
		.version = "1.2.3",
		.url = "http://127.0.0.1:7070/"};
	m->dispatcher = (struct dispatcher){.sessions = &m->sessions, .metrics = &m->metrics};
	api_register(&m->api, &m->dispatcher.routes);
	cr_assert_eq(terminals_open(&m->terminals, &m->sessions, &m->metrics), 0);
	cr_assert_eq(control_sockets_open(&m->controls, &m->dispatcher, &m->metrics), 0);
	cr_assert_eq(api_open(&m->api, &m->loop), 0);
}

static void close_tables(struct memory_api *m)
{
	if (!m->runs)
		return;
	runs_close(m->runs);
	m->runs = NULL;
	sessions_close(&m->sessions);
	processes_close(&m->processes);
}

void memory_api_end_tables(void)
{
	close_tables(&memory_api);
}

void memory_api_restart(void)
{
	struct memory_api *m = &memory_api;
	cr_assert_null(m->calls, "whoever asks has gone before");
	close_tables(m);
	api_close(&m->api);
	uv_unref((uv_handle_t *)&m->alive);
	uv_run(&m->loop, UV_RUN_DEFAULT);
	uv_ref((uv_handle_t *)&m->alive);
	open_tables(m);
	m->api.runs = m->runs;
	cr_assert_eq(api_open(&m->api, &m->loop), 0);
	cr_assert_geq(sessions_adopt(&m->sessions), 0);
	cr_assert_geq(processes_adopt(&m->processes), 0);
	cr_assert(LOOP_UNTIL(
		&m->loop, !sessions_adopting(&m->sessions) && !processes_adopting(&m->processes)));
}

void memory_api_close(void)
{
	struct memory_api *m = &memory_api;
	while (m->calls)
		call_end(m->calls);
	close_tables(m);
	api_close(&m->api);
	terminals_close(&m->terminals);
	control_sockets_close(&m->controls);
	uv_close((uv_handle_t *)&m->alive, NULL);
	uv_run(&m->loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&m->loop), 0);
	auth_close(&m->auth);
	memory_holders_free();
	cr_expect_eq(m->api.process_waits, 0);
	cr_expect_eq(m->api.port_watches, 0);
	folder_remove(&m->folder);
	m->open = false;
}

void memory_api_clear_up(void)
{
	if (memory_api.open)
		folder_remove(&memory_api.folder); /* the test has failed before its end */
}

/* What there is */

struct session *memory_api_session(const char *id)
{
	struct session *s = sessions_find(&memory_api.sessions, id);
	cr_assert_not_null(s, "there is no session %s", id);
	return s;
}

struct memory_holder *memory_api_holder(const char *session)
{
	struct memory_holder *h = memory_holder_of(&memory_api_session(session)->pane.held.link);
	cr_assert_not_null(h, "%s has no holder", session);
	return h;
}

struct process *memory_api_process(const char *id)
{
	struct process *p = processes_find(&memory_api.processes, id);
	cr_assert_not_null(p, "there is no process %s", id);
	return p;
}

struct memory_holder *memory_api_process_holder(const char *id)
{
	struct memory_holder *h = memory_holder_of(&memory_api_process(id)->held.link);
	cr_assert_not_null(h, "%s has no holder", id);
	return h;
}

static struct call *begin_session(const char *id)
{
	char body[256];
	snprintf(body, sizeof body, "{'id':'%s','shell':'/bin/sh'}", id);
	return memory_api_begin("POST /api/session/create", body);
}

struct session *memory_api_start(const char *id)
{
	struct call *c = begin_session(id);
	call_await(c);
	cr_assert_eq(call_status(c), 200, "%s: %s", id, call_body(c));
	call_end(c);
	return memory_api_session(id);
}

struct session *memory_api_start_ended(const char *id, int status)
{
	struct session *s = memory_api_start(id);
	memory_holder_exit(memory_api_holder(id), status);
	cr_assert(LOOP_UNTIL(&memory_api.loop, s->state == SESSION_EXITED));
	return s;
}

struct session *memory_api_start_slow(const char *id)
{
	memory_holder_delay_next();
	begin_session(id); /* it is closed with all */
	return memory_api_session(id);
}

static bool is_read(const struct session *s)
{
	return s->state == SESSION_STARTING ||
		(s->pane.history.scan.offset == session_head(s) &&
			atomic_load(&s->pane.held.link.control->waiting) == 1);
}

static bool is_followed(const struct process *p)
{
	const struct ring *ring = &p->held.link.ring;
	return p->ring_open && p->head == stream_head(&ring->bytes) &&
		p->events_offset == stream_head(&ring->events) &&
		atomic_load(&p->held.link.control->waiting) == 1;
}

void memory_api_settle(void)
{
	for (struct session *s = NULL; (s = session_next(&memory_api.sessions, s));)
		if (memory_holder_of(&s->pane.held.link))
			cr_assert(LOOP_UNTIL(&memory_api.loop, is_read(s)), "%s", s->pane.held.id);
	for (struct process *p = NULL; (p = process_next(&memory_api.processes, p));)
		if (memory_holder_of(&p->held.link))
			cr_assert(LOOP_UNTIL(&memory_api.loop, is_followed(p)), "%s", p->held.id);
}

/* Asking */

static void on_answered(void *user)
{
	struct call *c = user;
	cr_assert(!c->answered && !c->streaming, "%s: answered twice", c->line);
	c->answered = true;
}

static void on_streaming(void *user)
{
	struct call *c = user;
	cr_assert(!c->answered && !c->streaming, "%s: answered twice", c->line);
	c->streaming = c->more = true;
}

static void on_more(void *user)
{
	((struct call *)user)->more = true;
}

static const struct request_transport transport = {
	.answered = on_answered, .streaming = on_streaming, .more = on_more};

static void take_line(struct call *c)
{
	char method[8];
	int length = 0;
	cr_assert_eq(sscanf(c->line, "%7[A-Z] %n", method, &length), 1, "%s", c->line);
	c->request->method = method_parse(method);
	cr_assert_eq(request_take_target(c->request, c->line + length), 0, "%s", c->line);
}

static void take_asker(struct request *r, const struct ask *ask)
{
	static const enum role roles[] = {
		[BY_OWNER] = ROLE_OWNER, [BY_DRIVER] = ROLE_DRIVER, [BY_VIEWER] = ROLE_VIEWER};
	struct principal *p = &r->principal;
	r->auth = ask->by == BY_NOBODY ? AUTH_MISSING : AUTH_OK;
	snprintf(r->peer, sizeof r->peer, "127.0.0.1");
	request_hint_session(r, ask->hint);
	if (ask->by == BY_NOBODY)
		return;
	p->role = roles[ask->by];
	if (ask->by != BY_OWNER)
		snprintf(p->link, sizeof p->link, "link");
	if (!ask->only)
		return;
	const struct session *s = sessions_find(&memory_api.sessions, ask->only);
	snprintf(p->session, sizeof p->session, "%s", ask->only);
	p->epoch = s ? session_epoch(s) : 0;
}

struct call *memory_api_ask(const struct ask *ask)
{
	struct call *c = calloc(1, sizeof *c);
	struct request *r = request_create();
	cr_assert(c && r);
	c->request = r;
	snprintf(c->line, sizeof c->line, "%s", ask->line);
	cr_assert_lt(strlen(ask->line), sizeof c->line, "%s", ask->line);
	take_line(c);
	take_asker(r, ask);
	if (ask->body) {
		/* No more than it has, so that whoever reads on is found. */
		r->body_length = ask->length ? ask->length : strlen(ask->body);
		r->body = malloc(r->body_length + 1);
		cr_assert_not_null(r->body);
		memcpy(r->body, ask->body, r->body_length);
		r->body[r->body_length] = '\0';
	}
	r->transport = &transport;
	r->transport_user = c;
	LL_PREPEND(memory_api.calls, c);
	dispatcher_handle(&memory_api.dispatcher, r);
	return c;
}

static struct call *begin(const char *line, const char *body, enum asker by)
{
	char *text = body ? strdup(body) : NULL;
	for (char *at = text; at && *at; at++)
		if (*at == '\'')
			*at = '"';
	struct call *c = memory_api_ask(&(struct ask){.line = line, .body = text, .by = by});
	free(text);
	return c;
}

struct call *memory_api_begin(const char *line, const char *body)
{
	return begin(line, body, BY_OWNER);
}

struct call *memory_api_call(const char *line, const char *body)
{
	struct call *c = memory_api_begin(line, body);
	call_await(c);
	return c;
}

int memory_api_status(const char *line, const char *body)
{
	struct call *c = memory_api_call(line, body);
	int status = call_status(c);
	call_end(c);
	return status;
}

/* Answers */

/* "/api/session/{sessionId}" as "/api/session/{}". */
static void strip_names(const char *from, char *to)
{
	bool name = false;
	for (; *from; from++) {
		name &= *from != '}';
		if (!name)
			*to++ = *from;
		name |= *from == '{';
	}
	*to = '\0';
}

/* What the API's description says of a route's answers with a status. NULL: nothing. */
static const char *described(const struct route_row *row, int status)
{
	static json_t *document;
	const char *name;
	json_t *item;
	char stripped[256], method[8], number[8];
	if (!document)
		document = json_loadb(
			(const char *)openapi_document, openapi_document_length, 0, NULL);
	snprintf(number, sizeof number, "%d", status);
	snprintf(method, sizeof method, "%s", method_name(row->method));
	for (char *at = method; *at; at++)
		*at = (char)tolower(*at);
	json_object_foreach (json_object_get(document, "paths"), name, item) {
		strip_names(name, stripped);
		if (strcmp(stripped, row->path) == 0 && json_object_get(item, method))
			return json_string_value(json_object_get(
				json_object_get(
					json_object_get(json_object_get(item, method), "responses"),
					number),
				"description"));
	}
	return NULL;
}

/* Of an error with this status. */
static void check_error(const struct call *c, int status)
{
	const char *code = json_string_value(json_object_get(c->json, "code"));
	const char *message = json_string_value(json_object_get(c->json, "message"));
	cr_assert(code && message && *message, "%s: %s", c->line, call_body(c));
	cr_expect(json_is_object(json_object_get(c->json, "context")), "%s: %s", c->line,
		call_body(c));
	cr_expect(json_is_string(json_object_get(c->json, "timestamp")), "%s", c->line);
	cr_expect_eq(
		json_integer_value(json_object_get(c->json, "httpStatus")), status, "%s", c->line);
	cr_expect_eq(error_status(code), status, "%s: %s", c->line, code);
	/* What can go wrong everywhere is said once. */
	const struct route_row *row = c->request->match.row;
	bool anywhere = strcmp(code, "INTERNAL_ERROR") == 0 || strcmp(code, "OUT_OF_MEMORY") == 0;
	const char *says = row && !anywhere ? described(row, status) : code;
	cr_expect(says && strstr(says, code), "%s: %s %d is not described: %s", c->line, code,
		status, says ? says : "nothing");
}

/* Of an answer as a whole: once it is there. */
static void check_reply(struct call *c)
{
	const struct reply *reply = &c->request->reply;
	bool is_json = reply->content_type && strcmp(reply->content_type, "application/json") == 0;
	cr_assert(is_json || reply->status < 400, "%s: %d", c->line, reply->status);
	if (!is_json)
		return;
	c->json = json_loadb(
		reply->body, reply->length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	cr_assert(json_is_object(c->json), "%s: %.*s", c->line, (int)reply->length, reply->body);
	if (reply->status >= 400)
		check_error(c, reply->status);
}

void call_await(struct call *c)
{
	cr_assert(LOOP_UNTIL(&memory_api.loop, c->answered || c->streaming), "%s: no answer",
		c->line);
	if (c->answered && !c->json)
		check_reply(c);
}

void call_end(struct call *c)
{
	LL_DELETE(memory_api.calls, c);
	request_abandon(c->request);
	json_decref(c->json);
	free(c);
}

int call_status(const struct call *c)
{
	return c->streaming ? 200 : c->request->reply.status;
}

const char *call_header(const struct call *c, const char *name)
{
	const struct reply *reply = &c->request->reply;
	for (size_t i = 0; i < reply->headers_count; i++)
		if (strcasecmp(reply->headers[i].name, name) == 0)
			return reply->headers[i].value;
	return NULL;
}

const char *call_body(const struct call *c)
{
	return c->request->reply.body ? c->request->reply.body : "";
}

const json_t *call_get(const struct call *c, const char *path_in)
{
	const json_t *value = c->json;
	char copy[128], *rest = copy;
	snprintf(copy, sizeof copy, "%s", path_in);
	for (const char *name; value && (name = strsep(&rest, "."));)
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(name))
					     : json_object_get(value, name);
	return value;
}

static void complain(const struct call *c, const char *name)
{
	char *text = c->json ? json_dumps(c->json, 0) : NULL;
	cr_assert_fail("%s: %s is missing, or of another type: %s", c->line, name,
		text ? text : call_body(c));
}

const char *call_text(const struct call *c, const char *name)
{
	const char *text = json_string_value(call_get(c, name));
	if (!text)
		complain(c, name);
	return text;
}

json_int_t call_number(const struct call *c, const char *name)
{
	const json_t *value = call_get(c, name);
	if (!json_is_integer(value))
		complain(c, name);
	return json_integer_value(value);
}

bool call_is_true(const struct call *c, const char *name)
{
	const json_t *value = call_get(c, name);
	if (!json_is_boolean(value))
		complain(c, name);
	return json_is_true(value);
}

bool call_is_null(const struct call *c, const char *name)
{
	return json_is_null(call_get(c, name));
}

const char *call_code(const struct call *c)
{
	const char *code = json_string_value(json_object_get(c->json, "code"));
	return code && c->answered ? code : "";
}

const char *call_field(const struct call *c)
{
	const char *field = json_string_value(call_get(c, "context.validationErrors.0.field"));
	return field ? field : "";
}

/* Streams */

/* Pull one. Returns false when there is none now. */
static bool pull(struct call *c)
{
	struct request *r = c->request;
	char *text = r->stream.next(r->stream.user);
	c->more = text != NULL;
	if (!text)
		return false;
	json_decref(c->json);
	c->json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	cr_assert(json_is_object(c->json), "%s: %s", c->line, text);
	free(text);
	c->events++;
	return true;
}

bool call_event(struct call *c, const char *type)
{
	cr_assert(c->streaming, "%s: no stream", c->line);
	for (;;) {
		while (pull(c)) {
			const char *is = json_string_value(json_object_get(c->json, "type"));
			if (!type || (is && strcmp(is, type) == 0))
				return true;
		}
		if (c->request->stream_complete)
			return false;
		cr_assert(LOOP_UNTIL(&memory_api.loop, c->more), "%s: no %s", c->line,
			type ? type : "event");
	}
}

/* Tables */

void memory_api_expect_refused(const struct refused *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct refused *want = &cases[i];
		struct call *c = begin(want->line, want->body, want->by);
		call_await(c);
		const char *body = want->body ? want->body : "";
		cr_expect_eq(call_status(c), want->status, "%s %.200s: %d %s", want->line, body,
			call_status(c), call_body(c));
		cr_expect_str_eq(
			call_code(c), want->code, "%s %.200s: %s", want->line, body, call_body(c));
		if (want->field)
			cr_expect_str_eq(call_field(c), want->field, "%s %.200s: %s", want->line,
				body, call_body(c));
		call_end(c);
	}
}
