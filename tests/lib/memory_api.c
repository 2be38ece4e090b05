/* See memory_api.h. The order of opening and closing is that of ws/serve/main.c. */
#include "tests/lib/memory_api.h"

#include "shell/files/crew.h"
#include "ws/log.h"

struct memory_api memory_api;

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
	const struct runs_config runs = {
		.holder = getenv("RINGSIDE_HOLDER"), .environment = environment};
	cr_assert_eq(sessions_open(&m->sessions, &m->loop, &sessions, &of_sessions, &m->api), 0);
	cr_assert_eq(processes_open(&m->processes, &m->loop, &processes, &of_processes, m), 0);
	cr_assert_eq(runs_open(&m->loop, &runs, &m->runs), 0);
}

void memory_api_open(void)
{
	struct memory_api *m = &memory_api;
	*m = (struct memory_api){0};
	log_set_level(LOG_ERROR);
	folder_make(&m->folder);
	until_open_loop(&m->loop, &m->alive, 10);
	open_tables(m);
	const struct auth_options auth = {.runtime_dir = m->folder.path, .loop = &m->loop};
	cr_assert_eq(auth_open(&m->auth, &auth), 0);
	m->api = (struct api){.sessions = &m->sessions,
		.workspace = m->folder.path,
		.processes = &m->processes,
		.auth = &m->auth,
		.metrics = &m->metrics,
		.terminals = &m->terminals,
		.runs = m->runs,
		.controls = &m->controls,
		.version = "1.2.3",
		.url = "http://127.0.0.1:7070/",
		.own_url = "http://127.0.0.1:7070/"};
	m->dispatcher = (struct dispatcher){.sessions = &m->sessions, .metrics = &m->metrics};
	api_register(&m->api, &m->dispatcher.routes);
	cr_assert_eq(terminals_open(&m->terminals, &m->sessions, &m->metrics), 0);
	cr_assert_eq(control_sockets_open(&m->controls, &m->dispatcher, &m->metrics), 0);
	cr_assert_eq(api_open(&m->api, &m->loop), 0);
	m->api.crew = crew_open(&m->loop, &(struct crew_options){.user = NULL});
	cr_assert_not_null(m->api.crew);
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
	cr_assert_null(m->calls, "calls must end before the restart");
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
	cr_assert(LOOP_UNTIL(&m->loop,
		!sessions_are_adopting(&m->sessions) && !processes_adopting(&m->processes)));
}

void memory_api_close(void)
{
	struct memory_api *m = &memory_api;
	while (m->calls)
		call_end(m->calls);
	close_tables(m);
	crew_close(m->api.crew);
	api_close(&m->api);
	terminals_close(&m->terminals);
	control_sockets_close(&m->controls);
	until_close_loop(&m->loop, &m->alive);
	auth_close(&m->auth);
	memory_holders_free();
	cr_expect_eq(m->api.process_waits, 0);
	cr_expect_eq(m->api.port_watches, 0);
	folder_remove(&m->folder);
}

/* Sessions and processes */

struct session *memory_api_session(const char *id)
{
	struct session *s = sessions_find(&memory_api.sessions, id);
	cr_assert_not_null(s, "no session %s", id);
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
	cr_assert_not_null(p, "no process %s", id);
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

void memory_api_open_session(void)
{
	memory_api_open();
	memory_api_start("s");
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
	begin_session(id); /* memory_api_close() ends the call */
	return memory_api_session(id);
}

static bool is_read(const struct session *s)
{
	return s->state == SESSION_STARTING ||
		(s->pane.history.scan.offset == session_head(s) &&
			atomic_load(&s->pane.held.link.control.page->waiting) == 1);
}

static bool is_followed(const struct process *p)
{
	const struct ring *ring = &p->held.link.ring;
	return p->output == PROCESS_OUTPUT_RING && p->head == stream_head(&ring->bytes) &&
		p->events_offset == stream_head(&ring->events) &&
		atomic_load(&p->held.link.control.page->waiting) == 1;
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

void memory_api_print(const char *session, const char *text)
{
	memory_holder_say(memory_api_holder(session), text);
	memory_api_settle();
}

void memory_api_overflow(const char *session)
{
	static char piece[16 << 10];
	memset(piece, 'x', sizeof piece);
	for (uint64_t sum = 0; sum < 2 * RING_SIZE_MIN; sum += sizeof piece) {
		memory_holder_put(memory_api_holder(session), piece, sizeof piece);
		memory_api_settle();
	}
}
