/*
 * Command lines before a server is involved: errors, a missing server, completion, the config file, and whether
 * the man page (in $RINGSIDE_SOURCE) has all options of the help.
 */
#include "tests/lib/folder.h"
#include "ws/client/command.h"
#include "ws/client/program.h"
#include "ws/serve/options.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 24
#define TEXT_MAX_BYTES ((size_t)256 << 10)

static char shown[TEXT_MAX_BYTES]; /* output or error message of the last run */

static void read_shown(FILE *file)
{
	rewind(file);
	size_t n = fread(shown, 1, sizeof shown - 1, file);
	shown[n] = '\0';
	fclose(file);
}

static int run_program(const char *line)
{
	static const struct program_info about = {serve_options_help, NULL};
	char text[512], *rest = text, *argv[WORDS + 1] = {(char *)"ringside"}, **all = argv;
	int argc = 1;
	snprintf(text, sizeof text, "%s", line);
	while (rest && argc < WORDS)
		argv[argc++] = strsep(&rest, " ");
	argv[argc] = NULL;
	return program_main(&argc, &all, &about);
}

/*
 * Run a line, whose words are separated by one blank, in a process as the program does. `shown` gets what it
 * writes to the descriptor. Returns its status, -1 after a crash.
 */
static int run(int fd, const char *line)
{
	int status;
	FILE *file = tmpfile();
	cr_assert_not_null(file);
	fflush(NULL);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		dup2(fileno(file), fd);
		status = run_program(line);
		fflush(NULL);
		_exit(status);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	read_shown(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *printed(const char *line)
{
	cr_expect_eq(run(STDOUT_FILENO, line), 0, "%s", line);
	return shown;
}

/* No config file, and a named server that does not exist: none is started then. */
static void set_up(void)
{
	setenv("RINGSIDE_CONFIG", "", 1);
	setenv("RINGSIDE_SOCKET", "/nonexistent/ringside.sock", 1);
	unsetenv("RINGSIDE_SESSION");
	unsetenv("RINGSIDE_TOKEN");
}

TestSuite(program, .init = set_up, .timeout = 60);

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Errors begin with the command's name. */
static void expect_wrong(const char *line, int status)
{
	char begin[80];
	snprintf(begin, sizeof begin, "ringside %.*s: ", (int)strcspn(line, " "), line);
	cr_expect_eq(run(STDERR_FILENO, line), status, "%s", line);
	cr_expect(begins(shown, begin), "%s: %s", line, shown);
}

Test(program, invalid_lines)
{
	static const char *const lines[] = {"ls --nothing", "ls one", "kill", "screen",
		"screen a b", "log", "new --size 80", "new a b", "completion tcsh", "new --name",
		"screen --scrollback x a", "share --expires soon a", "attach --detach-key x a",
		"wait box", "send box", "send --wait -t soon box a",
		"wait --prompt --from first box", "ls --url ftp://x", "ls --no-nonsense",
		"ls --url http://h:4294967376", "ls --url http://h:+80",
		"ls --url http://h:", "ls --url http://h:65536", "ls --url http://h:080808080",
		"ls --url http://h:0", "log --from +1 box"};
	static const char *const passing[] = {
		"exec", "exec a", "run", "run --nothing x", "exec -t x a b"};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		expect_wrong(lines[i], CLI_USAGE);
	for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
		expect_wrong(passing[i], CLI_FAILED);
	cr_expect_eq(run(STDERR_FILENO, "nonsense"), CLI_USAGE);
}

Test(program, no_server)
{
	static const char *const lines[] = {"ls", "new", "kill a", "screen a", "log a", "share a",
		"attach a", "cat a", "cp a:b c", "exec a true", "run true"};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		bool passes = begins(lines[i], "exec") || begins(lines[i], "run");
		cr_expect_eq(run(STDERR_FILENO, lines[i]), passes ? CLI_FAILED : CLI_NO_SERVER,
			"%s", lines[i]);
		cr_expect_not_null(
			strstr(shown, "no server is running at /nonexistent/ringside.sock"),
			"%s: %s", lines[i], shown);
	}
	run(STDERR_FILENO, "ls --json");
	json_t *told = json_loads(shown, 0, NULL);
	cr_expect_eq(
		json_integer_value(json_object_get(told, "status")), CLI_NO_SERVER, "%s", shown);
	json_decref(told);
}

Test(program, long_tokens)
{
	struct folder tokens;
	char token[CLI_TOKEN_MAX + 2], text[sizeof token + 32], line[sizeof tokens.path + 64];
	folder_make(&tokens);
	snprintf(line, sizeof line, "ls --url http://127.0.0.1:1 --token-file %s/token",
		tokens.path);
	for (size_t length = CLI_TOKEN_MAX - 2; length < sizeof token; length++) {
		int status = length < CLI_TOKEN_MAX ? CLI_NO_SERVER : CLI_FAILED;
		memset(token, 'x', length);
		token[length] = '\0';
		snprintf(text, sizeof text, "%s\r\nanother line\n", token);
		folder_put(&tokens, "token", text);
		cr_expect_eq(run(STDERR_FILENO, line), status, "%zu: %s", length, shown);
		setenv("RINGSIDE_TOKEN", token, 1);
		cr_expect_eq(run(STDERR_FILENO, "ls --url http://127.0.0.1:1"), status, "%zu: %s",
			length, shown);
		unsetenv("RINGSIDE_TOKEN");
	}
	folder_remove(&tokens);
}

/* Whether completion offers this word: a line of its own, followed by a tab. */
static bool is_offered(const char *word)
{
	for (const char *at = shown; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (begins(at, word) && at[strlen(word)] == '\t')
			return true;
	}
	return false;
}

/* Completion without a server. A blank at the end is an empty word. */
Test(program, completion)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
		{"at", "attach\tShow a session on this terminal, and type into it (C-\\ detaches)\n"},
		{"ls --s", "--socket"}, {"serve --token", "--token-file"},
		{"run --cwd ", ":dirs\n"}, {"ls --token-file ", ":files\n"}, {"help sc", "screen"},
		{"completion ", "bash\nfish\nzsh\n"}, {"logins ", "revoke\n"},
		{"kill -s U", "USR1\nUSR2\n"}, {"screen --h", "--html"}};
	static const char *const nothing[] = {
		"nonsense ", "ls --nothing ", "exec -", "exec -- ", "new --name "};
	char line[80];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(line, sizeof line, "completion --words -- %s", cases[i].line);
		cr_expect(begins(printed(line), cases[i].want), "%s: %s", line, shown);
	}
	for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
		snprintf(line, sizeof line, "completion --words -- %s", nothing[i]);
		run(STDOUT_FILENO, line);
		cr_expect_not(is_offered("ls"), "%s: %s", line, shown);
	}
	char *one = strdup(printed("completion --words -- "));
	cr_expect(begins(one, "serve\t"), "%s", one);
	cr_expect_str_eq(printed("completion --words --"), one);
	free(one);
}

/* The man page without backslashes, which only escape characters. */
static char *read_manual(void)
{
	const char *source = getenv("RINGSIDE_SOURCE");
	char path[512];
	if (!source)
		cr_skip_test("RINGSIDE_SOURCE is not set");
	snprintf(path, sizeof path, "%s/ws/client/ringside.1", source);
	FILE *file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	read_shown(file);
	char *text = strdup(shown), *to = text;
	for (const char *from = text; *from; from++) {
		bool escaped = from[0] == '\\' && (from[1] == '-' || from[1] == 'e');
		from += escaped;
		*to++ = escaped && *from == 'e' ? '\\' : *from;
	}
	*to = '\0';
	return text;
}

static bool contains(const char *text, const char *pattern)
{
	regex_t compiled;
	cr_assert_eq(regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB), 0);
	bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
	regfree(&compiled);
	return found;
}

/* Call found for each --option of a text; first: it is listed as an option there. */
static void each_option(const char *text,
	void (*found)(const char *command, const char *option, bool first), const char *command)
{
	for (const char *at = text; (at = strstr(at, "--")); at += 2) {
		char option[64];
		size_t length = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
		const char *line = at;
		while (line > text && line[-1] != '\n')
			line--;
		bool listed = begins(line, "  -") && at - line <= 6;
		snprintf(option, sizeof option, "--%.*s", (int)length, at + 2);
		if (length > 1 && isalpha((unsigned char)at[2]))
			found(command, option, listed);
		at += length;
	}
}

static void expect_offered(const char *command, const char *option, bool listed)
{
	cr_expect(!listed || is_offered(option), "%s %s", command, option);
}

static const char *manual;

static void expect_in_manual(const char *command, const char *option, bool listed)
{
	(void)listed;
	/* Only the completion scripts of shells use it. */
	cr_expect(strcmp(option, "--commands") == 0 || strstr(manual, option), "%s %s", command,
		option);
}

/* The output of `ringside COMMAND --help`, owned. */
static char *help_of(const char *name)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	cli_print_help(file, command_find(name));
	fclose(file);
	return text;
}

static void check_command(const char *name)
{
	char *help = help_of(name), line[80];
	cr_expect(begins(help, "Usage: ringside "), "%s", name);
	snprintf(line, sizeof line, "completion --words -- %s --", name);
	printed(line);
	each_option(help, expect_offered, name);
	each_option(help, expect_in_manual, name);
	snprintf(line, sizeof line, "^\\.BR? \"?%s([^[:alnum:]_]|$)", name);
	cr_expect(contains(manual, line), "%s", line);
	free(help);
}

Test(program, every_option_is_completed_and_in_the_man_page)
{
	char *text = read_manual(), *names = strdup(printed("completion --commands")), *rest = names;
	unsigned count = 0;
	manual = text;
	for (const char *name; (name = strsep(&rest, "\n")) && *name; count++)
		check_command(name);
	cr_expect_geq(count, 14);
	free(names);
	free(text);
}

static struct folder folder;
static char file[300];

static void configure(const char *text)
{
	folder_put(&folder, "config", text);
	snprintf(file, sizeof file, "%s/config", folder.path);
	setenv("RINGSIDE_CONFIG", file, 1);
}

/* An error message of one line, with the file, the place, and the reason. */
static void expect_complaint(const char *line, int status, const char *begin, const char *why)
{
	cr_expect_eq(run(STDERR_FILENO, line), status, "%s", line);
	cr_expect(begins(shown, begin) && strstr(shown, why), "not %s…%s: %s", begin, why, shown);
	const char *end = strchr(shown, '\n');
	cr_expect(end && end[1] == '\0', "one line: %s", shown);
}

Test(program, invalid_config_files)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *why;
	} cases[] = {{"jso = yes\n", 1, "no option of all commands is called jso"},
		{"\nsokcet = /x\n", 2, "did you mean socket?"}, {"socket\n", 1, "needs a value"},
		{"[exce]\nqueue\n", 2, "there is no command exce (did you mean [exec]?)"},
		{"[exec]\n# x\nqueuw\n", 3, "ringside exec has no option queuw"},
		{"[exec]\nqueuw\n", 2, "did you mean queue?"},
		{"[exec]\nqueue = perhaps\n", 2, "yes or no"},
		{"[serve]\nring-siez = 4M\n", 2, "did you mean ring-size?"},
		{"[serve]\nhelp\n", 2, "no option help"}, {"[exec\n", 1, "no [section]"},
		{"what is this\n", 1, "NAME = VALUE"}, {"a\x1b[31m=b\n", 1, "control characters"}};
	folder_make(&folder);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char begin[340];
		configure(cases[i].text);
		snprintf(begin, sizeof begin, "ringside: %s:%u: ", file, cases[i].line);
		expect_complaint("ls s true", CLI_USAGE, begin, cases[i].why);
		expect_complaint("exec s true", CLI_FAILED, begin, cases[i].why);
		expect_complaint("serve s true", CLI_USAGE, begin, cases[i].why);
	}
	cr_expect_eq(run(STDOUT_FILENO, "help"), 0);
	cr_expect_eq(run(STDOUT_FILENO, "version"), 0);
	folder_remove(&folder);
}

Test(program, missing_config_files)
{
	static char large[70002];
	char begin[340];
	folder_make(&folder);
	memset(large, '#', sizeof large - 2);
	large[sizeof large - 2] = '\n';
	configure(large);
	snprintf(begin, sizeof begin, "ringside: %s", file);
	expect_complaint("ls", CLI_USAGE, begin, "64 KiB");
	setenv("RINGSIDE_CONFIG", "/nowhere/at/all", 1);
	expect_complaint("ls", CLI_USAGE, "ringside: /nowhere/at/all", ": No such file");
	setenv("RINGSIDE_CONFIG", "/", 1);
	expect_complaint("ls", CLI_USAGE, "ringside: /", "is not a regular file");
	configure("url = http://x\nsocket = /x\n");
	expect_complaint("ls", CLI_USAGE, begin, "a server twice");
	folder_remove(&folder);
}

/* The server: the command line wins over the environment, which wins over the file. */
Test(program, choice_of_the_server)
{
	static const struct {
		const char *socket, *line, *want;
	} cases[] = {{"", "ls", "/nonexistent/file"},
		{"", "ls --socket /nonexistent/line", "/nonexistent/line"},
		{"", "--socket /nonexistent/line ls", "/nonexistent/line"},
		{"/nonexistent/environment", "ls", "/nonexistent/environment"},
		{"/nonexistent/environment", "ls --socket /nonexistent/line", "/nonexistent/line"},
		{"", "ls --url http://127.0.0.1:1", "the server cannot be reached"}};
	folder_make(&folder);
	configure("# words\nsocket = /nonexistent/file\nno-start\n");
	setenv("RINGSIDE_TOKEN", "a token of that server", 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv("RINGSIDE_SOCKET", cases[i].socket, 1);
		cr_expect_eq(run(STDERR_FILENO, cases[i].line), CLI_NO_SERVER, "%s", cases[i].line);
		cr_expect_not_null(strstr(shown, cases[i].want), "%s: %s", cases[i].line, shown);
	}
	/* A token belongs to the server that it stands beside. */
	unsetenv("RINGSIDE_TOKEN");
	setenv("RINGSIDE_SOCKET", "", 1);
	configure("url = http://127.0.0.1:1\ntoken-file = /nowhere\n");
	run(STDERR_FILENO, "ls");
	cr_expect_not_null(strstr(shown, "/nowhere"), "%s", shown);
	run(STDERR_FILENO, "ls --socket /nonexistent/line");
	cr_expect_null(strstr(shown, "/nowhere"), "%s", shown);
	folder_remove(&folder);
}

/* A user that may write the file could choose the server. */
Test(program, config_file_that_other_users_may_write)
{
	static const mode_t modes[] = {0620, 0602, 0666};
	folder_make(&folder);
	configure("no-start\n");
	cr_expect_eq(run(STDERR_FILENO, "ls"), CLI_NO_SERVER, "%s", shown);
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		chmod(file, modes[i]);
		expect_complaint("ls", CLI_USAGE,
			"ringside: ", "may be written by other users, who could choose the server");
	}
	chmod(file, 0600);
	chmod(folder.path, 0777);
	expect_complaint("ls", CLI_USAGE, "ringside: ", "other users could replace it");
	chmod(folder.path, 0700);
	if (getuid() == 0) {
		cr_assert_eq(chown(file, 12345, 12345), 0);
		expect_complaint("ls", CLI_USAGE, "ringside: ", "belongs to another user");
	}
	folder_remove(&folder);
}
