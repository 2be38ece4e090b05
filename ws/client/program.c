/*
 * `ringside`, up to its command. Options of all commands that stand before it are moved behind it, where the command takes
 * them itself. What is no command ends with 2, and with the one that is most like it.
 */
#include "ws/client/program.h"

#include "ws/client/command.h"
#include "ws/client/config.h"
#include "ws/client/likeness.h"
#include "ws/client/tmux/tmux.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char serve[] = "serve";

static int say_what_it_is(void)
{
	puts("Ringside " RINGSIDE_RELEASE
	     ": terminals that people and agents share. They outlive windows, connections and the server.\n"
	     "\n"
	     "  ringside new --attach      start a session here, and show it (C-\\ detaches)\n"
	     "  ringside ls                what sessions there are\n"
	     "  ringside attach [SESSION]  come back to one\n"
	     "  ringside exec SESSION CMD  run a command in one, and end as it does\n"
	     "  ringside share SESSION     a link to one, for somebody else\n"
	     "  ringside serve             the server, in the foreground\n"
	     "\n"
	     "A server is started in the background when a command needs one. ringside help lists all commands,\n"
	     "ringside help COMMAND explains one.");
	return fflush(stdout) == 0 ? 0 : CLI_FAILED;
}

static int complain(const char *what, const char *word, const char *advice)
{
	fprintf(stderr, "ringside: there is no %s '", what);
	for (const char *p = word; *p && p - word < 80; p++)
		fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, stderr);
	fprintf(stderr, "'%s\n", advice);
	return CLI_USAGE;
}

static int complain_command(const char *word)
{
	char advice[80] = "; ringside help lists them";
	const struct command *like = command_find_like(word);
	const char *name = like ? like->name : NULL;
	if (likeness_distance(word, serve) < (name ? likeness_distance(word, name) : LIKENESS_FAR))
		name = serve;
	if (name)
		snprintf(advice, sizeof advice, ": did you mean '%s'?", name);
	return complain("command", word, advice);
}

/* Put the command first, behind the program's name: what stood before it is its options then. */
static void move_forward(char **argv, int at)
{
	char *command = argv[at];
	memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
	argv[1] = command;
}

/* What there is without a command; word: its last word, or NULL. */
static int answer_without_command(int argc, char **argv, int at, const struct program_about *about)
{
	const char *word = at < argc ? argv[at] : NULL;
	static char *const alone[] = {(char *)"help", NULL};
	for (int i = 1; i < at; i++)
		if (strcmp(argv[i], "--help") == 0)
			return command_main(&command_help,
				&(struct command_line){
					1, (char **)alone, about->serve_help, about->commit, {0}});
	if (!word)
		return say_what_it_is();
	return complain("option", word, " before a command; see ringside help");
}

/* A link of that name, for programs that call tmux: the config file says where its server is. */
static int run_tmux(int argc, char **argv, const struct program_about *about)
{
	struct command_line line = {argc, argv, about->serve_help, about->commit, {0}};
	char *words[] = {argv[0], (char *)(uintptr_t)command_tmux.name, NULL}, **taken = words;
	int count = 2, rc = config_apply(&count, &taken, about->serve_help, &line.config);
	return rc != 0 ? rc : command_main(&command_tmux, &line);
}

/* argv[1] is a command, or something else. */
static int run_command(int *argc, char ***argv, const struct program_about *about)
{
	struct command_line line = {.serve_help = about->serve_help, .commit = about->commit};
	const char *name = (*argv)[1];
	const struct command *c = command_find(name);
	if (!c && strcmp(name, serve) != 0)
		return complain_command(name);
	int rc = config_apply(argc, argv, about->serve_help, &line.config);
	if (rc != 0 || !c)
		return rc != 0 ? rc : PROGRAM_SERVE;
	line.argc = *argc - 1;
	line.argv = *argv + 1;
	return command_main(c, &line);
}

int program_main(int *all, char ***line, const struct program_about *about)
{
	int at = 1, argc = *all;
	char **argv = *line;
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	if (argc > 0 && strcmp(slash ? slash + 1 : argv[0], command_tmux.name) == 0)
		return run_tmux(argc, argv, about);
	while (at < argc) {
		size_t words = cli_common_words(argv[at]);
		if (words == 0)
			break;
		at += (int)words;
	}
	if (at > argc)
		return complain("value for", argv[argc - 1], "");
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
