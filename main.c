/*
 * ringside: wiring. What the server is made of is opened, told of each other, run and closed here; what each part does
 * is written in its room. A part that cannot be opened ends the program, with a word on standard error.
 */
#include "ring/utf8.h"
#include "shell/bounds.h"
#include "shell/cgroup.h"
#include "shell/environment.h"
#include "shell/heap_trim.h"
#include "shell/isolation.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "ws/access.h"
#include "ws/api/api.h"
#include "ws/client/command.h"
#include "ws/dispatcher.h"
#include "ws/log.h"
#include "ws/mcp/mcp.h"
#include "ws/net/server.h"
#include "ws/serve/addresses.h"
#include "ws/serve/fail.h"
#include "ws/serve/options.h"
#include "ws/serve/privacy.h"
#include "ws/serve/reports.h"
#include "ws/serve/resources.h"
#include "ws/serve/shutdown.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#define ADOPT_MS 2000u /* for sessions to be adopted before others are served */
#define ADOPT_LOOK_MS 10u

extern char **environ;

struct program {
	struct serve_options options;
	uv_loop_t loop;
	struct sessions sessions;
	struct processes processes;
	struct isolation *isolation;
	struct bounds bounds;
	struct user user; /* of whom sessions are, where the bounds say so */
	struct heap_trim heap;
	struct runs *runs;
	struct auth auth;
	struct access access;
	struct metrics metrics;
	struct terminals terminals;
	struct control_sockets controls;
	struct mcp mcp;
	struct api api;
	struct dispatcher dispatcher;
	struct reports reports;
	struct shutdown shutdown;
	struct server *server;
	uv_timer_t tick;
	char **environment; /* of shells */
	char *token;        /* of the owner, as the environment had it; or NULL */
	char runtime_dir[PATH_MAX], holder[PATH_MAX], cwd[PATH_MAX];
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
		.ring_size = o->ring_size,
		.scrollback = o->scrollback,
		.clipboard = o->clipboard,
		.max_sessions = o->max_sessions,
		.ended_ttl_s = o->ended_ttl_s,
		.threads = resources_threads(),
		.nofile = nofile,
	};
	int rc = sessions_open(&p->sessions, &p->loop, &config, &reports_of_sessions, &p->reports);
	if (rc == -EBUSY)
		return serve_fail(p->runtime_dir, "another server uses this runtime directory");
	if (rc == -EBADMSG || rc == -EACCES)
		return serve_fail(p->runtime_dir,
			"what is in holders.key, the secret that its sessions are known by, is damaged or not this user's alone");
	return rc < 0 ? serve_fail(p->runtime_dir, strerror(-rc)) : 0;
}

static int open_runs(struct program *p, long nofile)
{
	struct runs_config config = {.dir = p->runtime_dir,
		.environment = p->environment,
		.nofile = nofile,
		.bounds = &p->bounds};
	int rc = runs_open(&p->loop, &config, &p->runs);
	p->api.runs = p->runs;
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
		p->options.token_file = resources_credential();
	struct auth_options options = {
		.runtime_dir = p->runtime_dir,
		.token_file = p->options.token_file,
		.token = p->token,
		.open = p->options.no_auth,
		.loop = &p->loop,
	};
	p->options.token_in_environment = p->token != NULL;
	int rc = auth_open(&p->auth, &options);
	privacy_forget(p->token);
	p->token = NULL;
	if (rc == -EINVAL)
		return serve_fail("token", "must have 16 to 512 characters, visible ones of ASCII");
	return rc < 0 ? serve_fail("token", strerror(-rc)) : 0;
}

static int open_server(struct program *p, unsigned descriptors)
{
	const struct serve_options *o = &p->options;
	struct server_options options = {
		.loop = &p->loop,
		.dispatcher = &p->dispatcher,
		.auth = &p->auth,
		.terminals = &p->terminals,
		.controls = &p->controls,
		.metrics = &p->metrics,
		.listen = o->listen.items,
		.listen_count = o->listen.count,
		.runtime_dir = p->runtime_dir,
		.hosts = o->hosts.items,
		.hosts_count = o->hosts.count,
		.origins = o->origins.items,
		.origins_count = o->origins.count,
		.proxies = o->proxies.items,
		.proxies_count = o->proxies.count,
		.tls_cert = o->tls_cert,
		.tls_key = o->tls_key,
		.http2 = o->http2,
		.header_timeout_s = o->header_timeout_s,
		.ping_interval_s = o->ping_interval_s,
		.max_connections = resources_connections(o->max_connections, descriptors),
	};
	int rc = server_open(&options, &p->server);
	p->shutdown.server = p->server;
	if (rc == 0)
		p->api.url = addresses_find_browsable(p->server);
	return rc;
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
	(void)timer; /* it only ends the loop's sleep */
}

/* Nobody is served before the sessions of the last server are back, unless some do not answer. */
static void adopt_sessions(struct program *p)
{
	sessions_put_off(&p->sessions, true);
	int found = sessions_adopt(&p->sessions);
	if (found >= 0)
		found = processes_adopt(&p->processes);
	if (found < 0)
		log_write(LOG_WARN, "main", "cannot look for sessions and processes", "error",
			strerror(-found), NULL);
	uint64_t deadline = uv_now(&p->loop) + ADOPT_MS;
	uv_timer_start(&p->tick, on_tick, ADOPT_LOOK_MS, ADOPT_LOOK_MS);
	while (!p->shutdown.begun && uv_now(&p->loop) < deadline &&
		(sessions_adopting(&p->sessions) || processes_adopting(&p->processes)))
		uv_run(&p->loop, UV_RUN_ONCE);
	sessions_put_off(&p->sessions, false);
	uv_timer_stop(&p->tick);
}

/* What shells get of our environment is chosen. */
static int open_environment(struct program *p)
{
	const struct serve_list *asked = &p->options.environment;
	p->environment = environment_pass(environ, asked->items, asked->count);
	return p->environment ? 0 : serve_fail("memory", strerror(ENOMEM));
}

/* Where sessions begin that name no directory. */
static void move_inside(struct program *p)
{
	const char *start = isolation_start(p->isolation, p->cwd);
	if (start != p->cwd)
		snprintf(p->cwd, sizeof p->cwd, "%s", start);
}

/* Everything that is needed to serve. What fails here ends the program, so nothing is undone. */
static int open_program(struct program *p)
{
	long nofile;
	unsigned descriptors = resources_raise_descriptors(&nofile);
	p->token = privacy_take(environ, "RINGSIDE_TOKEN");
	p->bounds.holder = p->holder;
	if (resources_runtime_dir(p->options.runtime_dir, p->runtime_dir) < 0 ||
		resources_holder(p->holder) < 0 ||
		resources_user(&p->options, p->runtime_dir, &p->user, &p->bounds) < 0 ||
		open_environment(p) < 0)
		return -1;
	if (p->bounds.user)
		snprintf(p->cwd, sizeof p->cwd, "%s", p->user.home);
	else if (!getcwd(p->cwd, sizeof p->cwd))
		return serve_fail("working directory", strerror(errno));
	if (!utf8_is_valid_string(p->cwd) || !utf8_is_valid_string(p->runtime_dir))
		return serve_fail("working and runtime directory", "their names must be UTF-8");
	p->api = (struct api){.sessions = &p->sessions,
		.processes = &p->processes,
		.auth = &p->auth,
		.access = &p->access,
		.metrics = &p->metrics,
		.terminals = &p->terminals,
		.controls = &p->controls,
		.version = RINGSIDE_RELEASE};
	p->dispatcher = (struct dispatcher){
		.sessions = &p->sessions, .metrics = &p->metrics, .access = &p->access};
	api_register(&p->api, &p->dispatcher.routes);
	mcp_register(&p->mcp, &p->dispatcher.routes);
	p->reports = (struct reports){.api = &p->api, .metrics = &p->metrics};
	if (resources_isolation(&p->options, p->runtime_dir, &p->bounds, &p->isolation) < 0)
		return -1;
	if (p->isolation)
		move_inside(p);
	p->bounds.isolation = p->isolation;
	if (resources_limits(&p->options, &p->bounds) < 0)
		return -1;
	if (uv_loop_init(&p->loop) < 0 || open_sessions(p, nofile) < 0 ||
		open_processes(p, nofile) < 0 || open_runs(p, nofile) < 0 || open_auth(p) < 0)
		return -1;
	access_open(&p->access, &p->auth,
		resources_connections(p->options.max_connections, descriptors));
	p->metrics.quotas = &p->access.quotas;
	if (terminals_open(&p->terminals, &p->sessions, &p->metrics) < 0 ||
		control_sockets_open(&p->controls, &p->dispatcher, &p->metrics) < 0 ||
		mcp_open(&p->mcp, &p->dispatcher, RINGSIDE_RELEASE, &p->loop) < 0 ||
		api_open(&p->api, &p->loop) < 0)
		return serve_fail("memory", strerror(ENOMEM));
	heap_trim_open(&p->heap, &p->loop);
	open_signals(p);
	adopt_sessions(p);
	/* Asked to end meanwhile: whoever is let in now would never be let go. */
	return p->shutdown.begun ? 0 : open_server(p, descriptors);
}

static void close_program(struct program *p)
{
	mcp_stop(&p->mcp);
	if (p->server)
		server_close(p->server);
	runs_close(p->runs);
	sessions_close(&p->sessions);
	processes_close(&p->processes);
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
	mcp_close(&p->mcp);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	access_close(&p->access);
	auth_close(&p->auth);
	environment_destroy(p->environment);
	uv_loop_close(&p->loop);
	isolation_close(p->isolation);
	cgroup_close(p->bounds.cgroup);
	user_finish(&p->user);
	log_flush();
}

/* What is said of the program, and of the commands that are not the server. */
static int print_help(void)
{
	serve_options_help(stdout);
	puts("\nAgainst a running server (ringside COMMAND --help says more):\n");
	command_list();
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
	if (!p->shutdown.begun)
		addresses_print(p->server, &p->auth, &p->options, p->runtime_dir);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	close_program(p);
	return 0;
}

int main(int argc, char **argv)
{
	static struct program p;
	resources_open_standard();
	const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
	if (command)
		return command_main(command, argc - 1, argv + 1);
	switch (serve_options_parse(argc, argv, &p.options)) {
	case SERVE_HELP:
		return print_help();
	case SERVE_VERSION:
		puts("ringside " RINGSIDE_RELEASE);
		return 0;
	case SERVE_START:
		return serve(&p);
	default:
		return 2;
	}
}
