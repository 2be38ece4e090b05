/*
 * ringside-server: opens the parts of the server, connects them, runs the loop and closes them. If a part cannot be opened, the
 * program prints the reason and exits.
 */
#include "shell/json_read.h"
#include "shell/cgroup.h"
#include "shell/files/crew.h"
#include "shell/heap_trim.h"
#include "shell/clock.h"
#include "shell/id.h"
#include "shell/recording/recorders.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "shell/words.h"
#include "ws/access.h"
#include "ws/api/api.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/api/bridge/terminal.h"
#include "ws/dispatcher.h"
#include "ws/fleet/fleet.h"
#include "ws/log.h"
#include "ws/mcp/mcp.h"
#include "ws/net/server.h"
#include "ws/net/takeover.h"
#include "ws/preview/previews.h"
#include "ws/serve/addresses.h"
#include "ws/serve/commit.h"
#include "ws/serve/fail.h"
#include "ws/serve/first_process.h"
#include "ws/serve/inheritance.h"
#include "ws/serve/options.h"
#include "ws/serve/setup.h"
#include "ws/serve/privacy.h"
#include "ws/serve/reexec.h"
#include "ws/serve/reports.h"
#include "ws/serve/resources.h"
#include "ws/serve/shutdown.h"
#include "ws/serve/standard.h"
#include "ws/serve/supervisor.h"
#include "ws/serve/webhooks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#define ADOPT_MS 2000u /* time to adopt sessions before clients are served */
#define ADOPT_LOOK_MS 10u
#define REGISTRY_WAIT_MS 30000u /* for the registry, at the first start of a node */
#define PREVIEWS_SHARE 4u       /* connections of previews: a quarter of all */

extern char **environ;

struct program {
	struct serve_options options;
	uv_loop_t loop;
	struct sessions sessions;
	struct processes processes;
	struct recorders *recorders; /* NULL: no recording */
	struct setup setup;
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
	char *token;               /* of the owner, from the environment, or NULL */
	bool upgraded;             /* this process was another server before, */
	struct inheritance before; /* which has left this */
	struct server_inherited sockets_before[SERVER_LISTENERS_MAX]; /* parsed */
	struct reexec reexec;
	struct fleet *fleet; /* NULL: none */
	const char *refused; /* why the fleet has refused this node; NULL: it has not */
	bool signals;        /* they are handled */
};

static int open_sessions(struct program *p, long nofile)
{
	const struct serve_options *o = &p->options;
	struct sessions_config config = {
		.runtime_dir = p->setup.runtime_dir,
		.holder = p->setup.holder,
		.cwd = p->setup.cwd,
		.bounds = &p->setup.bounds,
		.environment = p->setup.environment,
		.socket = p->setup.socket,
		.ring_size = o->ring_size,
		.scrollback = o->scrollback,
		.screen_memory = o->screen_memory,
		.clipboard = o->clipboard,
		.max_sessions = o->max_sessions,
		.ended_ttl_s = o->ended_ttl_s,
		.threads = resources_threads(),
		.nofile = nofile,
		.lock = p->upgraded ? &p->before.lock : NULL,
	};
	int rc = sessions_open(&p->sessions, &p->loop, &config, &reports_of_sessions, &p->reports);
	if (rc == -EBUSY)
		return serve_fail(
			p->setup.runtime_dir, "another server uses this runtime directory");
	return rc < 0 ? serve_fail(p->setup.runtime_dir, strerror(-rc)) : 0;
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
	struct runs_config config = {.holder = p->setup.bounds.holder,
		.environment = p->setup.environment,
		.nofile = nofile,
		.bounds = &p->setup.bounds};
	int rc = runs_open(&p->loop, &config, &p->runs);
	if (rc == 0)
		rc = contexts_open(
			&p->loop, p->runs, (uint64_t)p->options.context_ttl_s * 1000, &p->contexts);
	p->api.runs = p->runs;
	p->api.contexts = p->contexts;
	return rc < 0 ? serve_fail(p->setup.runtime_dir, strerror(-rc)) : 0;
}

static int open_processes(struct program *p, long nofile)
{
	const struct serve_options *o = &p->options;
	struct processes_config config = {
		.runtime_dir = p->setup.runtime_dir,
		.holder = p->setup.holder,
		.cwd = p->setup.cwd,
		.bounds = &p->setup.bounds,
		.environment = p->setup.environment,
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
	return rc < 0 ? serve_fail(p->setup.runtime_dir, strerror(-rc)) : 0;
}

static void on_refused(void *user, const char *why)
{
	struct program *p = user;
	p->refused = why;
	serve_fail("--cluster", why);
	if (p->signals)
		kill(getpid(), SIGTERM); /* the orderly shutdown */
	else
		uv_stop(&p->loop);
}

static int open_fleet(struct program *p)
{
	struct serve_options *o = &p->options;
	if (!o->cluster)
		return 0;
	int fd = open(p->setup.runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fleet_options options = {.loop = &p->loop,
		.sessions = &p->sessions,
		.processes = &p->processes,
		.auth = &p->auth,
		.dispatcher = &p->dispatcher,
		.terminals = &p->terminals,
		.api = &p->api,
		.servers = o->cluster,
		.creds = o->cluster_creds,
		.ca = o->cluster_ca,
		.node = o->node,
		.version = RINGSIDE_RELEASE,
		.runtime_fd = fd,
		.refused = on_refused,
		.user = p};
	int rc = fd < 0 ? -errno : fleet_open(&options, &p->fleet);
	if (rc == -EINVAL)
		return serve_fail("--cluster", "the addresses or the credentials are invalid");
	if (rc < 0)
		return serve_fail("--cluster", strerror(-rc));
	/* An address may have a password. */
	explicit_bzero((char *)o->cluster, strlen(o->cluster));
	if (!*fleet_secret(p->fleet, REGISTRY_WAIT_MS))
		return p->refused ? -1 : serve_fail("--cluster", "the registry does not answer");
	return 0;
}

/* The server listens: join the fleet. */
static int join_fleet(struct program *p)
{
	const struct serve_options *o = &p->options;
	const char *url = o->advertise ? o->advertised.url : p->api.own_url;
	if (!p->fleet)
		return 0;
	if (!url)
		return serve_fail("--cluster",
			"requires --advertise or a --listen that is not a unix socket");
	int rc = fleet_join(p->fleet, url);
	return rc < 0 ? serve_fail("--cluster", strerror(-rc)) : 0;
}

static int open_auth(struct program *p)
{
	if (!p->options.token_file && !p->token)
		p->options.token_file = resources_token_file();
	struct auth_options options = {
		.runtime_dir = p->setup.runtime_dir,
		.token_file = p->options.token_file,
		.token = p->token,
		.open = p->options.no_auth,
		.loop = &p->loop,
		.node = p->options.node,
		.secret = p->fleet ? fleet_secret(p->fleet, 0) : NULL,
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
	p->previews.owners_only = p->setup.bounds.isolation && !p->options.share_net;
	p->api.previews = &p->previews;
	int rc = previews_open(&p->previews, &p->sessions, &p->loop, p->auth.dir_fd);
	return rc < 0 ? serve_fail("previews.json", strerror(-rc)) : 0;
}

/* Acquire passed sockets. They are checked as --listen is, and replace the default address. */
static int open_sockets(struct program *p)
{
	if (p->upgraded)
		return 0;
	if (supervisor_acquire_sockets(p->setup.runtime_dir, &p->sockets) < 0)
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
		.listen_count = p->upgraded ? 0 : o->listen.count,
		.inherited = p->upgraded ? p->sockets_before : p->sockets.items,
		.inherited_count = p->upgraded ? takeover_sockets(&p->before.net, p->sockets_before)
					       : p->sockets.count,
		.runtime_dir = p->setup.runtime_dir,
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
	p->reexec.api = &p->api;
	p->reexec.shutdown = &p->shutdown;
	p->reexec.before = &p->before;
	p->reexec.token = p->options.token_in_environment ? p->auth.token : NULL;
	reexec_open(&p->reexec, &p->loop);
	reexec_unblock_signals();
	p->signals = true;
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

/* Open all parts. A failure ends the program, so nothing is undone. */
static int open_program(struct program *p)
{
	long nofile;
	unsigned descriptors = resources_raise_descriptors(&nofile);
	p->reexec.nofile = nofile;
	p->options.max_connections = resources_connections(
		p->options.max_connections, descriptors, p->options.tls_cert != NULL);
	p->token = p->upgraded ? p->before.token
			       : privacy_remove_variable(environ, "RINGSIDE_TOKEN");
	if (setup_find(&p->options, &p->setup) < 0 || open_sockets(p) < 0)
		return -1;
	p->api = (struct api){.sessions = &p->sessions,
		.processes = &p->processes,
		.auth = &p->auth,
		.access = &p->access,
		.metrics = &p->metrics,
		.terminals = &p->terminals,
		.controls = &p->controls,
		.workspace = p->setup.workspace,
		.workspace_chosen = p->options.workspace != NULL,
		.ending = &p->shutdown.begun,
		.started_ms = clock_wall_ms(),
		.version = RINGSIDE_RELEASE};
	p->dispatcher = (struct dispatcher){
		.sessions = &p->sessions, .metrics = &p->metrics, .access = &p->access};
	if (id_hex(p->api.instance, sizeof p->api.instance) < 0)
		return serve_fail("random bytes", "the kernel has none");
	api_register(&p->api, &p->dispatcher.routes);
	mcp_register(&p->mcp, &p->dispatcher.routes);
	p->reports = (struct reports){.api = &p->api, .metrics = &p->metrics};
	if (resources_limits(&p->options, &p->setup.bounds) < 0)
		return -1;
	int rc = uv_loop_init(&p->loop);
	if (rc < 0)
		return serve_fail("event loop", strerror(-rc));
	resources_prepare_loop(&p->loop, descriptors);
	if (open_sessions(p, nofile) < 0 || open_recorders(p) < 0 || open_processes(p, nofile) < 0 ||
		open_runs(p, nofile) < 0 || open_fleet(p) < 0 || open_auth(p) < 0)
		return -1;
	access_open(&p->access, &p->auth, p->options.max_connections);
	p->access.drivers_may_all = p->options.drivers_may_all;
	p->metrics.access = &p->access;
	if (open_previews(p) < 0)
		return -1;
	p->api.crew = crew_open(&p->loop,
		&(struct crew_options){.user = p->setup.bounds.user,
			.bare = p->setup.bounds.isolation != NULL,
			.stuck = on_files_stuck});
	p->metrics.crew = p->api.crew;
	p->api.unpackers = crew_open(&p->loop,
		&(struct crew_options){.user = p->setup.bounds.user,
			.bare = p->setup.bounds.isolation != NULL,
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
	if (!p->shutdown.begun)
		return open_server(p) < 0 ? -1 : join_fleet(p);
	takeover_abandon(&p->before.net, p->setup.runtime_dir);
	return 0;
}

static void close_program(struct program *p)
{
	mcp_stop(&p->mcp);
	webhooks_close(p->api.hooks);
	p->api.hooks = p->metrics.hooks = NULL;
	if (p->server)
		server_close(p->server);
	fleet_close(p->fleet);
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
	reexec_close(&p->reexec);
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
	fleet_free(p->fleet);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	bridge_destroy(p->api.bridge);
	previews_close(&p->previews);
	access_close(&p->access);
	auth_close(&p->auth);
	uv_loop_close(&p->loop);
	cgroup_close(p->setup.bounds.cgroup);
	setup_finish(&p->setup);
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
	if (open_program(p) < 0)
		return 1;
	if (p->server && p->upgraded)
		reexec_continue(&p->reexec, COMMIT);
	else if (p->server)
		addresses_print(p->server, &p->auth, &p->options, p->setup.runtime_dir);
	if (p->server)
		supervisor_notify("READY=1");
	uv_run(&p->loop, UV_RUN_DEFAULT);
	close_program(p);
	if (p->reexec.state != REEXEC_READY)
		return p->refused ? 1 : 0;
	reexec_execute(&p->reexec);
	return 1;
}

static int start(struct program *p)
{
	int rc = p->upgraded ? 0 : first_process_fork();
	if (rc < 0) {
		serve_fail("cannot fork the server from pid 1", strerror(-rc));
		return 1;
	}
	return serve(p);
}

int main(int argc, char **argv)
{
	static struct program p;
	signal(SIGUSR2, SIG_IGN); /* until it is handled: it must not end a server that starts */
	standard_open();
	json_read_open();
	if (argc < 2 || strcmp(argv[1], "serve") != 0) {
		fputs("ringside-server is started by ringside serve\n", stderr);
		return 2;
	}
	privacy_begin();
	int inherited = inheritance_read(environ, &p.before);
	if (inherited < 0) {
		serve_fail(INHERITANCE_VARIABLE, "is not from a server");
		return 1;
	}
	p.upgraded = inherited > 0;
	takeover_claim(&p.before.net);
	/* Webhooks' addresses are wiped from argv. */
	p.reexec.argv = words_copy((const char *const *)argv);
	if (!p.reexec.argv)
		return 1;
	switch (serve_options_parse(argc, argv, &p.options)) {
	case SERVE_HELP:
		serve_options_help(stdout);
		return 0;
	case SERVE_VERSION:
		return print_version();
	case SERVE_START:
		return p.options.check ? setup_check(&p.options, COMMIT) : start(&p);
	default:
		return 2;
	}
}
