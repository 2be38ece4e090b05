/*
 * Commands and options come from the texts of the help. Sessions are those of the server that the
 * command line names; no server is started for them.
 */
#include "ws/client/candidates.h"

#include "ws/client/command.h"
#include "ws/client/connect/call.h"
#include "ws/client/config/option_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks for an option by its long or short name. */
struct search {
	const char *word;
	struct option_help found; /* name "": none */
};

static void match_option(void *user, const struct option_help *o)
{
	struct search *s = user;
	if (strcmp(o->name, s->word) == 0 || (o->brief[0] && strcmp(o->brief, s->word) == 0))
		s->found = *o;
}

static void print_option(void *user, const struct option_help *o)
{
	const char *word = user;
	if (strncmp(o->name, word, strlen(word)) == 0)
		printf("%s\t%s\n", o->name, o->words);
}

static const char *value_of(const char *help, const char *word, struct search *s)
{
	*s = (struct search){.word = word};
	if (word[0] == '-')
		option_help_each(help, match_option, s);
	return s->found.value;
}

static int print_sessions(struct cli *cli, const char *word)
{
	struct answer a;
	size_t i;
	json_t *s;
	cli->no_start = true;
	int rc = call_api(cli, "GET", strdup("/api/session/list"), NULL, &a);
	if (rc != 0)
		return rc;
	json_array_foreach (json_object_get(a.json, "sessions"), i, s) {
		const char *id = answer_text(s, "id"), *name = answer_text(s, "name");
		if (strncmp(id, word, strlen(word)) == 0)
			printf("%s\t%s\n", id,
				strcmp(id, name) == 0 ? answer_text(s, "state") : name);
	}
	answer_finish(&a);
	return cli_flush(cli);
}

static int print_commands(struct cli *cli, const char *word)
{
	if (strncmp("serve", word, strlen(word)) == 0)
		printf("serve\t%s\n", "The server");
	command_describe(word);
	return cli_flush(cli);
}

static int print_words(struct cli *cli, const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strncmp(*words, word, strlen(word)) == 0)
			puts(*words);
	return cli_flush(cli);
}

/* Complete argument number nth, from 0, of a command. */
static int print_argument(struct cli *cli, const char *command, unsigned nth, const char *word)
{
	static const struct {
		const char *command;
		const char *words[5];
	} verbs[] = {{"backup", {"create", "restore"}}, {"logins", {"revoke"}},
		{"ports", {"expose", "revoke"}}, {"completion", {"bash", "fish", "zsh"}}};
	const struct command *c = command_find(command);
	const char *session = c ? strstr(c->arguments, "SESSION") : NULL;
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (nth == 0 && strcmp(command, verbs[i].command) == 0)
			return print_words(cli, word, verbs[i].words);
	if (strcmp(command, "help") == 0 && nth == 0)
		return print_commands(cli, word);
	if (session && (nth == 0 || strstr(session, "...") == session + strlen("SESSION")))
		return print_sessions(cli, word);
	static const char *const with_files[] = {"cp", "backup", "exec", "run"};
	for (size_t i = 0; i < sizeof with_files / sizeof *with_files; i++)
		if (strcmp(command, with_files[i]) == 0)
			puts(":files");
	return cli_flush(cli);
}

/* Use the server that the command line names. */
static void set_server(struct cli *cli, const char *option, const char *value)
{
	if (strcmp(option, "--socket") == 0)
		cli->socket = value;
	else if (strcmp(option, "--url") == 0)
		cli->url = value;
	else if (strcmp(option, "--token-file") == 0)
		cli->token_file = value;
}

static int print_value(struct cli *cli, const struct option_help *o, const char *word)
{
	static const char *const signals[] = {
		"INT", "TERM", "HUP", "QUIT", "KILL", "USR1", "USR2", "STOP", "CONT", NULL};
	const char *value = o->value;
	if (strcmp(o->name, "--signal") == 0)
		return print_words(cli, word, signals);
	if (strcmp(value, "SESSION") == 0)
		return print_sessions(cli, word);
	if (strcmp(value, "FILE") == 0 || strcmp(value, "PATH") == 0)
		puts(":files");
	else if (strcmp(value, "DIR") == 0)
		puts(":dirs");
	return cli_flush(cli);
}

int candidates_print(struct cli *cli, int count, char **words)
{
	struct search s;
	const char *word = count > 0 ? words[count - 1] : "";
	unsigned nth = 0;
	if (count <= 1)
		return print_commands(cli, word);
	char *help = option_help_text(
		command_find(words[0]), strcmp(words[0], "serve") == 0 ? cli->serve_help : NULL);
	if (!help)
		return cli_fail(cli, "out of memory");
	for (int i = 1; i < count - 1; i++) {
		bool has_value = *value_of(help, words[i], &s) != '\0';
		if (has_value && i + 1 < count - 1)
			set_server(cli, words[i], words[i + 1]);
		nth += words[i][0] != '-';
		i += has_value;
	}
	const char *value = count > 2 ? value_of(help, words[count - 2], &s) : "";
	int rc;
	if (*value) {
		rc = print_value(cli, &s.found, word);
	} else if (word[0] == '-') {
		option_help_each(help, print_option, (void *)(uintptr_t)word);
		rc = cli_flush(cli);
	} else {
		rc = print_argument(cli, words[0], nth, word);
	}
	free(help);
	return rc;
}
