/*
 * A command line that is being carried out: its options, the server it is for, and what its end means to
 * scripts.
 */
#pragma once

#include "ws/net/client.h"

#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <uv.h>

/*
 * How `ringside COMMAND` ends, besides 0. exec and run end as what they have run; what is Ringside's own is
 * 125 with them, as with env, timeout and docker.
 */
enum {
	CLI_USAGE = 2,      /* the command line is wrong */
	CLI_GONE = 3,       /* the session or the command ended before what was waited for */
	CLI_NO_SERVER = 69, /* EX_UNAVAILABLE */
	CLI_TIME_OVER = 124,
	CLI_FAILED = 125, /* the server refused, or something else failed: standard error says what */
};

#define CLI_OPTIONS_MAX 40u
#define CLI_TOKEN_MAX 1024u

struct command;

/* What a config file says of the server: see ws/client/config.h. */
struct cli_server {
	const char *socket, *url, *token_file; /* at most one of the first two */
	bool no_start;
	bool listens; /* [serve] says where a server listens */
};

struct cli {
	const struct command *command;
	int argc;
	char **argv; /* argv[0] is the command's name */
	bool json;   /* --json */
	const char *socket, *url, *token_file;
	struct cli_server config;      /* where neither command line nor environment name one */
	bool configured;               /* socket, url and token_file are those of config */
	bool no_start;                 /* --no-start */
	bool starts;                   /* it starts a server where none runs */
	const char *strange;           /* why XDG_RUNTIME_DIR is not followed, or NULL */
	bool named;                    /* the server is: by an option, or in the environment */
	unsigned patience_ms;          /* with an answer; 0: as long as it takes */
	const bool *give_up;           /* once it is set an answer is not waited for; NULL: it is */
	bool quiet;                    /* what goes wrong is told by the status alone */
	void (*serve_help)(FILE *out); /* what `ringside serve --help` says */
	const char *commit;            /* that the program was built from; NULL: not known */
	struct option options[CLI_OPTIONS_MAX]; /* those of the command, and those that all have */
	/* The server: */
	uv_loop_t loop;
	bool loop_open;
	struct client *client;
	struct client_target target;
	char path[PATH_MAX]; /* of its socket */
	char host[256], prefix[256], token[CLI_TOKEN_MAX];
	int status; /* to end with when a step has failed */
};

/* What a command is: its name, what it does, and what it says of itself. */
struct command {
	const char *name;
	int (*run)(struct cli *cli); /* returns the exit status */
	const char *arguments;       /* "[OPTIONS] SESSION" */
	const char *summary;         /* one line */
	const char *options;         /* their descriptions, each line ended; "" = none of its own */
	bool passes;                 /* ends as what it has run */
	bool starts;                 /* starts a server where none runs */
};

/*
 * The next option, as getopt_long() has it: own options with values of 256 and up, or the letters of shorts.
 * Returns -1 behind the last, '?' when there is something wrong; then the status is set. The options of all
 * commands are taken here.
 */
int cli_option(struct cli *cli, const char *shorts, const struct option *own);

/*
 * Take the server of the config file, where no other is named. For what looks at which one it is; cli_option() and connecting
 * have done it.
 */
void cli_take_config(struct cli *cli);

/* How many words of a command line a word takes that is an option of all commands: 0 where it is none. */
size_t cli_common_words(const char *word);

/* What `ringside COMMAND --help` says. */
void cli_print_help(FILE *out, const struct command *c);

/* The next argument that is no option; NULL if there is none. */
const char *cli_argument(struct cli *cli);

/*
 * The session that is meant: the next argument, or where there is none the one that we are in ($RINGSIDE_SESSION). NULL: there
 * is neither, which has been complained of.
 */
const char *cli_session(struct cli *cli);

/* Check that no argument is left. Otherwise complains, and returns false. */
bool cli_done(struct cli *cli);

/* Complain on standard error; returns the status to end with. */
int cli_usage(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_fail(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number of seconds, with fractions, as milliseconds. Returns false when it is none. */
bool cli_seconds(const char *text, uint64_t *ret_ms);
/* A whole number. Returns false when it is none, or more than max. */
bool cli_number(const char *text, uint64_t max, uint64_t *ret_number);

/* Add "NAME=VALUE" to an object of variables. Returns false when it is none. */
bool cli_variable(json_t *variables, const char *text);

/* Print JSON as one line on standard output; value is taken. Returns 0, or the status to end with. */
int cli_print_json(struct cli *cli, json_t *value);
/* Flush standard output. Returns 0, or the status to end with: a pipe that is closed, a full disk. */
int cli_flush(struct cli *cli);
