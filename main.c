/* ringside: options, wiring, run, close. */
#include "shell/heap.h"
#include "shell/run/run.h"
#include "shell/session/sessions.h"
#include "ws/api/api.h"
#include "ws/client/command.h"
#include "ws/dispatcher.h"
#include "ws/log.h"
#include "ws/mcp/mcp.h"
#include "ws/net/rendezvous.h"
#include "ws/net/server.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define LIST_MAX 32u
#define ADOPT_MS 2000u     /* for sessions to be adopted before others are served */
#define GOODBYE_MS 1000u   /* for telling clients that the server ends */
#define RUNS_GRACE_MS 300u /* for commands on their own to end with it */
#define DEFAULT_LISTEN "127.0.0.1:7070"

extern char **environ;

struct settings {
	const char *listen[LIST_MAX], *hosts[LIST_MAX], *origins[LIST_MAX];
	size_t listen_count, hosts_count, origins_count;
	const char *runtime_dir, *token_file, *tls_cert, *tls_key;
	bool no_auth, kill_sessions, log_commands, verbose;
	size_t ring_size;
	unsigned scrollback;
	bool clipboard;
	unsigned max_processes, kept_processes, process_ttl_s;
	size_t process_ring;
	unsigned max_sessions, max_connections, ended_ttl_s, header_timeout_s, ping_interval_s;
};

struct program {
	struct settings settings;
	uv_loop_t loop;
	struct sessions sessions;
	struct processes processes;
	struct heap heap;
	struct runs *runs;
	struct auth auth;
	struct metrics metrics;
	struct terminals terminals;
	struct control_sockets controls;
	struct mcp mcp;
	struct api api;
	struct dispatcher dispatcher;
	struct server *server;
	uv_signal_t sigterm, sigint;
	uv_timer_t goodbye;
	char runtime_dir[PATH_MAX], holder[PATH_MAX], cwd[PATH_MAX];
	bool stopping;
	uint64_t stop_at_ms;
};

static const char usage[] =
	"Usage: ringside serve [OPTIONS]\n"
	"\n"
	"Serve shared terminals. Sessions outlive the server: start it again and they are still there.\n"
	"\n"
	"  --listen ADDR:PORT        listen there; may be repeated; unix:PATH for a unix socket\n"
	"                            (default " DEFAULT_LISTEN "; port 0: the kernel chooses)\n"
	"  --runtime-dir DIR         where sessions and secrets are kept\n"
	"                            (default $XDG_RUNTIME_DIR/ringside, or /tmp/ringside-UID)\n"
	"  --token-file FILE         the owner's token (default: a random one, kept in the runtime directory;\n"
	"                            $RINGSIDE_TOKEN also sets it)\n"
	"  --no-auth                 everybody who can connect is the owner; loopback and unix sockets only\n"
	"  --allow-host HOST[:PORT]  also serve requests for this host; may be repeated\n"
	"  --allow-origin ORIGIN     also serve pages of this origin (https://example.com); may be repeated\n"
	"  --tls-cert FILE           serve HTTPS with this certificate chain (PEM)\n"
	"  --tls-key FILE            and this key\n"
	"  --ring-size SIZE          history of a session in bytes, or with K, M, G (default 4M)\n"
	"  --scrollback LINES        that a screen keeps above itself (default 10000)\n"
	"  --clipboard               programs may set the clipboards of those who drive (OSC 52)\n"
	"  --max-sessions N          (default 256)\n"
	"  --process-ring SIZE       output kept of a process (default 1M)\n"
	"  --max-processes N         that run at once (default 512)\n"
	"  --kept-processes N        of those that have ended (default 100, and those of the last minute)\n"
	"  --process-ttl SECONDS     how long an ended process is kept (default 3600; 0 = for ever)\n"
	"  --max-connections N       (default 4096, fewer where descriptors are scarce)\n"
	"  --ended-ttl SECONDS       how long an ended session stays readable (default 86400; 0 = for ever)\n"
	"  --header-timeout SECONDS  for a client to send its request (default 10)\n"
	"  --ping-interval SECONDS   ping terminal sockets that have been silent for this long (default 15)\n"
	"  --kill-sessions-on-exit   end all sessions and processes when the server is asked to end\n"
	"  --log-commands            log what commands are, not only their length and a digest\n"
	"  --verbose                 log more\n"
	"  --help, --version\n";

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "ringside: %s: %s\n", what, why);
	return -1;
}

static bool parse_size(const char *text, size_t *ret_size)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (shift > 0)
		end++;
	if (end == text || *end || text[0] == '-' || n > RING_SIZE_MAX >> shift)
		return false;
	*ret_size = (size_t)n << shift;
	return *ret_size >= RING_SIZE_MIN;
}

static bool parse_number(const char *text, unsigned min, unsigned max, unsigned *ret_number)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (end == text || *end || text[0] == '-' || n < min || n > max)
		return false;
	*ret_number = (unsigned)n;
	return true;
}

static bool add(const char **list, size_t *count, const char *text)
{
	if (*count == LIST_MAX)
		return false;
	list[(*count)++] = text;
	return true;
}

enum {
	OPT_LISTEN = 256,
	OPT_RUNTIME_DIR,
	OPT_TOKEN_FILE,
	OPT_NO_AUTH,
	OPT_HOST,
	OPT_ORIGIN,
	OPT_CERT,
	OPT_KEY,
	OPT_RING_SIZE,
	OPT_SCROLLBACK,
	OPT_CLIPBOARD,
	OPT_MAX_SESSIONS,
	OPT_MAX_CONNECTIONS,
	OPT_PROCESS_RING,
	OPT_MAX_PROCESSES,
	OPT_KEPT_PROCESSES,
	OPT_PROCESS_TTL,
	OPT_TTL,
	OPT_HEADER_TIMEOUT,
	OPT_PING_INTERVAL,
	OPT_KILL,
	OPT_LOG_COMMANDS,
	OPT_VERBOSE,
	OPT_HELP,
	OPT_VERSION
};

static bool take_option(struct settings *s, int option, const char *value)
{
	switch (option) {
	case OPT_LISTEN:
		return add(s->listen, &s->listen_count, value);
	case OPT_HOST:
		return add(s->hosts, &s->hosts_count, value);
	case OPT_ORIGIN:
		return add(s->origins, &s->origins_count, value);
	case OPT_RUNTIME_DIR:
		s->runtime_dir = value;
		return true;
	case OPT_TOKEN_FILE:
		s->token_file = value;
		return true;
	case OPT_NO_AUTH:
		s->no_auth = true;
		return true;
	case OPT_CERT:
		s->tls_cert = value;
		return true;
	case OPT_KEY:
		s->tls_key = value;
		return true;
	case OPT_KILL:
		s->kill_sessions = true;
		return true;
	case OPT_LOG_COMMANDS:
		s->log_commands = true;
		return true;
	case OPT_VERBOSE:
		s->verbose = true;
		return true;
	case OPT_RING_SIZE:
		return parse_size(value, &s->ring_size);
	case OPT_SCROLLBACK:
		return parse_number(value, 0, SCREEN_SCROLLBACK_MAX, &s->scrollback);
	case OPT_CLIPBOARD:
		s->clipboard = true;
		return true;
	case OPT_MAX_SESSIONS:
		return parse_number(value, 1, 100000, &s->max_sessions);
	case OPT_MAX_CONNECTIONS:
		return parse_number(value, 1, 1000000, &s->max_connections);
	case OPT_PROCESS_RING:
		return parse_size(value, &s->process_ring);
	case OPT_MAX_PROCESSES:
		return parse_number(value, 1, PROCESSES_TOTAL_MAX, &s->max_processes);
	case OPT_KEPT_PROCESSES:
		return parse_number(value, 0, PROCESSES_TOTAL_MAX, &s->kept_processes);
	case OPT_PROCESS_TTL:
		return parse_number(value, 0, 1u << 30, &s->process_ttl_s);
	case OPT_TTL:
		return parse_number(value, 0, 1u << 30, &s->ended_ttl_s);
	case OPT_PING_INTERVAL:
		return parse_number(value, 1, 3600, &s->ping_interval_s);
	case OPT_HEADER_TIMEOUT:
		return parse_number(value, 1, 3600, &s->header_timeout_s);
	default:
		return false;
	}
}

/* Returns 1 to go on, 0 when all is said, -1 when the options are wrong. */
static int parse_options(int argc, char **argv, struct settings *s)
{
	static const struct option names[] = {
		{"listen", required_argument, NULL, OPT_LISTEN},
		{"runtime-dir", required_argument, NULL, OPT_RUNTIME_DIR},
		{"token-file", required_argument, NULL, OPT_TOKEN_FILE},
		{"no-auth", no_argument, NULL, OPT_NO_AUTH},
		{"allow-host", required_argument, NULL, OPT_HOST},
		{"allow-origin", required_argument, NULL, OPT_ORIGIN},
		{"tls-cert", required_argument, NULL, OPT_CERT},
		{"tls-key", required_argument, NULL, OPT_KEY},
		{"ring-size", required_argument, NULL, OPT_RING_SIZE},
		{"scrollback", required_argument, NULL, OPT_SCROLLBACK},
		{"clipboard", no_argument, NULL, OPT_CLIPBOARD},
		{"max-sessions", required_argument, NULL, OPT_MAX_SESSIONS},
		{"max-connections", required_argument, NULL, OPT_MAX_CONNECTIONS},
		{"process-ring", required_argument, NULL, OPT_PROCESS_RING},
		{"max-processes", required_argument, NULL, OPT_MAX_PROCESSES},
		{"kept-processes", required_argument, NULL, OPT_KEPT_PROCESSES},
		{"process-ttl", required_argument, NULL, OPT_PROCESS_TTL},
		{"ended-ttl", required_argument, NULL, OPT_TTL},
		{"ping-interval", required_argument, NULL, OPT_PING_INTERVAL},
		{"header-timeout", required_argument, NULL, OPT_HEADER_TIMEOUT},
		{"kill-sessions-on-exit", no_argument, NULL, OPT_KILL},
		{"log-commands", no_argument, NULL, OPT_LOG_COMMANDS},
		{"verbose", no_argument, NULL, OPT_VERBOSE},
		{"help", no_argument, NULL, OPT_HELP},
		{"version", no_argument, NULL, OPT_VERSION},
		{0},
	};
	int option, index;
	while ((option = getopt_long(argc, argv, "", names, &index)) != -1) {
		if (option == OPT_HELP || option == OPT_VERSION) {
			puts(option == OPT_HELP ? usage : "ringside " RINGSIDE_RELEASE);
			if (option == OPT_HELP) {
				puts("Against a running server (ringside COMMAND --help says more):\n");
				command_list();
			}
			return 0;
		}
		if (option == '?')
			return fail("options", "see ringside --help");
		if (!take_option(s, option, optarg))
			return fail(names[index].name, "this value makes no sense");
	}
	if (argc - optind > 1 || (argc - optind == 1 && strcmp(argv[optind], "serve") != 0))
		return fail("usage", "ringside serve [OPTIONS], see ringside --help");
	return 1;
}

static int check_settings(struct settings *s)
{
	if (s->listen_count == 0)
		add(s->listen, &s->listen_count, DEFAULT_LISTEN);
	if (!s->tls_cert != !s->tls_key)
		return fail("TLS", "--tls-cert and --tls-key go together");
	for (size_t i = 0; s->no_auth && i < s->listen_count; i++)
		if (!server_address_is_local(s->listen[i]))
			return fail("--no-auth", "only for loopback addresses and unix sockets");
	return 0;
}

/* Make the runtime directory, or refuse one that others could have prepared for us. */
static int prepare_runtime_dir(struct program *p)
{
	const char *given = p->settings.runtime_dir;
	struct stat st;
	if (given)
		snprintf(p->runtime_dir, sizeof p->runtime_dir, "%s", given);
	else
		rendezvous_default_dir(p->runtime_dir);
	if (mkdir(p->runtime_dir, 0700) < 0 && errno != EEXIST)
		return fail(p->runtime_dir, strerror(errno));
	if (lstat(p->runtime_dir, &st) < 0)
		return fail(p->runtime_dir, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return fail(p->runtime_dir, "is not a directory of this user");
	if ((st.st_mode & 077) != 0 && chmod(p->runtime_dir, 0700) < 0)
		return fail(p->runtime_dir, strerror(errno));
	/* Shells are told of files in it, wherever they are. */
	char *whole = realpath(p->runtime_dir, NULL);
	if (!whole || strlen(whole) >= sizeof p->runtime_dir) {
		free(whole);
		return fail(p->runtime_dir, "cannot be resolved");
	}
	snprintf(p->runtime_dir, sizeof p->runtime_dir, "%s", whole);
	free(whole);
	return 0;
}

/* ringside-holder is beside ringside, or where the environment says. */
static int find_holder(struct program *p)
{
	const char *given = getenv("RINGSIDE_HOLDER");
	if (given) {
		snprintf(p->holder, sizeof p->holder, "%s", given);
	} else {
		ssize_t n = readlink(
			"/proc/self/exe", p->holder, sizeof p->holder - sizeof "-holder");
		if (n < 0)
			return fail("/proc/self/exe", strerror(errno));
		snprintf(p->holder + n, sizeof p->holder - (size_t)n, "-holder");
	}
	return access(p->holder, X_OK) < 0 ? fail(p->holder, strerror(errno)) : 0;
}

/* Use as many descriptors as we may; shells get the limit that we were started with. */
static unsigned raise_descriptor_limit(long *ret_before)
{
	struct rlimit limit;
	*ret_before = 0;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1024;
	*ret_before = (long)limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max > 1048576 ? 1048576 : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return (unsigned)*ret_before;
	return (unsigned)limit.rlim_cur;
}

/* Half of the descriptors are for connections, the other half for sessions, after what we need ourselves. */
static unsigned connection_limit(unsigned wanted, unsigned descriptors)
{
	unsigned possible = descriptors > 56 ? (descriptors - 40) / 2 : 8;
	return wanted < possible ? wanted : possible;
}

static void on_sessions_changed(void *user)
{
	struct program *p = user;
	api_sessions_changed(&p->api);
}

static void on_session_failed(void *user, const char *id, const char *what, int error)
{
	struct program *p = user;
	p->metrics.failures++;
	log_write(LOG_WARN, "sessions", what, "session", id, "error", strerror(-error), NULL);
}

/* Who ran what, when, from where, with what result: never its environment or its input. */
static void on_executed(void *user, const struct session *s, const struct exec *e)
{
	char exit[16] = "unknown", ms[24] = "unknown", command[LOG_COMMAND_SIZE];
	(void)user;
	if (e->status >= 0)
		snprintf(exit, sizeof exit, "%d", e->status);
	if (e->started_ms > 0 && e->ended_ms >= e->started_ms)
		snprintf(ms, sizeof ms, "%llu", (unsigned long long)(e->ended_ms - e->started_ms));
	log_command(e->command, command);
	log_write(LOG_INFO, "exec", "ended", "id", e->id, "session", s->pane.held.id, "by",
		e->author, "peer", e->peer, "command", command, "cwd", e->cwd ? e->cwd : "",
		"endedBy", exec_end_name(e->end), "exit", exit, "ms", ms, NULL);
}

static void on_shell_restarted(void *user, const struct session *s, int wait_status)
{
	char exit[16], restarts[24];
	(void)user;
	snprintf(exit, sizeof exit, "%d", exec_status_of(wait_status));
	snprintf(restarts, sizeof restarts, "%llu", (unsigned long long)s->restarts);
	log_write(LOG_INFO, "session", "another shell in place of one that has ended", "session",
		s->pane.held.id, "exit", exit, "onShellExit", shell_exit_name(s->on_shell_exit),
		"restarts", restarts, NULL);
}

static const struct sessions_callbacks sessions_callbacks = {.changed = on_sessions_changed,
	.failed = on_session_failed,
	.executed = on_executed,
	.restarted = on_shell_restarted};

static void on_process_ended(void *user, const struct process *process)
{
	char exit[32] = "unknown", command[LOG_COMMAND_SIZE];
	int code;
	(void)user;
	if (process_exit_code(process, &code))
		snprintf(exit, sizeof exit, "%d", code);
	log_command(process->command, command);
	log_write(LOG_INFO, "process", "ended", "id", process->held.id, "status",
		process_status(process), "exit", exit, "command", command, "cwd", process->cwd,
		NULL);
}

static void on_process_failed(void *user, const char *id, const char *what, int error)
{
	struct program *p = user;
	p->metrics.failures++;
	log_write(LOG_WARN, "process", what, "id", id, "error", strerror(-error), NULL);
}

static const struct processes_callbacks processes_callbacks = {
	.ended = on_process_ended, .failed = on_process_failed};

static void on_goodbye(uv_timer_t *timer)
{
	struct program *p = timer->data;
	bool sessions_done = !p->settings.kill_sessions ||
		(sessions_idle(&p->sessions) && processes_idle(&p->processes));
	if (uv_now(&p->loop) >= p->stop_at_ms ||
		(sessions_done && runs_idle(p->runs) && (!p->server || server_is_idle(p->server))))
		uv_stop(&p->loop);
}

static void on_signal(uv_signal_t *handle, int signo)
{
	struct program *p = handle->data;
	if (p->stopping) {
		uv_stop(&p->loop);
		return;
	}
	p->stopping = true;
	log_write(LOG_INFO, "main", "ending", "signal", signo == SIGINT ? "INT" : "TERM",
		"sessions", p->settings.kill_sessions ? "ended" : "left running", NULL);
	/* Ended sessions may need the grace and the killing of their processes. */
	p->stop_at_ms = uv_now(&p->loop) + (p->settings.kill_sessions ? 12000u : GOODBYE_MS);
	if (p->settings.kill_sessions) {
		processes_remove_all(&p->processes);
		sessions_end_all(&p->sessions);
	}
	runs_cancel_all(p->runs, RUNS_GRACE_MS);
	if (p->server)
		server_stop(p->server);
	uv_timer_start(&p->goodbye, on_goodbye, 0, 10);
}

static void print_urls(const struct program *p)
{
	for (size_t i = 0; server_url(p->server, i); i++) {
		const char *url = server_url(p->server, i);
		/* The token goes behind '#', which browsers keep to themselves. */
		bool token = !p->auth.open && strncmp(url, "unix:", 5) != 0;
		printf("Ringside is at %s%s%s\n", url, token ? "#token=" : "",
			token ? p->auth.token : "");
	}
	fflush(stdout);
}

static int open_sessions(struct program *p, long nofile)
{
	const struct settings *s = &p->settings;
	struct sessions_config config = {
		.runtime_dir = p->runtime_dir,
		.holder = p->holder,
		.cwd = p->cwd,
		.environment = environ,
		.ring_size = s->ring_size,
		.scrollback = s->scrollback,
		.clipboard = s->clipboard,
		.max_sessions = s->max_sessions,
		.ended_ttl_s = s->ended_ttl_s,
		.nofile = nofile,
	};
	int rc = sessions_open(&p->sessions, &p->loop, &config, &sessions_callbacks, p);
	if (rc == -EBUSY)
		return fail(p->runtime_dir, "another server uses this runtime directory");
	return rc < 0 ? fail(p->runtime_dir, strerror(-rc)) : 0;
}

static int open_runs(struct program *p, long nofile)
{
	struct runs_config config = {
		.dir = p->runtime_dir, .environment = environ, .nofile = nofile};
	int rc = runs_open(&p->loop, &config, &p->runs);
	p->api.runs = p->runs;
	return rc < 0 ? fail(p->runtime_dir, strerror(-rc)) : 0;
}

static int open_processes(struct program *p, long nofile)
{
	const struct settings *s = &p->settings;
	struct processes_config config = {
		.runtime_dir = p->runtime_dir,
		.holder = p->holder,
		.cwd = p->cwd,
		.environment = environ,
		.ring_size = s->process_ring,
		.max = s->max_processes,
		.kept = s->kept_processes,
		.ttl_s = s->process_ttl_s,
		.nofile = nofile,
	};
	int rc = processes_open(&p->processes, &p->loop, &config, &processes_callbacks, p);
	p->metrics.processes = &p->processes;
	return rc < 0 ? fail(p->runtime_dir, strerror(-rc)) : 0;
}

static int open_auth(struct program *p)
{
	struct auth_options options = {
		.runtime_dir = p->runtime_dir,
		.token_file = p->settings.token_file,
		.token = getenv("RINGSIDE_TOKEN"),
		.open = p->settings.no_auth,
		.secure = p->settings.tls_cert != NULL,
	};
	int rc = auth_open(&p->auth, &options);
	if (rc == -EINVAL)
		return fail("token", "must have 16 to 512 characters");
	return rc < 0 ? fail("token", strerror(-rc)) : 0;
}

/* The first address that a browser can use. */
static const char *find_url(const struct server *s)
{
	const char *url;
	for (size_t i = 0; (url = server_url(s, i)); i++)
		if (strncmp(url, "unix:", 5) != 0)
			return url;
	return NULL;
}

static int open_server(struct program *p, unsigned descriptors)
{
	const struct settings *s = &p->settings;
	struct server_options options = {
		.loop = &p->loop,
		.dispatcher = &p->dispatcher,
		.auth = &p->auth,
		.terminals = &p->terminals,
		.controls = &p->controls,
		.metrics = &p->metrics,
		.listen = s->listen,
		.listen_count = s->listen_count,
		.runtime_dir = p->runtime_dir,
		.hosts = s->hosts,
		.hosts_count = s->hosts_count,
		.origins = s->origins,
		.origins_count = s->origins_count,
		.tls_cert = s->tls_cert,
		.tls_key = s->tls_key,
		.header_timeout_s = s->header_timeout_s,
		.ping_interval_s = s->ping_interval_s,
		.max_connections = connection_limit(s->max_connections, descriptors),
	};
	int rc = server_open(&options, &p->server);
	if (rc == 0)
		p->api.url = find_url(p->server);
	return rc;
}

static void open_signals(struct program *p)
{
	signal(SIGPIPE, SIG_IGN);
	uv_signal_init(&p->loop, &p->sigterm);
	uv_signal_init(&p->loop, &p->sigint);
	uv_timer_init(&p->loop, &p->goodbye);
	p->sigterm.data = p->sigint.data = p->goodbye.data = p;
	uv_signal_start(&p->sigterm, on_signal, SIGTERM);
	uv_signal_start(&p->sigint, on_signal, SIGINT);
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
	uv_timer_start(&p->goodbye, on_tick, 10, 10);
	while (!p->stopping && uv_now(&p->loop) < deadline &&
		(sessions_adopting(&p->sessions) || processes_adopting(&p->processes)))
		uv_run(&p->loop, UV_RUN_ONCE);
	sessions_put_off(&p->sessions, false);
	if (!p->stopping)
		uv_timer_stop(&p->goodbye);
}

/* Everything that is needed to serve. What fails here ends the program, so nothing is undone. */
static int open_program(struct program *p)
{
	long nofile;
	unsigned descriptors = raise_descriptor_limit(&nofile);
	if (prepare_runtime_dir(p) < 0 || find_holder(p) < 0)
		return -1;
	if (!getcwd(p->cwd, sizeof p->cwd))
		return fail("working directory", strerror(errno));
	if (!name_is_utf8(p->cwd) || !name_is_utf8(p->runtime_dir))
		return fail("working and runtime directory", "their names must be UTF-8");
	p->api = (struct api){.sessions = &p->sessions,
		.processes = &p->processes,
		.auth = &p->auth,
		.metrics = &p->metrics,
		.terminals = &p->terminals,
		.controls = &p->controls,
		.version = RINGSIDE_RELEASE};
	p->dispatcher = (struct dispatcher){.sessions = &p->sessions, .metrics = &p->metrics};
	api_register(&p->api, &p->dispatcher.routes);
	mcp_register(&p->mcp, &p->dispatcher.routes);
	if (uv_loop_init(&p->loop) < 0 || open_sessions(p, nofile) < 0 ||
		open_processes(p, nofile) < 0 || open_runs(p, nofile) < 0 || open_auth(p) < 0)
		return -1;
	if (terminals_open(&p->terminals, &p->sessions, &p->metrics) < 0 ||
		control_sockets_open(&p->controls, &p->dispatcher, &p->metrics) < 0 ||
		mcp_open(&p->mcp, &p->dispatcher, RINGSIDE_RELEASE, &p->loop) < 0 ||
		api_open(&p->api, &p->loop) < 0)
		return fail("memory", strerror(ENOMEM));
	heap_open(&p->heap, &p->loop);
	open_signals(p);
	adopt_sessions(p);
	/* Asked to end meanwhile: whoever is let in now would never be let go. */
	return p->stopping ? 0 : open_server(p, descriptors);
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
	heap_close(&p->heap);
	uv_close((uv_handle_t *)&p->sigterm, NULL);
	uv_close((uv_handle_t *)&p->sigint, NULL);
	uv_close((uv_handle_t *)&p->goodbye, NULL);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	if (p->server)
		server_free(p->server);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	terminals_close(&p->terminals);
	control_sockets_close(&p->controls);
	mcp_close(&p->mcp);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	auth_close(&p->auth);
	uv_loop_close(&p->loop);
	log_flush();
}

/* What was closed when we were started must not be ours by accident: somebody writes to it. */
static void open_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != fd)
			abort(); /* there is nobody to tell */
}

int main(int argc, char **argv)
{
	static struct program p = {.settings = {
					   .ring_size = RING_SIZE_DEFAULT,
					   .scrollback = SCREEN_SCROLLBACK_DEFAULT,
					   .max_sessions = SESSIONS_MAX_DEFAULT,
					   .process_ring = PROCESSES_RING_DEFAULT,
					   .max_processes = PROCESSES_MAX_DEFAULT,
					   .kept_processes = PROCESSES_KEPT_DEFAULT,
					   .process_ttl_s = PROCESSES_TTL_DEFAULT,
					   .max_connections = 4096,
					   .ended_ttl_s = 86400,
					   .header_timeout_s = 10,
					   .ping_interval_s = 15,
				   }};
	open_standard_descriptors();
	const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
	if (command)
		return command_main(command, argc - 1, argv + 1);
	int rc = parse_options(argc, argv, &p.settings);
	if (rc <= 0)
		return rc < 0 ? 2 : 0;
	if (check_settings(&p.settings) < 0)
		return 2;
	if (p.settings.verbose)
		log_set_level(LOG_DEBUG);
	log_set_commands(p.settings.log_commands);
	log_open();
	if (open_program(&p) < 0)
		return 1;
	if (!p.stopping)
		print_urls(&p);
	uv_run(&p.loop, UV_RUN_DEFAULT);
	close_program(&p);
	return 0;
}
