/* The table of commands: all but `ringside serve`. */
#pragma once

#include "ws/client/connect/cli.h"

/* Returns the command with that name, or NULL. */
const struct command *command_find(const char *name);

/* Returns the command with the most similar name, or NULL if none is similar. */
const struct command *command_find_like(const char *name);

/* Print the names that begin with a word, each with a tab and the summary. */
void command_describe(const char *word);

/* The arguments of command_main(). */
struct command_line {
	int argc;
	char **argv;                   /* argv[0] is the command's name */
	void (*serve_help)(FILE *out); /* prints `ringside serve --help` */
	const char *commit;            /* the program was built from; NULL: unknown */
	struct cli_server config;      /* server of the config file */
};

/* Run a command. Returns the exit status. */
int command_main(const struct command *c, const struct command_line *line);

/* Print all names with summaries. */
void command_list(void);

/* Print all names. */
void command_names(void);

/* The commands of this folder; sub-folders declare their own. */
extern const struct command command_new, command_ls, command_kill, command_send, command_wait,
	command_screen, command_log, command_blocks, command_share, command_ports, command_logins,
	command_mcp, command_completion, command_backup, command_help, command_version,
	command_drain, command_upgrade, command_stop, command_rename, command_notify, command_open,
	command_url, command_token;
