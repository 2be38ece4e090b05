/*
 * ringside-server: opens the parts of the server, connects them, runs the loop and closes them. If a part cannot be opened, the
 * program prints the reason and exits.
 */
#include "ring/utf8.h"
#include "shell/json_read.h"
#include "shell/bounds.h"
#include "shell/cgroup.h"
#include "shell/environment.h"
#include "shell/files/crew.h"
#include "shell/heap_trim.h"
#include "shell/isolation.h"
#include "shell/recording/recorders.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "shell/words.h"
#include "ws/access.h"
#include "ws/api/api.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/api/bridge/terminal.h"
#include "ws/dispatcher.h"
#include "ws/log.h"
#include "ws/mcp/mcp.h"
#include "ws/net/local_socket.h"
#include "ws/net/server.h"
#include "ws/preview/previews.h"
#include "ws/serve/addresses.h"
#include "ws/serve/commit.h"
#include "ws/serve/fail.h"
#include "ws/serve/first_process.h"
#include "ws/serve/options.h"
#include "ws/serve/privacy.h"
#include "ws/serve/reports.h"
#include "ws/serve/resources.h"
#include "ws/serve/shutdown.h"
#include "ws/serve/standard.h"
#include "ws/serve/supervisor.h"
#include "ws/serve/webhooks.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#define ADOPT_MS 2000u /* time to adopt sessions before clients are served */
#define ADOPT_LOOK_MS 10u
#define PREVIEWS_SHARE 4u /* connections of previews: a quarter of all */

extern char **environ;

struct program {
	struct serve_options options;
	uv_loop_t loop;
	struct sessions sessions;
	struct processes processes;
	struct recorders *recorders; /* NULL: no recording */
	struct isolation *isolation;
	struct bounds bounds;
	struct user user; /* of --session-user; bounds.user points to it */
	struct heap_trim heap;
	struct runs *runs;
	struct contexts *contexts;
	struct auth auth;
	struct access access;
	struct previews previews;
	struct metrics metrics;
	struct terminals terminals;
	struct control_sockets controls;
	struct rpc_sockets rpcs;
	struct mcp mcp;
	struct api api;
	struct dispatcher dispatcher;
	struct reports reports;
	struct supervisor_sockets sockets;
	struct shutdown shutdown;
	struct server *server;
	uv_timer_t tick;
	char **environment; /* of shells */
	char *token;        /* of the owner, from the environment, or NULL */
	char runtime_dir[PATH_MAX], holder[PATH_MAX], workspace[PATH_MAX];
	char socket[PATH_MAX]; /* of the command line; in the environment of sessions */
	char cwd[PATH_MAX]; /* default directory: the workspace, or another one if sandboxes do not contain it */
};

static int open_sessions(struct program *p, long nofile)
{
	const struct serve_options *o = &p->options;
	struct sessions_config config = {
		.runtime_dir = p->runtime_dir,
		.holder = p->holder,
		.cwd = p->cwd,
		.bounds = &p->bounds,
		.environment = p->environment,
		.socket = p->socket,
		.ring_size = o->ring_size,
		.scrollback = o->scrollback,
		.screen_memory = o->screen_memory,
		.clipboard = o->clipboard,
		.max_sessions = o->max_sessions,
		.ended_ttl_s = o->ended_ttl_s,
		.threads = resources_threads(),
		.nofile = nofile,
	};
	int rc = sessions_open(&p->sessions, &p->loop, &config, &reports_of_sessions, &p->reports);
	if (rc == -EBUSY)
		return serve_fail(p->runtime_dir, "another server uses this runtime directory");
	return rc < 0 ? serve_fail(p->runtime_dir, strerror(-rc)) : 0;
}

static int open_recorders(struct program *p)
{
	const struct serve_options *o = &p->options;
	if (!o->record || strcmp(o->record, "off") == 0)
		return 0;
	int fd = recorders_open_directory(o->record);
	if (fd == -EPERM)
		return serve_fail(o->record,
			"must be a directory of this user that is closed to others (chmod 700)");
	struct recorders_options options = {.loop = &p->loop,
		.sessions = &p->sessions,
		.root_fd = fd,
		.limits = {.bytes = o->record_size, .age_s = o->record_age_s},
		.failed = reports_of_sessions.failed,
		.user = &p->reports};
	int rc = fd < 0 ? fd : recorders_open(&options, &p->recorders);
	p->reports.recorders = p->recorders;
	return rc < 0 ? serve_fail(o->record, strerror(-rc)) : 0;
}

static int open_runs(struct program *p, long nofile)
{
	struct runs_config config = {.holder = p->bounds.holder,
		.environment = p->environment,
		.nofile = nofile,
		.bounds = &p->bounds};
	int rc = runs_open(&p->loop, &config, &p->runs);
	if (rc == 0)
		rc = contexts_open(
			&p->loop, p->runs, (uint64_t)p->options.context_ttl_s * 1000, &p->contexts);
	p->api.runs = p->runs;
	p->api.contexts = p->contexts;
	return rc < 0 ? serve_fail(p->runtime_dir, strerror(-rc)) : 0;
}

static int open_processes(struct program *p, long nofile)
{
	const struct serve_options *o = &p->options;
	struct processes_config config = {
		.runtime_dir = p->runtime_dir,
		.holder = p->holder,
		.cwd = p->cwd,
		.bounds = &p->bounds,
		.environment = p->environment,
		.ring_size = o->process_ring,
		.max = o->max_processes,
		.kept = o->kept_processes,
		.ttl_s = o->process_ttl_s,
		.nofile = nofile,
		.trust = sessions_trust(&p->sessions),
	};
	int rc = processes_open(
		&p->processes, &p->loop, &config, &reports_of_processes, &p->reports);
	p->metrics.processes = &p->processes;
	return rc < 0 ? serve_fail(p->runtime_dir, strerror(-rc)) : 0;
}

static int open_auth(struct program *p)
{
	if (!p->options.token_file && !p->token)
		p->options.token_file = resources_token_file();
	struct auth_options options = {
		.runtime_dir = p->runtime_dir,
		.token_file = p->options.token_file,
		.token = p->token,
		.open = p->options.no_auth,
		.loop = &p->loop,
	};
	p->options.token_in_environment = p->token != NULL;
	int rc = auth_open(&p->auth, &options);
	privacy_wipe(p->token);
	p->token = NULL;
	if (rc == -EINVAL)
		return serve_fail("token", "must have 16 to 512 visible ASCII characters");
	return rc < 0 ? serve_fail("token", strerror(-rc)) : 0;
}

static int open_previews(struct program *p)
{
	const char *domain = p->options.preview_domain;
	/* Checked with the options. */
	if (!domain || strcmp(domain, "none") != 0)
		(void)preview_place_parse(
			domain ? domain : PREVIEW_DOMAIN_DEFAULT, &p->previews.place);
	/* Each uses two descriptors, and clients of previews are not authenticated, so limit their share. */
	p->previews.users_max = p->options.max_connections / PREVIEWS_SHARE + 1;
	p->previews.owners_only = p->bounds.isolation && !p->options.share_net;
	p->api.previews = &p->previews;
	int rc = previews_open(&p->previews, &p->sessions, &p->loop, p->auth.dir_fd);
	return rc < 0 ? serve_fail("previews.json", strerror(-rc)) : 0;
}

/* Acquire passed sockets. They are checked as --listen is, and replace the default address. */
static int open_sockets(struct program *p)
{
	if (supervisor_acquire_sockets(p->runtime_dir, &p->sockets) < 0)
		return -1;
	for (size_t i = 0; i < p->sockets.count; i++)
		if (serve_options_check_address(&p->options, p->sockets.items[i].address) < 0)
			return -1;
	if (p->options.listens_by_default && p->sockets.count > p->sockets.command)
		p->options.listen.count = 0;
	return 0;
}

static int open_server(struct program *p)
{
	const struct serve_options *o = &p->options;
	struct server_options options = {
		.loop = &p->loop,
		.dispatcher = &p->dispatcher,
		.auth = &p->auth,
		.terminals = &p->terminals,
		.controls = &p->controls,
		.rpcs = &p->rpcs,
		.metrics = &p->metrics,
		.previews = &p->previews,
		.listen = o->listen.items,
		.listen_count = o->listen.count,
		.inherited = p->sockets.items,
		.inherited_count = p->sockets.count,
		.runtime_dir = p->runtime_dir,
		.hosts = o->hosts.items,
		.hosts_count = o->hosts.count,
		.origins = o->origins.items,
		.origins_count = o->origins.count,
		.proxies = o->proxies.items,
		.proxies_count = o->proxies.count,
		.tls_cert = o->tls_cert,
		.tls_key = o->tls_key,
		.header_timeout_s = o->header_timeout_s,
		.ping_interval_s = o->ping_interval_s,
		.max_connections = o->max_connections,
	};
	int rc = server_open(&options, &p->server);
	p->shutdown.server = p->server;
	if (rc == 0) {
		p->api.own_url = addresses_find_browsable(p->server);
		p->api.url = o->public_text ? o->public_url.url : p->api.own_url;
		hooks_begin(p->api.hooks, &p->sessions, p->api.activities);
	}
	return rc;
}

/* Called once when threads for files get stuck on behalf of `owner`. */
static void on_files_stuck(void *user, const char *owner, unsigned count)
{
	char text[16];
	(void)user;
	snprintf(text, sizeof text, "%u", count);
	log_write(LOG_WARN, "files", "a disk does not answer", "threads", text, "for",
		*owner ? owner : "the server", NULL);
}

static void open_signals(struct program *p)
{
	signal(SIGPIPE, SIG_IGN);
	p->shutdown = (struct shutdown){.sessions = &p->sessions,
		.processes = &p->processes,
		.runs = p->runs,
		.kill_sessions = p->options.kill_sessions};
	shutdown_open(&p->shutdown, &p->loop);
	uv_timer_init(&p->loop, &p->tick);
}

static void on_tick(uv_timer_t *timer)
{
	(void)timer; /* the timer only wakes the loop */
}

/* Adopt the sessions of the last server before clients are served, or give up waiting after ADOPT_MS. */
static void adopt_sessions(struct program *p)
{
	sessions_suspend(&p->sessions, true);
	int found = sessions_adopt(&p->sessions);
	if (found >= 0)
		found = processes_adopt(&p->processes);
	if (found < 0)
		log_write(LOG_WARN, "main", "cannot find sessions of the last server", "error",
			strerror(-found), NULL);
	uint64_t deadline = uv_now(&p->loop) + ADOPT_MS;
	uv_timer_start(&p->tick, on_tick, ADOPT_LOOK_MS, ADOPT_LOOK_MS);
	while (!p->shutdown.begun && uv_now(&p->loop) < deadline &&
		(sessions_are_adopting(&p->sessions) || processes_adopting(&p->processes)))
		uv_run(&p->loop, UV_RUN_ONCE);
	sessions_suspend(&p->sessions, false);
	uv_timer_stop(&p->tick);
}

/* Choose the variables that shells inherit. */
static int open_environment(struct program *p)
{
	const struct serve_list *asked = &p->options.environment;
	p->environment = environment_inherit(environ, asked->items, asked->count);
	return p->environment ? 0 : serve_fail("memory", strerror(ENOMEM));
}

/* Choose a default directory that sandboxes contain. */
static int move_inside(struct program *p)
{
	const char *start = isolation_default_directory(p->isolation, p->workspace);
	if (start != p->workspace && p->options.workspace)
		return serve_fail("--workspace", "is not in the sandbox: add --bind or --ro-bind");
	snprintf(p->cwd, sizeof p->cwd, "%s", start);
	return 0;
}

/* Open all parts. A failure ends the program, so nothing is undone. */
static int open_program(struct program *p)
{
	long nofile;
	unsigned descriptors = resources_raise_descriptors(&nofile);
	p->options.max_connections = resources_connections(
		p->options.max_connections, descriptors, p->options.tls_cert != NULL);
	p->token = privacy_remove_variable(environ, "RINGSIDE_TOKEN");
	p->bounds.holder = p->holder;
	if (resources_find_user(&p->options, &p->user, &p->bounds) < 0 ||
		resources_runtime_dir(p->options.runtime_dir, p->runtime_dir) < 0 ||
		open_sockets(p) < 0 || resources_holder(p->holder) < 0 ||
		resources_admit_user(p->runtime_dir, &p->bounds) < 0 || open_environment(p) < 0)
		return -1;
	(void)snprintf(p->socket, sizeof p->socket, "%s/" LOCAL_SOCKET_NAME, p->runtime_dir);
	if (!utf8_is_valid_string(p->runtime_dir))
		return serve_fail("runtime directory", "its name must be UTF-8");
	if (resources_workspace(&p->options, p->runtime_dir, &p->bounds, p->workspace) < 0)
		return -1;
	snprintf(p->cwd, sizeof p->cwd, "%s", p->workspace);
	p->api = (struct api){.sessions = &p->sessions,
		.processes = &p->processes,
		.auth = &p->auth,
		.access = &p->access,
		.metrics = &p->metrics,
		.terminals = &p->terminals,
		.controls = &p->controls,
		.workspace = p->workspace,
		.workspace_chosen = p->options.workspace != NULL,
		.ending = &p->shutdown.begun,
		.version = RINGSIDE_RELEASE};
	p->dispatcher = (struct dispatcher){
		.sessions = &p->sessions, .metrics = &p->metrics, .access = &p->access};
	api_register(&p->api, &p->dispatcher.routes);
	mcp_register(&p->mcp, &p->dispatcher.routes);
	p->reports = (struct reports){.api = &p->api, .metrics = &p->metrics};
	if (resources_isolation(&p->options, p->runtime_dir, &p->bounds, &p->isolation) < 0)
		return -1;
	if (p->isolation && move_inside(p) < 0)
		return -1;
	p->bounds.isolation = p->isolation;
	if (resources_limits(&p->options, &p->bounds) < 0)
		return -1;
	int rc = uv_loop_init(&p->loop);
	if (rc < 0)
		return serve_fail("event loop", strerror(-rc));
	resources_prepare_loop(&p->loop, descriptors);
	if (open_sessions(p, nofile) < 0 || open_recorders(p) < 0 ||
		open_processes(p, nofile) < 0 || open_runs(p, nofile) < 0 || open_auth(p) < 0)
		return -1;
	access_open(&p->access, &p->auth, p->options.max_connections);
	p->access.drivers_may_all = p->options.drivers_may_all;
	p->metrics.access = &p->access;
	if (open_previews(p) < 0)
		return -1;
	p->api.crew = crew_open(&p->loop,
		&(struct crew_options){.user = p->bounds.user,
			.bare = p->bounds.isolation != NULL,
			.stuck = on_files_stuck});
	p->metrics.crew = p->api.crew;
	p->api.unpackers = crew_open(&p->loop,
		&(struct crew_options){.user = p->bounds.user,
			.bare = p->bounds.isolation != NULL,
			.threads = UNPACKERS_MAX,
			.patient = true});
	p->api.bridge = bridge_create();
	if (p->api.bridge && p->api.crew)
		bridge_load(&p->api);
	if (!p->api.bridge || !p->api.crew || !p->api.unpackers ||
		terminals_open(&p->terminals, &p->sessions, &p->metrics) < 0 ||
		control_sockets_open(&p->controls, &p->dispatcher, &p->metrics) < 0 ||
		rpc_sockets_open(&p->rpcs, &p->dispatcher, &p->metrics) < 0 ||
		mcp_open(&p->mcp, &p->dispatcher, RINGSIDE_RELEASE, &p->loop) < 0 ||
		api_open(&p->api, &p->loop) < 0)
		return serve_fail("memory", strerror(ENOMEM));
	if (webhooks_open(&p->options, &p->loop, &p->api.url, &p->reports, &p->api.hooks) < 0)
		return -1;
	p->metrics.hooks = p->api.hooks;
	p->mcp.rota = &p->api.rota;
	p->terminals.maker = bridge_terminals(&p->api);
	heap_trim_open(&p->heap, &p->loop);
	open_signals(p);
	adopt_sessions(p);
	/* If a signal came meanwhile, do not listen: such connections would never be closed. */
	return p->shutdown.begun ? 0 : open_server(p);
}

static void close_program(struct program *p)
{
	mcp_stop(&p->mcp);
	webhooks_close(p->api.hooks);
	p->api.hooks = p->metrics.hooks = NULL;
	if (p->server)
		server_close(p->server);
	runs_close(p->runs);
	contexts_close(p->contexts);
	recorders_close(p->recorders);
	p->reports.recorders = NULL;
	sessions_close(&p->sessions);
	processes_close(&p->processes);
	crew_close(p->api.unpackers);
	crew_close(p->api.crew);
	api_close(&p->api);
	heap_trim_close(&p->heap);
	shutdown_close(&p->shutdown);
	uv_close((uv_handle_t *)&p->tick, NULL);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	if (p->server)
		server_free(p->server);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	terminals_close(&p->terminals);
	control_sockets_close(&p->controls);
	rpc_sockets_close(&p->rpcs);
	mcp_close(&p->mcp);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	bridge_destroy(p->api.bridge);
	previews_close(&p->previews);
	access_close(&p->access);
	auth_close(&p->auth);
	words_free(p->environment);
	uv_loop_close(&p->loop);
	isolation_close(p->isolation);
	cgroup_close(p->bounds.cgroup);
	user_finish(&p->user);
	log_flush();
}

static int print_version(void)
{
	bool known = strcmp(COMMIT, RINGSIDE_RELEASE) != 0; /* without git COMMIT is the release */
	printf("ringside " RINGSIDE_RELEASE "%s%s%s\n", known ? " (" : "", known ? COMMIT : "",
		known ? ")" : "");
	return 0;
}

static int serve(struct program *p)
{
	if (p->options.verbose)
		log_set_level(LOG_DEBUG);
	log_set_commands(p->options.log_commands);
	log_open();
	privacy_begin();
	if (open_program(p) < 0)
		return 1;
	if (!p->shutdown.begun) {
		addresses_print(p->server, &p->auth, &p->options, p->runtime_dir);
		supervisor_notify("READY=1");
	}
	uv_run(&p->loop, UV_RUN_DEFAULT);
	close_program(p);
	return 0;
}

static int start(struct program *p)
{
	int rc = first_process_fork();
	if (rc < 0) {
		serve_fail("cannot fork the server from pid 1", strerror(-rc));
		return 1;
	}
	return serve(p);
}

int main(int argc, char **argv)
{
	static struct program p;
	standard_open();
	json_read_open();
	if (argc < 2 || strcmp(argv[1], "serve") != 0) {
		fputs("ringside-server is started by ringside serve\n", stderr);
		return 2;
	}
	switch (serve_options_parse(argc, argv, &p.options)) {
	case SERVE_HELP:
		serve_options_help(stdout);
		return 0;
	case SERVE_VERSION:
		return print_version();
	case SERVE_START:
		return start(&p);
	default:
		return 2;
	}
}
