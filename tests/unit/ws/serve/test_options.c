/* Options of `ringside serve`: valid and invalid values, and defaults in the help. */
#include "ring/ring.h"
#include "ws/serve/options.h"

#include <criterion/criterion.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 80

/* Parse a command line whose words are separated by spaces. */
static enum serve_request parse(const char *words, struct serve_options *ret_options)
{
	static char text[2048];
	char *argv[WORDS + 1] = {(char *)"ringside"};
	int argc = 1;
	snprintf(text, sizeof text, "%s", words);
	for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	optind = 0; /* getopt_long() starts over */
	opterr = 0;
	return serve_options_parse(argc, argv, ret_options);
}

static char *help_text(void)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	serve_options_help(f);
	fclose(f);
	return text;
}

Test(serve_options, no_options)
{
	struct serve_options o;
	cr_assert_eq(parse("serve", &o), SERVE_START);
	cr_assert_eq(o.listen.count, 1);
	cr_assert_str_eq(o.listen.items[0], SERVE_LISTEN_DEFAULT);
	cr_assert_eq(o.ring_size, RING_SIZE_DEFAULT);
	cr_assert_null(o.runtime_dir);
	cr_assert_not(o.no_auth || o.drivers_may_all || o.clipboard || o.kill_sessions ||
		o.log_commands || o.verbose);
	cr_assert_eq(parse("", &o), SERVE_START);
}

Test(serve_options, webhooks)
{
	static const struct {
		const char *words;
		enum serve_request want;
	} cases[] = {
		{"--webhook https://a/ --webhook http://127.0.0.1/x --webhook-wait 1", SERVE_START},
		{"--webhook http://a/", SERVE_WRONG},
		{"--webhook http://a/ --webhook-insecure-http", SERVE_START},
		{"--webhook a", SERVE_WRONG},
		{"--webhook-key-file k", SERVE_WRONG},
		{"--webhook-insecure-http", SERVE_WRONG},
		{"--webhook https://a/ --webhook-wait 0", SERVE_WRONG},
		{"--webhook https://a/ --webhook-wait 121", SERVE_WRONG},
	};
	struct serve_options o;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(parse(cases[i].words, &o), cases[i].want, "%s", cases[i].words);
	cr_assert_eq(parse("serve", &o), SERVE_START);
	cr_assert_eq(o.webhook_wait_s, 15);
}

Test(serve_options, fleet)
{
	static const struct {
		const char *words;
		enum serve_request want;
	} cases[] = {
		{"--cluster nats://h:4222 --node a", SERVE_START},
		{"--cluster nats://h:4222 --node a --advertise https://h:7070/x --cluster-creds f --cluster-ca f",
			SERVE_START},
		{"--cluster nats://h:4222", SERVE_WRONG},
		{"--node a", SERVE_WRONG},
		{"--advertise https://h", SERVE_WRONG},
		{"--cluster-creds f", SERVE_WRONG},
		{"--cluster-ca f", SERVE_WRONG},
		{"--cluster nats://h:4222 --node .a", SERVE_WRONG},
		{"--cluster nats://h:4222 --node a/b", SERVE_WRONG},
		{"--cluster nats://h:4222 --node a --advertise h:7070", SERVE_WRONG},
	};
	struct serve_options o;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(parse(cases[i].words, &o), cases[i].want, "%s", cases[i].words);
	cr_assert_eq(parse("--cluster nats://h --node a --advertise https://10.0.0.7:7070", &o),
		SERVE_START);
	cr_expect_str_eq(o.hosts.items[0], "10.0.0.7:7070");
}

Test(serve_options, all_options)
{
	struct serve_options o;
	cr_assert_eq(
		parse("serve --listen 127.0.0.1:0 --listen unix:/s --runtime-dir /d --token-file /t "
		      "--no-auth --drivers-may-all --allow-host h --allow-origin http://o --tls-cert c --tls-key k "
		      "--workspace /w --env A --env B=c=d --ring-size 64K --scrollback 5 --screen-memory 2G --clipboard --max-sessions 6 --process-ring 1G",
			&o),
		SERVE_START);
	cr_assert_eq(o.listen.count, 2);
	cr_assert_str_eq(o.listen.items[1], "unix:/s");
	cr_assert_str_eq(o.runtime_dir, "/d");
	cr_assert_str_eq(o.token_file, "/t");
	cr_assert_str_eq(o.workspace, "/w");
	cr_assert_str_eq(o.hosts.items[0], "h");
	cr_assert_str_eq(o.origins.items[0], "http://o");
	cr_assert_eq(o.environment.count, 2);
	cr_assert_str_eq(o.environment.items[1], "B=c=d");
	cr_assert_str_eq(o.tls_cert, "c");
	cr_assert_str_eq(o.tls_key, "k");
	cr_assert(o.no_auth && o.drivers_may_all && o.clipboard);
	cr_assert_eq(o.ring_size, 64 << 10);
	cr_assert_eq(o.process_ring, 1 << 30);
	cr_assert_eq(o.scrollback, 5);
	cr_assert_eq(o.screen_memory, (size_t)2 << 30);
	cr_assert_eq(o.max_sessions, 6);
	cr_assert_eq(
		parse("--max-processes 7 --kept-processes 8 --process-ttl 9 --max-connections 10 "
		      "--ended-ttl 0 --header-timeout 12 --ping-interval 13 --kill-sessions-on-exit "
		      "--log-commands --verbose",
			&o),
		SERVE_START);
	cr_assert(o.max_processes == 7 && o.kept_processes == 8 && o.process_ttl_s == 9);
	cr_assert(o.max_connections == 10 && o.ended_ttl_s == 0);
	cr_assert(o.header_timeout_s == 12 && o.ping_interval_s == 13);
	cr_assert(o.kill_sessions && o.log_commands && o.verbose);
}

Test(serve_options, flags_can_be_undone)
{
	struct serve_options o;
	cr_assert_eq(parse("serve --verbose --no-verbose --no-auth --auth", &o), SERVE_START);
	cr_expect_not(o.verbose);
	cr_expect_not(o.no_auth);
	cr_assert_eq(parse("serve --no-verbose --verbose", &o), SERVE_START);
	cr_expect(o.verbose);
	cr_expect_eq(parse("serve --no-scrollback", &o), SERVE_WRONG);
	cr_expect_eq(parse("serve --no-help", &o), SERVE_WRONG);
}

Test(serve_options, refused)
{
	static const char *const wrong[] = {"--ring-size 0", "--ring-size 4X", "--ring-size 4MB",
		"--ring-size", "--ring-size 99999999999G", "--scrollback x", "--scrollback 1000001",
		"--screen-memory 15M", "--max-sessions 0", "--max-sessions 100001",
		"--process-ring 1", "--max-processes 0", "--max-sessions 5.", "--ring-size +4M",
		"--ring-size 4MM", "--ring-size 18446744073709551617G", "--trust-proxy x",
		"--trust-proxy 127.1", "--trust-proxy 127.0.0.1:80", "--trust-proxy 2001:DB8::7",
		"--trust-proxy 0:0:0:0:0:0:0:1", "--trust-proxy proxy.example",
		"--max-connections 0", "--header-timeout 0", "--header-timeout 3601",
		"--ping-interval 0", "--tls-cert c", "--tls-key k", "--no-auth --listen 0.0.0.0:80",
		"--env A-B", "--env =x", "--env RINGSIDE_TOKEN", "--env NOTIFY_SOCKET=x",
		"--no-such", "serve more", "serv", "--verbose=1"};
	struct serve_options o;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_expect_eq(parse(wrong[i], &o), SERVE_WRONG, "%s", wrong[i]);
}

/* Words with blanks too, which parse() cannot have. */
Test(serve_options, numbers_are_digits)
{
	static const char *const names[] = {"ring-size", "scrollback", "max-sessions",
		"process-ring", "max-processes", "kept-processes", "process-ttl", "max-connections",
		"ended-ttl", "context-ttl", "header-timeout", "ping-interval"};
	static const char *const wrong[] = {"", " 5", "\t5", "5 ", "\n5", "5\n", "-0", "-1", "+5",
		"0x10", "1e3", "nan", "99999999999999999999999", "18446744073709551617",
		" -18446744073709551611", "%s%n", "\xd9\xa5"};
	static char serve[] = "ringside";
	struct serve_options o;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
			char name[32], value[32];
			snprintf(name, sizeof name, "--%s", names[i]);
			snprintf(value, sizeof value, "%s", wrong[k]);
			char *words[] = {serve, name, value, NULL};
			optind = 0;
			cr_expect_eq(
				serve_options_parse(3, words, &o), SERVE_WRONG, "%s %zu", name, k);
		}
}

Test(serve_options, plain_http_is_local_unless_requested)
{
	static const struct {
		const char *words;
		enum serve_request want;
	} cases[] = {
		{"--listen 0.0.0.0:80", SERVE_WRONG},
		{"--listen [::]:80", SERVE_WRONG},
		{"--listen 192.0.2.1:80", SERVE_WRONG},
		{"--listen 127.0.0.1:80 --listen [2001:db8::1]:80", SERVE_WRONG},
		{"--listen 10.127.0.1:80", SERVE_WRONG},
		{"--listen [::ffff:127.0.0.1]:80", SERVE_WRONG},
		{"--listen 0.0.0.0:80 --insecure-http", SERVE_START},
		{"--listen 0.0.0.0:80 --trust-proxy 192.0.2.7", SERVE_START},
		{"--listen 0.0.0.0:80 --tls-cert c --tls-key k", SERVE_START},
		{"--listen 127.0.0.2:80 --listen [::1]:80 --listen localhost:80 --listen unix:/s",
			SERVE_START},
	};
	struct serve_options o;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(parse(cases[i].words, &o), cases[i].want, "%s", cases[i].words);
}

Test(serve_options, too_many_values_of_a_list)
{
	char words[2048] = "";
	struct serve_options o;
	for (unsigned i = 0; i < SERVE_LIST_MAX; i++)
		strcat(words, "--allow-host h ");
	cr_assert_eq(parse(words, &o), SERVE_START);
	strcat(words, "--allow-host h");
	cr_assert_eq(parse(words, &o), SERVE_WRONG);
}

Test(serve_options, help_and_version_win_over_later_errors)
{
	struct serve_options o;
	cr_assert_eq(parse("serve --help --no-such", &o), SERVE_HELP);
	cr_assert_eq(parse("--version", &o), SERVE_VERSION);
}

/* An option with the default that the help states changes nothing. */
Test(serve_options, help_has_the_right_defaults)
{
	char *text = help_text(), *next, words[64];
	struct serve_options plain, given;
	unsigned checked = 0;
	cr_assert_eq(parse("", &plain), SERVE_START);
	for (char *line = text; (next = strchr(line, '\n')); line = next + 1) {
		char name[32], number[32];
		*next = '\0';
		const char *stated = strstr(line, "(default ");
		if (sscanf(line, " --%31[a-z-]", name) != 1 || !stated ||
			sscanf(stated, "(default %31[0-9KMG]", number) != 1)
			continue;
		snprintf(words, sizeof words, "--%s %s", name, number);
		cr_expect_eq(parse(words, &given), SERVE_START, "%s", words);
		cr_expect_eq(memcmp(&plain, &given, sizeof plain), 0, "%s", words);
		checked++;
	}
	cr_assert_eq(checked, 15);
	free(text);
}

Test(serve_options, public_url)
{
	static const struct {
		const char *words, *url, *host, *origin;
	} cases[] = {{"--public-url https://example.com", "https://example.com/", "example.com",
			     "https://example.com"},
		{"--public-url http://a.example:8080/term/", "http://a.example:8080/term/",
			"a.example:8080", "http://a.example:8080"},
		{"--public-url https://[::1]/x", "https://[::1]/x/", "[::1]", "https://[::1]"},
		{"--public-url https://example.com:443/", "https://example.com:443/", "example.com",
			"https://example.com"},
		{"--public-url http://:80/", NULL, NULL, NULL},
		{"--public-url example.com", NULL, NULL, NULL},
		{"--public-url https://", NULL, NULL, NULL},
		{"--public-url https:///x", NULL, NULL, NULL},
		{"--public-url https://u@a/", NULL, NULL, NULL},
		{"--public-url https://a/?b", NULL, NULL, NULL},
		{"--public-url https://a/#b", NULL, NULL, NULL}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct serve_options o;
		enum serve_request got = parse(cases[i].words, &o);
		cr_assert_eq(got, cases[i].url ? SERVE_START : SERVE_WRONG, "%s", cases[i].words);
		if (!cases[i].url)
			continue;
		cr_expect_str_eq(o.public_url.url, cases[i].url);
		cr_expect_str_eq(o.hosts.items[0], cases[i].host);
		cr_expect_str_eq(o.origins.items[0], cases[i].origin);
	}
}
