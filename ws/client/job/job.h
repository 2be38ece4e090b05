/* What `ringside exec` and `ringside run` share: request, output and end of a command. */
#pragma once

#include "ws/client/connect/interrupt.h"
#include "ws/client/job/input.h"
#include "ws/client/job/output.h"

/* The commands. */
extern const struct command command_exec, command_run;

/* A command that is run. */
struct job {
	struct cli *cli;
	json_t *body, *env; /* of the request; owned */
	bool reads_stdin;   /* --stdin */
	struct input input; /* with --stdin */
	struct output output;
	uint64_t lost; /* bytes of output that were lost */
	json_t *end;   /* how it ended; NULL: it has not; owned */
	struct interrupt interrupt;
	struct terminal_job *terminal; /* of `run -it`, see terminal.h; else NULL */
};

/* The options of both commands. Options of one command have values from JOB_OPTION_OWN on. */
enum { JOB_CWD = 256, JOB_ENV, JOB_OPTION_OWN, JOB_TIMEOUT = 't', JOB_STDIN = 'i' };
/* clang-format off */
/* Rows for the option tables of both commands. */
#define JOB_OPTIONS \
	{"cwd", required_argument, NULL, JOB_CWD}, \
	{"env", required_argument, NULL, JOB_ENV}, \
	{"timeout", required_argument, NULL, JOB_TIMEOUT}, \
	{"stdin", no_argument, NULL, JOB_STDIN}
/* clang-format on */

/* Initialize with an empty request. job_run() frees it. */
void job_open(struct job *j, struct cli *cli);

/* Handle one of JOB_OPTIONS, with the value in optarg. Returns 0 or the exit status. */
int job_parse_option(struct job *j, int option);

/* Replace a following -it, as docker has it, by --interactive. Call it before each cli_option(). */
void job_expand_it(struct cli *cli);

/*
 * Add a text to the request; field is also the option's name. Returns 0, or the exit status if it
 * is not UTF-8.
 */
int job_put_text(struct job *j, const char *field, const char *text);

/*
 * Add the remaining arguments, as the command, and the variables to the request. Returns 0 or the
 * exit status.
 */
int job_parse_command(struct job *j);

/* Handle an event of the answer. Returns false if it is not about output. */
bool job_handle_output(struct job *j, const json_t *event);

/* What differs between the commands. */
struct job_callbacks {
	int (*take)(void *user);    /* parse the command line; returns 0 or the exit status */
	int (*perform)(void *user); /* run the command; returns the exit status */
	void (*interrupted)(void *user, int signo); /* a signal during perform() */
};

/*
 * Parse the command line, connect, open standard input, catch signals, perform, and free what j
 * owns. Returns the exit status.
 */
int job_run(struct job *j, const struct job_callbacks *callbacks, void *user);

/* The exit status if the output could not be written; 0 if it could. */
int job_output_status(struct job *j);

/* The command's exit status; -1 if it is unknown. */
int job_end_status(const struct job *j);
