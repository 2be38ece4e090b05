/* `ringside COMMAND`: everything but `ringside serve`. */
#pragma once

#include "ws/client/connect/cli.h"

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* Carry it out. argv[0] is the command's name. Returns the exit status. */
int command_main(const struct command *c, int argc, char **argv);

/* Print what there is, a line each. */
void command_list(void);
/* Only their names. */
void command_names(void);

/* Those of this folder; attach, exec and run are in theirs. */
extern const struct command command_new, command_ls, command_kill, command_send, command_wait,
	command_screen, command_log, command_blocks, command_share, command_logins, command_mcp,
	command_completion;
