/* What `ringside exec` and `ringside run` have in common: a command that is asked for, what it prints, how it ends. */
#pragma once

#include "ws/client/connect/interrupt.h"
#include "ws/client/job/input.h"
#include "ws/client/job/output.h"

/* `ringside exec` and `ringside run`. */
extern const struct command command_exec, command_run;

struct job {
	struct cli *cli;
	json_t *body, *env; /* of the request; owned */
	bool reads_stdin;   /* --stdin */
	struct input input; /* then */
	struct output output;
	uint64_t lost; /* bytes of output that have not come */
	json_t *end;   /* how it ended, NULL: it has not; owned */
	struct interrupt interrupt;
	struct terminal_job *terminal; /* of `run -it`, while it runs; see terminal.h */
};

/* The options of both; the rest of them is each command's own, with values from JOB_OPTION_OWN on. */
enum { JOB_CWD = 256, JOB_ENV, JOB_OPTION_OWN, JOB_TIMEOUT = 't', JOB_STDIN = 'i' };
/* clang-format off */
#define JOB_OPTIONS \
	{"cwd", required_argument, NULL, JOB_CWD}, \
	{"env", required_argument, NULL, JOB_ENV}, \
	{"timeout", required_argument, NULL, JOB_TIMEOUT}, \
	{"stdin", no_argument, NULL, JOB_STDIN}
/* clang-format on */

/* Begin, with an empty request. job_run() frees what it holds. */
void job_open(struct job *j, struct cli *cli);

/* Take one of JOB_OPTIONS, whose value is getopt's optarg. Returns 0, or the status to end with. */
int job_take_option(struct job *j, int option);

/* Before each option: -it, docker's word, which getopt would take apart, is spelled out. */
void job_spell_out(struct cli *cli);

/* Put a text into the request. Returns 0, or the status to end with when it is not UTF-8: field is the option's name. */
int job_put_text(struct job *j, const char *field, const char *text);

/* Put the arguments that are left, as the command, and the variables into the request. The same returns. */
int job_take_command(struct job *j);

/* Take an event of the answer. Returns false when it is not about output. */
bool job_take_output(struct job *j, const json_t *event);

/* What a command does itself; each of the first two returns 0, or the status to end with. */
struct job_callbacks {
	int (*take)(void *user); /* the command line */
	int (*perform)(
		void *user); /* connected, with standard input on its way and Ctrl-C and its like caught */
	void (*interrupted)(void *user, int signo); /* while it is performed; see struct interrupt */
};

/* Carry it out, from the command line to the end. Returns the status to end with, and frees what j holds. */
int job_run(struct job *j, const struct job_callbacks *callbacks, void *user);

/* The status to end with because the output could not be written; 0 where it could. */
int job_output_status(struct job *j);

/* The status to end with as the command did; -1 when its end does not say. */
int job_end_status(const struct job *j);
