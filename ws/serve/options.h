/* The options of `ringside serve`. One table is used for parsing and for the help. */
#pragma once

#include "ws/serve/public_url.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SERVE_LISTEN_DEFAULT "127.0.0.1:7070"
#define SERVE_LIST_MAX 32u

/* Values of an option that may be repeated. */
struct serve_list {
	const char *items[SERVE_LIST_MAX]; /* of argv */
	size_t count;
};

/* Values of all options; texts belong to argv, NULL = not given. */
struct serve_options {
	struct serve_list listen, hosts, origins, proxies, writable, readable;
	struct serve_list webhooks;    /* valid for hook_url_check() */
	struct serve_list environment; /* valid for environment_may_request() */
	const char *public_text;       /* --public-url */
	struct public_url public_url;  /* parsed; its host and origin are in the lists */
	struct public_url advertised;  /* --advertise, parsed; its host is in the list */
	const char *runtime_dir, *token_file, *tls_cert, *tls_key;
	bool listens_by_default;    /* no --listen: passed sockets replace the default address */
	const char *preview_domain; /* NULL: the default; "none": no preview hosts */
	const char *workspace;
	const char *session_user;
	const char *webhook_key_file;
	const char *cluster, *node, *advertise, *cluster_creds, *cluster_ca; /* of a fleet */
	bool webhook_http;                                                   /* to other machines */
	unsigned webhook_wait_s;
	const char *isolate;       /* the profile; "": the default one */
	bool token_in_environment; /* $RINGSIDE_TOKEN was set; it is wiped */
	bool share_net, insecure_http, no_auth, drivers_may_all, clipboard, kill_sessions,
		log_commands, check, verbose;
	bool rlimits;                               /* set limits by setrlimit(2) */
	size_t ring_size, process_ring, memory_max; /* bytes; memory_max: 0 = no limit */
	unsigned tasks_max;                         /* 0 = no limit */
	size_t screen_memory;                       /* bytes of all screens */
	unsigned scrollback;                        /* lines */
	const char *record;                         /* a directory; NULL or "off": no recording */
	size_t record_size;                         /* bytes of all recordings */
	unsigned record_age_s;                      /* 0 = for ever */
	unsigned max_sessions, max_connections, max_processes, kept_processes;
	unsigned process_ttl_s, ended_ttl_s, context_ttl_s; /* 0 = for ever */
	unsigned header_timeout_s, ping_interval_s;
};

/* What a command line requests. */
enum serve_request { SERVE_WRONG, SERVE_START, SERVE_HELP, SERVE_VERSION };

/*
 * Parse a command line; argv[0] is the program's name, and "serve" may follow. Options that are not given get their
 * defaults. SERVE_WRONG: after printing an error.
 */
enum serve_request serve_options_parse(int argc, char **argv, struct serve_options *ret_options);

/* Check that the options permit an address, in the form of --listen. Returns 0, or -1 after printing an error. */
int serve_options_check_address(const struct serve_options *o, const char *address);

/* Print the help. */
void serve_options_help(FILE *out);
