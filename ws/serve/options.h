/* The options of `ringside serve`: one table, which parses them and prints their help. */
#pragma once

#include "ws/serve/public_url.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SERVE_LISTEN_DEFAULT "127.0.0.1:7070"
#define SERVE_LIST_MAX 32u

struct serve_list {
	const char *items[SERVE_LIST_MAX]; /* of argv */
	size_t count;
};

/* What was asked for; texts belong to argv, NULL = not given. */
struct serve_options {
	struct serve_list listen, hosts, origins, proxies, writable, readable;
	struct serve_list webhooks;    /* what hook_url_judge() takes */
	struct serve_list environment; /* what environment_may_request() takes */
	const char *public_text;
	struct public_url public_url; /* if that is given; its host and origin are in the lists */
	const char *runtime_dir, *token_file, *tls_cert, *tls_key;
	bool listens_by_default; /* no address was given: what is listened at already takes its place */
	const char *preview_domain; /* NULL: the default; "none": there are none */
	const char *workspace;      /* where sessions begin */
	const char *session_user;   /* whose sessions are to be */
	const char *webhook_key_file;
	bool webhook_http; /* to other machines */
	unsigned webhook_wait_s;
	const char *isolate;       /* the profile; "": the default one */
	bool token_in_environment; /* noted before the token is wiped from there */
	bool share_net, insecure_http, no_auth, drivers_may_all, clipboard, kill_sessions,
		log_commands, verbose;
	bool rlimits;                               /* the limits without control groups */
	size_t ring_size, process_ring, memory_max; /* bytes; memory_max: 0 = no limit */
	unsigned tasks_max;                         /* 0 = no limit */
	size_t screen_memory;                       /* bytes of all screens */
	unsigned scrollback;                        /* lines */
	const char *record;    /* where sessions are recorded; NULL or "off": they are not */
	size_t record_size;    /* bytes of all recordings */
	unsigned record_age_s; /* of what is recorded; 0 = for ever */
	unsigned max_sessions, max_connections, max_processes, kept_processes;
	unsigned process_ttl_s, ended_ttl_s, context_ttl_s; /* 0 = for ever */
	unsigned header_timeout_s, ping_interval_s;
};

enum serve_request { SERVE_WRONG, SERVE_START, SERVE_HELP, SERVE_VERSION };

/*
 * Read a command line, argv[0] being the program's name, with or without the word "serve". Sets everything that is not
 * given to its default. SERVE_WRONG: what is wrong has been said on standard error.
 */
enum serve_request serve_options_parse(int argc, char **argv, struct serve_options *ret_options);

/*
 * Whether with these options the server may be at this address, given as to --listen. Returns 0, or -1 after it has said why not.
 */
int serve_options_check_address(const struct serve_options *o, const char *address);

/* Print how to use them. */
void serve_options_help(FILE *out);
