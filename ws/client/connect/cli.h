/* The command line of one `ringside COMMAND`: its options, its server, its exit status. */
#pragma once

#include "ws/net/client.h"

#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <uv.h>

/*
 * Exit statuses of `ringside COMMAND` besides 0. exec and run exit with the status of the command
 * that they ran; errors of Ringside itself are 125 there, as with env, timeout and docker.
 */
enum {
	CLI_USAGE = 2,       /* the command line is wrong */
	CLI_GONE = 3,        /* the session or the command ended before the awaited event */
	CLI_NO_SERVER = 69,  /* EX_UNAVAILABLE */
	CLI_TIME_OVER = 124, /* the time limit was reached */
	CLI_FAILED = 125,    /* any other error; standard error says which */
};

#define CLI_OPTIONS_MAX 40u
#define CLI_TOKEN_MAX 1024u

struct command;

/* The settings of the config file that choose the server, see ws/client/config.h. */
struct cli_server {
	const char *socket, *url, *token_file; /* at most one of the first two */
	bool no_start;
	bool listens; /* [serve] sets listen */
};

/* A command line that is being executed. */
struct cli {
	const struct command *command;
	int argc;
	char **argv; /* argv[0] is the command's name */
	bool json;   /* --json */
	const char *socket, *url, *token_file;
	struct cli_server config;      /* used if neither command line nor environment name one */
	bool configured;               /* socket, url and token_file come from config */
	bool no_start;                 /* --no-start */
	bool starts;                   /* start a server if none runs */
	const char *strange;           /* why XDG_RUNTIME_DIR is ignored, or NULL */
	bool named;                    /* an option or the environment names the server */
	unsigned patience_ms;          /* time limit of an answer; 0: none */
	const bool *give_up;           /* set to true: stop waiting for an answer; may be NULL */
	bool quiet;                    /* print no errors, only set the status */
	void (*serve_help)(FILE *out); /* prints `ringside serve --help` */
	const char *commit;            /* the program was built from; NULL: unknown */
	struct option options[CLI_OPTIONS_MAX]; /* of the command, then the common ones */
	/* The server: */
	uv_loop_t loop;
	bool loop_open;
	struct client *client;
	struct client_target target;
	char path[PATH_MAX]; /* its socket */
	char host[256], prefix[256], token[CLI_TOKEN_MAX];
	int status; /* exit status after a failed step */
};

/* A command. */
struct command {
	const char *name;
	int (*run)(struct cli *cli); /* returns the exit status */
	const char *arguments;       /* "[OPTIONS] SESSION" */
	const char *summary;         /* one line */
	const char *options;         /* their descriptions, each line ended; "" = none of its own */
	bool passes;                 /* exits with the status of the command that it ran */
	bool starts;                 /* starts a server if none runs */
};

/*
 * Parse the next option. own, shorts: the command's options as for getopt_long(), with values from
 * 256 on or letters; shorts begins with ':' or "+:". Common options are handled here. Returns the
 * option's value, -1 after the last one, or '?' for an error, which is reported and in cli->status.
 */
int cli_option(struct cli *cli, const char *shorts, const struct option *own);

/*
 * Parse the options of a command with only one of its own. *ret_value: its value, "" if it has none;
 * NULL: it is not given. Returns 0 or the exit status.
 */
int cli_only_option(
	struct cli *cli, const char *shorts, const struct option *own, const char **ret_value);

/*
 * Use the config file's server unless another one is named. Only needed to look at the choice
 * before the last cli_option() and connection_open(), which call it.
 */
void cli_apply_config(struct cli *cli);

/* Returns the number of words of a common option with its value: 1 or 2, or 0 for other words. */
size_t cli_count_common_words(const char *word);

/* Print the text of `ringside COMMAND --help`. */
void cli_print_help(FILE *out, const struct command *c);

/* Returns the next argument that is not an option; NULL if there is none. */
const char *cli_argument(struct cli *cli);

/*
 * Like cli_argument(), but an argument is required: NULL has been reported. name: what it is, for
 * the report.
 */
const char *cli_required(struct cli *cli, const char *name);

/*
 * Returns the session: the next argument, or $RINGSIDE_SESSION if there is none. NULL: neither;
 * that has been reported.
 */
const char *cli_session(struct cli *cli);

/* Check that no argument is left; otherwise report it and return false. */
bool cli_expect_end(struct cli *cli);

/* Report a wrong command line on standard error. Returns the exit status. */
int cli_usage(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Report another error on standard error. Returns the exit status, cli->status if it is set. */
int cli_fail(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parse seconds, with fractions, as milliseconds. Returns false if text is not a number. */
bool cli_seconds(const char *text, uint64_t *ret_ms);

/* Parse a whole number, digits alone. Returns false if text is not one, or greater than max. */
bool cli_parse_number(const char *text, uint64_t max, uint64_t *ret_number);

/* Add "NAME=VALUE" to an object of variables. Returns false for text of another form. */
bool cli_add_variable(json_t *variables, const char *text);

/*
 * Print text of another program on one line: control characters and other invisible ones as
 * escapes, such as \n, \x1b or \u202e. Returns the number of characters printed.
 */
size_t cli_print_text(FILE *out, const char *text);

/* Print JSON as one line on standard output. Takes value. Returns 0 or the exit status. */
int cli_print_json(struct cli *cli, json_t *value);

/* Flush standard output. Returns 0 or the exit status, for a closed pipe or a full disk. */
int cli_flush(struct cli *cli);
