/*
 * The list of commands: whoever adds one adds it here. It has no state but the command line that is carried out, and a
 * command that fails says so itself.
 */
#include "ws/client/command.h"

#include "ws/client/attach/attach.h"
#include "ws/client/connect/connection.h"
#include "ws/client/job/job.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {&command_new, &command_ls, &command_attach,
	&command_exec, &command_run, &command_send, &command_wait, &command_screen, &command_log,
	&command_blocks, &command_share, &command_logins, &command_kill, &command_mcp,
	&command_completion};

#define COMMANDS (sizeof commands / sizeof *commands)

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

void command_list(void)
{
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-25s %s\n", commands[i]->name, commands[i]->summary);
}

void command_names(void)
{
	for (size_t i = 0; i < COMMANDS; i++)
		puts(commands[i]->name);
}

int command_main(const struct command *c, int argc, char **argv)
{
	static struct cli cli;
	cli = (struct cli){.command = c, .argc = argc, .argv = argv};
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	int status = c->run(&cli);
	connection_close(&cli);
	return status;
}
