/*
 * All settings are checked against the help of their commands before any is used, so that each
 * command reports an error in any section. The file can choose the server, which receives
 * everything that is typed, so other users must not be able to write it. Settings before the first
 * section choose the server; the others become words of the command line, before the given ones,
 * which override them. Options of `serve` add up instead, so settings are left out that the command
 * line has.
 */
#include "ws/client/config.h"

#include "ws/client/command.h"
#include "ws/client/config/option_help.h"
#include "ws/client/edit_distance.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char serve[] = "serve";

/* Help of the options that stand before the first section. */
static const char common_help[] =
	"  --socket PATH  \n  --url URL  \n  --token-file FILE  \n  --no-start  \n";

/* The file while it is read. */
struct reading {
	const char *path;
	int status; /* exit status for errors */
	void (*serve_help)(FILE *out);
	struct config_text text;
	char *bytes;          /* text points into it */
	char **volatile line; /* the returned argv; static, so that it is no leak */
	char *volatile kept[CONFIG_SETTINGS_MAX]; /* the words that line points to */
};

static int fail(const struct reading *r, unsigned line, const char *what, const char *why)
{
	fprintf(stderr, "ringside: %s", r->path);
	if (line > 0)
		fprintf(stderr, ":%u", line);
	fprintf(stderr, ": %s%s%s\n", what, *what && *why ? " " : "", why);
	return r->status;
}

/*
 * The path of the file; "": none is read. *ret_named: $RINGSIDE_CONFIG names it, so it is an error
 * if it does not exist.
 */
static void find_path(char path[PATH_MAX], bool *ret_named)
{
	const char *named = getenv("RINGSIDE_CONFIG");
	const char *dir = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n = 0;
	*ret_named = named && *named;
	if (named)
		n = snprintf(path, PATH_MAX, "%s", named);
	else if (dir && dir[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/ringside/config", dir);
	else if (home && home[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/.config/ringside/config", home);
	if (n <= 0 || n >= PATH_MAX)
		path[0] = '\0';
}

static bool is_mine(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* Check that no other user can write or replace the file. */
static int check_owner(const struct reading *r, int fd)
{
	struct stat st;
	char copy[PATH_MAX];
	if (fstat(fd, &st) < 0)
		return fail(r, 0, "", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(r, 0, "", "is not a regular file");
	if (!is_mine(&st))
		return fail(r, 0, "",
			"belongs to another user, who could choose the server that commands use "
			"(ignore it with RINGSIDE_CONFIG=)");
	if (st.st_mode & 022)
		return fail(r, 0, "",
			"may be written by other users, who could choose the server that commands use: chmod go-w");
	snprintf(copy, sizeof copy, "%s", r->path);
	if (stat(dirname(copy), &st) < 0 || !is_mine(&st) ||
		((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
		return fail(r, 0, "",
			"is in a directory where other users could replace it: chmod go-w");
	return 0;
}

static int read_file(struct reading *r, int fd)
{
	size_t length = 0;
	ssize_t n = 1;
	r->bytes = malloc(CONFIG_TEXT_MAX + 2);
	if (!r->bytes)
		return fail(r, 0, "", strerror(ENOMEM));
	while (n != 0 && length <= CONFIG_TEXT_MAX) {
		n = read(fd, r->bytes + length, CONFIG_TEXT_MAX + 1 - length);
		if (n < 0 && errno != EINTR)
			return fail(r, 0, "", strerror(errno));
		length += n > 0 ? (size_t)n : 0;
	}
	r->bytes[length] = '\0';
	if (config_text_parse(r->bytes, length, &r->text) < 0)
		return fail(r, r->text.line, "this line", r->text.why);
	return 0;
}

static int load(struct reading *r, bool named)
{
	int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && !named && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return 0;
	if (fd < 0)
		return fail(r, 0, "", strerror(errno));
	int rc = check_owner(r, fd);
	if (rc == 0)
		rc = read_file(r, fd);
	close(fd);
	return rc;
}

/* Looks for an option by name. */
struct match {
	const char *name;
	struct option_help found;   /* name "": none */
	char like[OPTION_HELP_MAX]; /* the most similar name */
	unsigned distance;          /* of that one */
};

static void match_name(void *user, const struct option_help *o)
{
	struct match *m = user;
	const char *name = o->name + strlen("--");
	unsigned distance = edit_distance(m->name, name);
	if (strcmp(m->name, name) == 0)
		m->found = *o;
	if (distance < m->distance) {
		m->distance = distance;
		snprintf(m->like, sizeof m->like, "%s", name);
	}
}

static bool is_flag_word(const char *word, bool *ret_on)
{
	static const char *const words[] = {"no", "yes", "off", "on", "false", "true"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i]) == 0) {
			*ret_on = i % 2;
			return true;
		}
	return false;
}

static int report_name(const struct reading *r, const struct config_setting *s, const char *like)
{
	char what[200], why[100] = "";
	if (*s->section)
		snprintf(what, sizeof what, "ringside %s has no option %.60s that can be set here",
			s->section, s->name);
	else
		snprintf(what, sizeof what, "no option of all commands is called %.60s", s->name);
	if (strcmp(like, s->name) == 0)
		like = "";
	if (*like)
		snprintf(why, sizeof why, "(did you mean %s?)", like);
	return fail(r, s->line, what, why);
}

static int report_section(const struct reading *r, const struct config_setting *s)
{
	char what[120], why[60] = "";
	const struct command *like = command_find_like(s->section);
	snprintf(what, sizeof what, "there is no command %.60s", s->section);
	if (like)
		snprintf(why, sizeof why, "(did you mean [%.40s]?)", like->name);
	return fail(r, s->line, what, why);
}

/* Find the option that a setting sets. Returns 0 or the exit status. */
static int find_option(
	const struct reading *r, const struct config_setting *s, struct option_help *ret_option)
{
	const struct command *c = command_find(s->section);
	bool is_serve = strcmp(s->section, serve) == 0;
	if (*s->section && !c && !is_serve)
		return report_section(r, s);
	char *help = *s->section ? option_help_text(c, is_serve ? r->serve_help : NULL)
				 : strdup(common_help);
	if (!help)
		return fail(r, s->line, "", strerror(ENOMEM));
	struct match m = {.name = s->name, .distance = EDIT_DISTANCE_FAR};
	option_help_each(help, match_name, &m);
	free(help);
	if (!m.found.name[0] || strcmp(s->name, "help") == 0 || strcmp(s->name, "version") == 0)
		return report_name(r, s, m.like);
	*ret_option = m.found;
	return 0;
}

static bool is_path(const struct option_help *o)
{
	return strcmp(o->value, "FILE") == 0 || strcmp(o->value, "PATH") == 0 ||
		strcmp(o->value, "DIR") == 0;
}

/* Turn a setting into a word of a command line; owned; NULL for a flag that is set to no. */
static int make_word(const struct reading *r, const struct config_setting *s, char **ret_word)
{
	struct option_help o = {.name = ""};
	bool on = true;
	const char *home = getenv("HOME");
	*ret_word = NULL;
	int rc = find_option(r, s, &o);
	if (rc != 0)
		return rc;
	bool is_flag = !o.value[0] && !o.optional;
	if (is_flag && s->value && !is_flag_word(s->value, &on))
		return fail(r, s->line, s->name, "must be yes or no");
	if (o.value[0] && !s->value)
		return fail(r, s->line, s->name, "needs a value: NAME = VALUE");
	if (!on)
		return 0;
	bool tilde = is_path(&o) && home && s->value && strncmp(s->value, "~/", 2) == 0;
	int n = !s->value || is_flag ? asprintf(ret_word, "--%s", s->name)
				     : asprintf(ret_word, "--%s=%s%s", s->name, tilde ? home : "",
					       s->value + (tilde ? 1 : 0));
	return n < 0 ? fail(r, s->line, "", strerror(ENOMEM)) : 0;
}

/* Whether a command line has an option, as --NAME or --NAME=VALUE. */
static bool is_given(char *const *words, const char *option)
{
	size_t length = strcspn(option, "=");
	for (; *words; words++)
		if (strncmp(*words, option, length) == 0 &&
			((*words)[length] == '\0' || (*words)[length] == '='))
			return true;
	return false;
}

/* Whether the command line or $RINGSIDE_TOKEN overrides a setting of `serve`. */
static bool is_overridden(const char *word, char *const *given)
{
	const char *token = getenv("RINGSIDE_TOKEN");
	return is_given(given, word) || (token && *token && strncmp(word, "--token-file=", 13) == 0);
}

static void set_server(struct cli_server *server, const char *word, const char *name)
{
	const char *equals = strchr(word, '='), *value = equals ? equals + 1 : NULL;
	if (strcmp(name, "socket") == 0)
		server->socket = value;
	else if (strcmp(name, "url") == 0)
		server->url = value;
	else if (strcmp(name, "token-file") == 0)
		server->token_file = value;
	else
		server->no_start = true;
}

/* Check all settings, and use those for this command. */
static int use(struct reading *r, char **argv, struct cli_server *server, char **words, int *count)
{
	bool is_serve = strcmp(argv[1], serve) == 0;
	for (size_t i = 0; i < r->text.count; i++) {
		const struct config_setting *s = &r->text.settings[i];
		char *word;
		int rc = make_word(r, s, &word);
		if (rc != 0)
			return rc;
		r->kept[i] = word;
		server->listens |= word && strcmp(s->section, serve) == 0 &&
			strcmp(s->name, "listen") == 0;
		if (word && !*s->section)
			set_server(server, word, s->name);
		else if (word && strcmp(s->section, argv[1]) == 0 &&
			!(is_serve && is_overridden(word, argv + 2)))
			words[(*count)++] = word;
	}
	return 0;
}

/* Whether a command must work with a broken file, because it explains how to write it. */
static bool ignores_config(const char *command, char *const *words)
{
	return strcmp(command, "help") == 0 || strcmp(command, "version") == 0 ||
		(words[0] && strcmp(words[0], "--help") == 0);
}

int config_apply(
	int *argc, char ***argv, void (*serve_help)(FILE *out), struct cli_server *ret_server)
{
	static char path[PATH_MAX];
	static char *words[CONFIG_SETTINGS_MAX + 2];
	static struct reading r;
	const struct command *c = command_find((*argv)[1]);
	bool named;
	int count = 0;
	*ret_server = (struct cli_server){0};
	find_path(path, &named);
	if (!*path || ignores_config((*argv)[1], *argv + 2))
		return 0;
	r.path = path;
	r.serve_help = serve_help;
	r.status = c && c->passes ? CLI_FAILED : CLI_USAGE;
	int rc = load(&r, named);
	words[count++] = (*argv)[0];
	words[count++] = (*argv)[1];
	if (rc == 0)
		rc = use(&r, *argv, ret_server, words, &count);
	if (rc == 0 && ret_server->url && ret_server->socket)
		rc = fail(&r, 0, "", "names a server twice: by url and by socket");
	free(r.bytes);
	if (rc != 0 || count == 2)
		return rc;
	char **line = calloc((size_t)*argc + (size_t)count, sizeof *line);
	if (!line)
		return fail(&r, 0, "", strerror(ENOMEM));
	memcpy(line, words, (size_t)count * sizeof *line);
	memcpy(line + count, *argv + 2, (size_t)(*argc - 2) * sizeof *line);
	*argc += count - 2;
	*argv = line;
	r.line = line;
	return 0;
}
