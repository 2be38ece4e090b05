/*
 * Common options that stand before the command are moved behind it, where the command parses them.
 */
#include "ws/client/program.h"

#include "ws/client/command.h"
#include "ws/client/config.h"
#include "ws/client/edit_distance.h"
#include "ws/client/tmux/tmux.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char serve[] = "serve";

static int print_overview(void)
{
	puts("Ringside " RINGSIDE_RELEASE
	     ": terminals that people and agents share. They outlive windows, connections and the server.\n"
	     "\n"
	     "  ringside new --attach      start a session here, and show it (C-\\ detaches)\n"
	     "  ringside ls                list the sessions\n"
	     "  ringside attach [SESSION]  come back to one\n"
	     "  ringside exec SESSION CMD  run a command in one, and exit with its status\n"
	     "  ringside share SESSION     make a link to one\n"
	     "  ringside serve             run the server in the foreground\n"
	     "\n"
	     "A server is started in the background when a command needs one. ringside help lists all commands,\n"
	     "ringside help COMMAND explains one.");
	return fflush(stdout) == 0 ? 0 : CLI_FAILED;
}

static int report(const char *what, const char *word, const char *advice)
{
	fprintf(stderr, "ringside: there is no %s '", what);
	for (const char *p = word; *p && p - word < 80; p++)
		fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, stderr);
	fprintf(stderr, "'%s\n", advice);
	return CLI_USAGE;
}

static int report_command(const char *word)
{
	char advice[80] = "; ringside help lists them";
	const struct command *like = command_find_like(word);
	const char *name = like ? like->name : NULL;
	if (edit_distance(word, serve) < (name ? edit_distance(word, name) : EDIT_DISTANCE_FAR))
		name = serve;
	if (name)
		snprintf(advice, sizeof advice, ": did you mean '%s'?", name);
	return report("command", word, advice);
}

/* Move the command to argv[1], and the options before it behind it. */
static void move_forward(char **argv, int at)
{
	char *command = argv[at];
	memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
	argv[1] = command;
}

/* Handle a command line without a command. at: its first word that is not a common option. */
static int answer_without_command(int argc, char **argv, int at, const struct program_info *about)
{
	const char *word = at < argc ? argv[at] : NULL;
	static char *const alone[] = {(char *)"help", NULL};
	for (int i = 1; i < at; i++)
		if (strcmp(argv[i], "--help") == 0)
			return command_main(&command_help,
				&(struct command_line){
					1, (char **)alone, about->serve_help, about->commit, {0}});
	if (!word)
		return print_overview();
	return report("option", word, " before a command; see ringside help");
}

/* Called through a link named tmux. The config file chooses the server. */
static int run_tmux(int argc, char **argv, const struct program_info *about)
{
	struct command_line line = {argc, argv, about->serve_help, about->commit, {0}};
	char *words[] = {argv[0], (char *)(uintptr_t)command_tmux.name, NULL}, **taken = words;
	int count = 2, rc = config_apply(&count, &taken, about->serve_help, &line.config);
	return rc != 0 ? rc : command_main(&command_tmux, &line);
}

/* Run argv[1], if it is a command. */
static int run_command(int *argc, char ***argv, const struct program_info *about)
{
	struct command_line line = {.serve_help = about->serve_help, .commit = about->commit};
	const char *name = (*argv)[1];
	const struct command *c = command_find(name);
	if (!c && strcmp(name, serve) != 0)
		return report_command(name);
	int rc = config_apply(argc, argv, about->serve_help, &line.config);
	if (rc != 0 || !c)
		return rc != 0 ? rc : PROGRAM_SERVE;
	line.argc = *argc - 1;
	line.argv = *argv + 1;
	return command_main(c, &line);
}

int program_main(int *all, char ***line, const struct program_info *about)
{
	int at = 1, argc = *all;
	char **argv = *line;
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	if (argc > 0 && strcmp(slash ? slash + 1 : argv[0], command_tmux.name) == 0)
		return run_tmux(argc, argv, about);
	while (at < argc) {
		size_t words = cli_count_common_words(argv[at]);
		if (words == 0)
			break;
		at += (int)words;
	}
	if (at > argc)
		return report("value for", argv[argc - 1], "");
	if (at < argc && strcmp(argv[at], "--version") == 0) {
		move_forward(argv, at);
		return command_main(&command_version,
			&(struct command_line){
				argc - 1, argv + 1, about->serve_help, about->commit, {0}});
	}
	if (at == argc || argv[at][0] == '-')
		return answer_without_command(argc, argv, at, about);
	move_forward(argv, at);
	return run_command(all, line, about);
}
