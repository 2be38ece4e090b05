/*
 * The options of `ringside serve`. The table has each option's name, value, field, default, limits and help. A new row also
 * belongs into the man page and this folder's README.md; tests/docs.py compares the latter with the help.
 */
#include "ws/serve/options.h"

#include "ring/ring.h"
#include "ring/screen/screen.h"
#include "shell/cluster/key.h"
#include "shell/environment.h"
#include "shell/process/processes.h"
#include "shell/session/sessions.h"
#include "ws/hook/courier.h"
#include "ws/net/server.h"
#include "ws/preview/preview_name.h"
#include "ws/serve/fail.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 28

enum kind { FLAG, TEXT, LIST, NUMBER, SIZE, HELP, VERSION };

struct row {
	const char *name, *value; /* value: its name in the help, NULL = the option has none */
	enum kind kind;
	size_t field;                     /* in struct serve_options */
	size_t initial, minimum, maximum; /* of numbers and sizes */
	const char *help;                 /* lines */
};

#define FIELD(name) offsetof(struct serve_options, name)

/* clang-format off */
static const struct row rows[] = {
	{"listen", "ADDR:PORT", LIST, FIELD(listen), 0, 0, 0,
		"listen on this address; may be repeated; unix:PATH for a unix socket\n"
		"(default " SERVE_LISTEN_DEFAULT "; port 0: the kernel chooses)"},
	{"runtime-dir", "DIR", TEXT, FIELD(runtime_dir), 0, 0, 0,
		"directory of sessions and secrets\n"
		"(default $XDG_RUNTIME_DIR/ringside, or /tmp/ringside-UID)"},
	{"token-file", "FILE", TEXT, FIELD(token_file), 0, 0, 0,
		"file with the owner's token (default: a random one in the runtime directory;\n"
		"$RINGSIDE_TOKEN also sets it)"},
	{"no-auth", NULL, FLAG, FIELD(no_auth), 0, 0, 0,
		"all processes of this user that connect are the owner; loopback and unix sockets only"},
	{"drivers-may-all", NULL, FLAG, FIELD(drivers_may_all), 0, 0, 0,
		"driver links may also read and write files and the like in their session,\n"
		"as drivers could by typing; viewer links never may"},
	{"allow-host", "HOST[:PORT]", LIST, FIELD(hosts), 0, 0, 0,
		"accept requests for this host too; may be repeated"},
	{"allow-origin", "ORIGIN", LIST, FIELD(origins), 0, 0, 0,
		"let pages of this origin (https://example.com) use the API; may be repeated"},
	{"public-url", "URL", TEXT, FIELD(public_text), 0, 0, 0,
		"public address of the server behind a proxy, such as https://example.com/term/:\n"
		"links use it, and its host and origin are allowed"},
	{"trust-proxy", "ADDR", LIST, FIELD(proxies), 0, 0, 0,
		"believe X-Forwarded-Proto and Forwarded (whether a client uses TLS) from this\n"
		"address, besides unix sockets; may be repeated"},
	{"preview-domain", "DOMAIN", TEXT, FIELD(preview_domain), 0, 0, 0,
		"previews of ports have the host PORT-ID-TOKEN.DOMAIN; DOMAIN may have a scheme in\n"
		"front and a port behind; none: no preview hosts (default localhost)"},
	{"tls-cert", "FILE", TEXT, FIELD(tls_cert), 0, 0, 0,
		"serve HTTPS with this certificate chain (PEM)"},
	{"tls-key", "FILE", TEXT, FIELD(tls_key), 0, 0, 0,
		"private key of the certificate (PEM)"},
	{"insecure-http", NULL, FLAG, FIELD(insecure_http), 0, 0, 0,
		"listen beyond loopback without TLS: passwords and shells can be read on the network"},
	{"workspace", "DIR", TEXT, FIELD(workspace), 0, 0, 0,
		"default directory of sessions, processes and runs; only files below it can be watched\n"
		"(default: the working directory of the server, or the home of --session-user)"},
	{"env", "NAME[=VALUE]", LIST, FIELD(environment), 0, 0, 0,
		"pass this variable on to shells and commands, or set it; may be repeated"},
	{"session-user", "NAME", TEXT, FIELD(session_user), 0, 0, 0,
		"run sessions, processes and runs as this user; only for root"},
	{"isolate", "[=PROFILE]", TEXT, FIELD(isolate), 0, 0, 0,
		"run each session, process and run in a sandbox of namespaces, by bubblewrap:\n"
		"private (default: the system read-only, an empty home), system (all\n"
		"files read-only), home (the same, the home directory writable)"},
	{"bind", "DIR", LIST, FIELD(writable), 0, 0, 0,
		"bind DIR into sandboxes, writable; may be repeated"},
	{"ro-bind", "DIR", LIST, FIELD(readable), 0, 0, 0,
		"bind DIR into sandboxes, read-only; may be repeated"},
	{"share-net", NULL, FLAG, FIELD(share_net), 0, 0, 0,
		"let sandboxes use the network"},
	{"tasks-max", "N", NUMBER, FIELD(tasks_max), 0, 2, 4194304,
		"limit of processes and threads of each session, process and run, by cgroup v2"},
	{"memory-max", "SIZE", SIZE, FIELD(memory_max), 0, (size_t)1 << 20, (size_t)1 << 50,
		"limit of memory of each; nothing of it is swapped out"},
	{"rlimits", NULL, FLAG, FIELD(rlimits), 0, 0, 0,
		"set these limits by setrlimit(2), if there is no cgroup v2: tasks of the user in\n"
		"total (not for root), and address space of each process"},
	{"ring-size", "SIZE", SIZE, FIELD(ring_size), RING_SIZE_DEFAULT, RING_SIZE_MIN, RING_SIZE_MAX,
		"output history of a session in bytes, or with K, M, G (default 4M)"},
	{"scrollback", "LINES", NUMBER, FIELD(scrollback), SCREEN_SCROLLBACK_DEFAULT, 0, SCREEN_SCROLLBACK_MAX,
		"scrollback of a screen (default 10000)"},
	{"screen-memory", "SIZE", SIZE, FIELD(screen_memory), BUDGET_DEFAULT, BUDGET_MIN, BUDGET_MAX,
		"memory of all screens together: beyond it screens without viewers lose\n"
		"scrollback lines, and large sizes are refused (default 512M)"},
	{"record", "DIR", TEXT, FIELD(record), 0, 0, 0,
		"record output of sessions, with times, in this directory, which is created if\n"
		"needed; recordings outlive their sessions (default off)"},
	{"record-size", "SIZE", SIZE, FIELD(record_size), (size_t)1 << 30, (size_t)1 << 20, (size_t)1 << 50,
		"limit of all recordings together; the oldest are removed (default 1G)"},
	{"record-age", "SECONDS", NUMBER, FIELD(record_age_s), 2592000, 0, 1u << 30,
		"remove recorded output after this time (default 2592000, 30 days; 0 = never)"},
	{"clipboard", NULL, FLAG, FIELD(clipboard), 0, 0, 0,
		"let programs set the clipboards of drivers (OSC 52)"},
	{"max-sessions", "N", NUMBER, FIELD(max_sessions), SESSIONS_MAX_DEFAULT, 1, 100000,
		"limit of sessions (default 256)"},
	{"process-ring", "SIZE", SIZE, FIELD(process_ring), PROCESSES_RING_DEFAULT, RING_SIZE_MIN, RING_SIZE_MAX,
		"output history of a process (default 1M)"},
	{"max-processes", "N", NUMBER, FIELD(max_processes), PROCESSES_MAX_DEFAULT, 1, PROCESSES_TOTAL_MAX,
		"limit of running processes (default 512)"},
	{"kept-processes", "N", NUMBER, FIELD(kept_processes), PROCESSES_KEPT_DEFAULT, 0, PROCESSES_TOTAL_MAX,
		"limit of ended processes that are kept (default 100, and those of the last minute)"},
	{"process-ttl", "SECONDS", NUMBER, FIELD(process_ttl_s), PROCESSES_TTL_DEFAULT, 0, 1u << 30,
		"how long an ended process is kept (default 3600; 0 = for ever)"},
	{"max-connections", "N", NUMBER, FIELD(max_connections), 4096, 1, 1000000,
		"limit of connections (default 4096, fewer if descriptors are scarce)"},
	{"ended-ttl", "SECONDS", NUMBER, FIELD(ended_ttl_s), 86400, 0, 1u << 30,
		"how long an ended session stays readable (default 86400; 0 = for ever)"},
	{"context-ttl", "SECONDS", NUMBER, FIELD(context_ttl_s), 86400, 0, 1u << 30,
		"how long an idle context of code is kept (default 86400; 0 = for ever)"},
	{"header-timeout", "SECONDS", NUMBER, FIELD(header_timeout_s), 10, 1, 3600,
		"time for a client to send its request's head (default 10)"},
	{"ping-interval", "SECONDS", NUMBER, FIELD(ping_interval_s), 15, 1, 3600,
		"ping terminal sockets that have been silent for this long (default 15)"},
	{"webhook", "URL", LIST, FIELD(webhooks), 0, 0, 0,
		"send events to this URL: a session waits for input, a long command has ended, an\n"
		"agent's command has failed, bells and notifications; up to 8 times"},
	{"webhook-key-file", "FILE", TEXT, FIELD(webhook_key_file), 0, 0, 0,
		"sign events with the keys in this file, one a line, 24 to 64 bytes in base64"},
	{"webhook-wait", "SECONDS", NUMBER, FIELD(webhook_wait_s), 15, 1, 120,
		"time for a webhook to answer before a retry (default 15)"},
	{"webhook-insecure-http", NULL, FLAG, FIELD(webhook_http), 0, 0, 0,
		"allow http for webhooks on other machines; it can be read and forged on the network"},
	{"cluster", "URLS", TEXT, FIELD(cluster), 0, 0, 0,
		"be a node of a fleet, whose registry is in NATS with JetStream:\n"
		"nats://HOST:PORT, or several with commas between them"},
	{"node", "NAME", TEXT, FIELD(node), 0, 0, 0,
		"name of this node: 1 to 63 of A-Z a-z 0-9 . _ -, unique in the fleet"},
	{"advertise", "URL", TEXT, FIELD(advertise), 0, 0, 0,
		"address of this node for the other nodes, if it is not that of the first listener"},
	{"cluster-creds", "FILE", TEXT, FIELD(cluster_creds), 0, 0, 0,
		"credentials for NATS (a .creds file)"},
	{"cluster-ca", "FILE", TEXT, FIELD(cluster_ca), 0, 0, 0,
		"certificates (PEM) by which other nodes are trusted, instead of those of the system"},
	{"kill-sessions-on-exit", NULL, FLAG, FIELD(kill_sessions), 0, 0, 0,
		"kill all sessions and processes when the server ends (SIGTERM, SIGINT)"},
	{"log-commands", NULL, FLAG, FIELD(log_commands), 0, 0, 0,
		"log the text of commands, not only length and digest"},
	{"check", NULL, FLAG, FIELD(check), 0, 0, 0,
		"check the options and the files that they name, and exit"},
	{"verbose", NULL, FLAG, FIELD(verbose), 0, 0, 0,
		"log more"},
	{"help", NULL, HELP, 0, 0, 0, 0, NULL},
	{"version", NULL, VERSION, 0, 0, 0, 0, NULL},
};
/* clang-format on */

#define ROWS (sizeof rows / sizeof *rows)
#define OPTION_FIRST 256 /* getopt_long()'s value for the first row: beyond all characters */

static bool parse_size(const char *text, const struct row *row, size_t *ret_size)
{
	char *end;
	/* strtoull() accepts blanks and signs. */
	if (text[0] < '0' || text[0] > '9')
		return false;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (shift > 0)
		end++;
	if (*end || n > row->maximum >> shift)
		return false;
	*ret_size = (size_t)n << shift;
	return *ret_size >= row->minimum;
}

static bool parse_number(const char *text, const struct row *row, unsigned *ret_number)
{
	char *end;
	if (text[0] < '0' || text[0] > '9')
		return false;
	unsigned long n = strtoul(text, &end, 10);
	if (*end || n < row->minimum || n > row->maximum)
		return false;
	*ret_number = (unsigned)n;
	return true;
}

static bool add_to_list(struct serve_list *list, const char *text)
{
	if (list->count == SERVE_LIST_MAX)
		return false;
	list->items[list->count++] = text;
	return true;
}

/* Returns false if the value is invalid. */
static bool set_option(struct serve_options *o, const struct row *row, const char *value)
{
	void *field = (char *)o + row->field;
	switch (row->kind) {
	case FLAG:
		*(bool *)field = true;
		return true;
	case TEXT:
		*(const char **)field = value ? value : ""; /* "": the default */
		return true;
	case LIST:
		return add_to_list(field, value);
	case NUMBER:
		return parse_number(value, row, field);
	case SIZE:
		return parse_size(value, row, field);
	default:
		return true;
	}
}

/* Print what values the option of this row may have. */
static void print_invalid(const struct row *row)
{
	char name[40], why[120];
	snprintf(name, sizeof name, "--%s", row->name);
	if (row->kind == NUMBER)
		snprintf(why, sizeof why, "must be a number from %zu to %zu", row->minimum,
			row->maximum);
	else if (row->kind == SIZE)
		snprintf(why, sizeof why, "must be a size from %zuK to %zuG, such as 4M",
			row->minimum >> 10, row->maximum >> 30);
	else
		snprintf(why, sizeof why, "is given more than %u times", SERVE_LIST_MAX);
	serve_fail(name, why);
}

static void set_defaults(struct serve_options *o)
{
	*o = (struct serve_options){0};
	for (size_t i = 0; i < ROWS; i++) {
		void *field = (char *)o + rows[i].field;
		if (rows[i].kind == NUMBER)
			*(unsigned *)field = (unsigned)rows[i].initial;
		else if (rows[i].kind == SIZE)
			*(size_t *)field = rows[i].initial;
	}
}

#define OPPOSITE_SIZE 40u

/* Write no-NAME for a flag NAME, and NAME for a flag no-NAME; "" for other options, or if that option exists. */
static void name_opposites(char opposites[ROWS][OPPOSITE_SIZE])
{
	for (size_t i = 0; i < ROWS; i++) {
		const char *name = rows[i].name;
		bool negative = strncmp(name, "no-", 3) == 0, known = rows[i].kind != FLAG;
		snprintf(opposites[i], OPPOSITE_SIZE, "%s%s", negative ? "" : "no-",
			negative ? name + 3 : name);
		for (size_t k = 0; k < ROWS; k++)
			known |= strcmp(rows[k].name, opposites[i]) == 0;
		if (known)
			opposites[i][0] = '\0';
	}
}

static void list_for_getopt(struct option names[2 * ROWS + 1], char opposites[ROWS][OPPOSITE_SIZE])
{
	size_t n = ROWS;
	for (size_t i = 0; i < ROWS; i++)
		names[i] = (struct option){.name = rows[i].name,
			.has_arg = !rows[i].value         ? no_argument
				: rows[i].value[0] == '[' ? optional_argument
							  : required_argument,
			.val = OPTION_FIRST + (int)i};
	name_opposites(opposites);
	for (size_t i = 0; i < ROWS; i++)
		if (opposites[i][0])
			names[n++] = (struct option){
				.name = opposites[i], .val = OPTION_FIRST + (int)ROWS + (int)i};
	names[n] = (struct option){0};
}

/* This and the following checks return 0, or -1 after printing an error. */
static int parse_public_url(struct serve_options *o)
{
	struct public_url *p = &o->public_url;
	if (!o->public_text)
		return 0;
	if (public_url_read(o->public_text, p) < 0)
		return serve_fail("--public-url", "must be a URL such as https://example.com/term/");
	if (!add_to_list(&o->hosts, p->host) || !add_to_list(&o->origins, p->origin))
		return serve_fail("--public-url",
			"too many options: with this one, at most 31 --allow-host and --allow-origin");
	return 0;
}

static int check_fleet(struct serve_options *o)
{
	if (!o->cluster && (o->node || o->advertise || o->cluster_creds || o->cluster_ca))
		return serve_fail("--node, --advertise, --cluster-creds, --cluster-ca",
			"only with --cluster");
	if (!o->cluster)
		return 0;
	if (!o->node)
		return serve_fail("--cluster", "requires --node");
	if (!key_is_node(o->node))
		return serve_fail("--node",
			"must be 1 to 63 of A-Z a-z 0-9 . _ - and not begin with a dot or a dash");
	if (!o->advertise)
		return 0;
	if (public_url_read(o->advertise, &o->advertised) < 0)
		return serve_fail("--advertise", "must be a URL such as https://10.0.0.7:7070");
	if (!add_to_list(&o->hosts, o->advertised.host))
		return serve_fail("--advertise", "too many options: at most 31 --allow-host");
	return 0;
}

/* Proxies are compared with the kernel's addresses as text, so only the canonical form is accepted. */
static int check_proxies(const struct serve_options *o)
{
	char address[INET6_ADDRSTRLEN];
	unsigned char bytes[sizeof(struct in6_addr)];
	for (size_t i = 0; i < o->proxies.count; i++) {
		const char *given = o->proxies.items[i];
		int family = strchr(given, ':') ? AF_INET6 : AF_INET;
		if (inet_pton(family, given, bytes) == 1 &&
			inet_ntop(family, bytes, address, sizeof address) &&
			strcmp(address, given) == 0)
			continue;
		return serve_fail("--trust-proxy",
			"must be an IP address in canonical form, such as 192.0.2.7 or 2001:db8::7");
	}
	return 0;
}

static int check_addresses(const struct serve_options *o)
{
	for (size_t i = 0; i < o->listen.count; i++)
		if (serve_options_check_address(o, o->listen.items[i]) < 0)
			return -1;
	return 0;
}

int serve_options_check_address(const struct serve_options *o, const char *address)
{
	if (server_address_is_local(address))
		return 0;
	if (o->no_auth)
		return serve_fail("--no-auth", "only for loopback addresses and unix sockets");
	if (o->tls_cert || o->proxies.count > 0 || o->insecure_http)
		return 0;
	return serve_fail("--listen",
		"listeners beyond loopback require --tls-cert and --tls-key, --trust-proxy, or --insecure-http");
}

/* Returns why a URL is not allowed for a webhook, or NULL if it is. */
static const char *refuse_webhook(const struct serve_options *o, const char *address)
{
	struct hook_url url;
	enum hook_url_result v = hook_url_check(address, &url);
	if (v == HOOK_URL_INVALID)
		return "must be an https or http URL";
	return v == HOOK_URL_PLAIN && !o->webhook_http
		? "http is only for loopback: other machines require https or --webhook-insecure-http"
		: NULL;
}

/* The error does not contain the URL, which may have a secret. */
static int check_webhooks(const struct serve_options *o)
{
	const char *wrong = o->webhooks.count > HOOKS_MAX ? "is given more than 8 times" : NULL;
	for (size_t i = 0; !wrong && i < o->webhooks.count; i++)
		wrong = refuse_webhook(o, o->webhooks.items[i]);
	if (wrong)
		return serve_fail("--webhook", wrong);
	if (o->webhooks.count > 0 || !(o->webhook_key_file || o->webhook_http))
		return 0;
	return serve_fail("--webhook-key-file, --webhook-insecure-http", "only with --webhook");
}

/* Check combinations of options. */
static int check_together(struct serve_options *o)
{
	o->listens_by_default = o->listen.count == 0;
	if (o->listens_by_default)
		add_to_list(&o->listen, SERVE_LISTEN_DEFAULT);
	if (!o->tls_cert != !o->tls_key)
		return serve_fail("TLS", "--tls-cert and --tls-key must be given together");
	if (!o->isolate && (o->share_net || o->writable.count > 0 || o->readable.count > 0))
		return serve_fail("--bind, --ro-bind, --share-net", "only with --isolate");
	if (o->rlimits && o->tasks_max == 0 && o->memory_max == 0)
		return serve_fail("--rlimits", "only with --tasks-max or --memory-max");
	if (o->isolate && o->share_net && o->no_auth)
		return serve_fail("--share-net",
			"cannot be used with --no-auth: any sandbox could control all sessions");
	for (size_t i = 0; i < o->environment.count; i++)
		if (!environment_may_request(o->environment.items[i]))
			return serve_fail("--env",
				"is not a variable's name, or names one that is never passed on");
	struct preview_place place;
	if (o->preview_domain && strcmp(o->preview_domain, "none") != 0 &&
		!preview_place_parse(o->preview_domain, &place))
		return serve_fail("--preview-domain",
			"must be a domain, such as preview.example.com or https://preview.example.com:8443");
	if (check_fleet(o) < 0 || check_webhooks(o) < 0 || check_proxies(o) < 0 ||
		parse_public_url(o) < 0)
		return -1;
	return check_addresses(o);
}

enum serve_request serve_options_parse(int argc, char **argv, struct serve_options *ret_options)
{
	struct option names[2 * ROWS + 1];
	char opposites[ROWS][OPPOSITE_SIZE];
	int option;
	set_defaults(ret_options);
	list_for_getopt(names, opposites);
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == '?') {
			serve_fail("options", "see ringside serve --help");
			return SERVE_WRONG;
		}
		size_t place = (size_t)(option - OPTION_FIRST);
		if (place >= ROWS) {
			*(bool *)((char *)ret_options + rows[place - ROWS].field) = false;
			continue;
		}
		const struct row *row = &rows[place];
		if (row->kind == HELP || row->kind == VERSION)
			return row->kind == HELP ? SERVE_HELP : SERVE_VERSION;
		if (!set_option(ret_options, row, optarg)) {
			print_invalid(row);
			return SERVE_WRONG;
		}
	}
	if (argc - optind > 1 || (argc - optind == 1 && strcmp(argv[optind], "serve") != 0)) {
		serve_fail("usage", "ringside serve [OPTIONS], see ringside serve --help");
		return SERVE_WRONG;
	}
	return check_together(ret_options) < 0 ? SERVE_WRONG : SERVE_START;
}

/* Print the lines of a row's help in their column. printed: characters that the first line has already. */
static void print_lines(FILE *out, int printed, const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");
		fprintf(out, "%*s%.*s\n", HELP_COLUMN - printed, "", (int)length, lines);
		lines += lines[length] ? length + 1 : length;
		printed = 0;
	}
}

void serve_options_help(FILE *out)
{
	fputs("Usage: ringside serve [OPTIONS]\n"
	      "\n"
	      "Serve shared terminals. Sessions outlive the server: start it again and they are still there.\n"
	      "\n",
		out);
	size_t i = 0;
	for (; i < ROWS && rows[i].help; i++) {
		bool joined = !rows[i].value || rows[i].value[0] == '[';
		int printed = fprintf(out, "  --%s%s%s", rows[i].name, joined ? "" : " ",
			rows[i].value ? rows[i].value : "");
		print_lines(out, printed, rows[i].help);
	}
	/* The last rows have no help. */
	for (const char *before = "  --"; i < ROWS; i++, before = ", --")
		fprintf(out, "%s%s", before, rows[i].name);
	fputc('\n', out);
}
