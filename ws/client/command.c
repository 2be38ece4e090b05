#include "ws/client/command.h"

#include "ws/client/attach/attach.h"
#include "ws/client/connect/connection.h"
#include "ws/client/files/files.h"
#include "ws/client/job/job.h"
#include "ws/client/tmux/tmux.h"
#include "ws/client/wall/wall.h"
#include "ws/client/edit_distance.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {&command_new, &command_ls, &command_attach,
	&command_wall, &command_exec, &command_run, &command_send, &command_wait, &command_screen,
	&command_log, &command_blocks, &command_cat, &command_cp, &command_backup, &command_share,
	&command_ports, &command_logins, &command_rename, &command_notify, &command_open,
	&command_url, &command_token, &command_kill, &command_mcp, &command_drain, &command_upgrade,
	&command_stop, &command_completion, &command_help, &command_version, &command_tmux};

#define COMMANDS (sizeof commands / sizeof *commands)

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

const struct command *command_find_like(const char *name)
{
	unsigned least = EDIT_DISTANCE_FAR;
	const struct command *found = NULL;
	for (size_t i = 0; i < COMMANDS; i++) {
		unsigned distance = edit_distance(name, commands[i]->name);
		if (distance < least) {
			least = distance;
			found = commands[i];
		}
	}
	return found;
}

void command_list(void)
{
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-25s %s\n", commands[i]->name, commands[i]->summary);
}

void command_describe(const char *word)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strncmp(commands[i]->name, word, strlen(word)) == 0)
			printf("%s\t%s\n", commands[i]->name, commands[i]->summary);
}

void command_names(void)
{
	for (size_t i = 0; i < COMMANDS; i++)
		puts(commands[i]->name);
}

int command_main(const struct command *c, const struct command_line *line)
{
	static struct cli cli;
	cli = (struct cli){.command = c,
		.argc = line->argc,
		.argv = line->argv,
		.serve_help = line->serve_help,
		.commit = line->commit,
		.config = line->config};
	signal(SIGPIPE, SIG_IGN);
	int status = c->run(&cli);
	connection_close(&cli);
	return status;
}
