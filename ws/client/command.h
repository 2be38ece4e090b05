/* `ringside COMMAND`: everything but `ringside serve`. */
#pragma once

#include "ws/client/connect/cli.h"

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* The command whose name is most like that, or NULL where none is. */
const struct command *command_find_like(const char *name);

/* Print those whose names begin with a word, a tab and what they do behind each. */
void command_describe(const char *word);

/* What it is carried out with. */
struct command_line {
	int argc;
	char **argv;                   /* argv[0] is the command's name */
	void (*serve_help)(FILE *out); /* prints what there is to say of `ringside serve` */
	const char *commit;            /* that the program was built from; NULL: not known */
	struct cli_server config;      /* what the config file says */
};

/* Carry it out. Returns the exit status. */
int command_main(const struct command *c, const struct command_line *line);

/* Print what there is, a line each. */
void command_list(void);
/* Only their names. */
void command_names(void);

/* Those of this folder; attach, exec and run are in theirs. */
extern const struct command command_new, command_ls, command_kill, command_send, command_wait,
	command_screen, command_log, command_blocks, command_share, command_ports, command_logins,
	command_mcp, command_completion, command_backup, command_help, command_version,
	command_drain, command_stop, command_rename, command_notify, command_open, command_url,
	command_token;
