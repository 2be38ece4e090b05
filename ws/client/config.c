/*
 * The file is read whole, taken apart, and each of its settings is held against the help of its command before any is used, so
 * that a mistake shows the first time. It may choose a server, to which everything is told that is typed: so nobody else may have
 * written it. What is before the first section is of the server, the rest becomes words of the command line: a later word wins
 * over an earlier one, except where options add up (serve), of which those are left out that are given.
 */
#include "ws/client/config.h"

#include "ws/client/command.h"
#include "ws/client/config/option_help.h"
#include "ws/client/likeness.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char serve[] = "serve";

/* What is meant for all commands. */
static const char everybody[] =
	"  --socket PATH  \n  --url URL  \n  --token-file FILE  \n  --no-start  \n";

struct reading {
	const char *path;
	int status; /* to end with when it is wrong */
	void (*serve_help)(FILE *out);
	struct config_text text;
	char *bytes;          /* that text points into */
	char **volatile line; /* what is returned: it is used for as long as we live */
	char *volatile kept[CONFIG_SETTINGS_MAX]; /* words: what is returned points into them */
};

static int fail(const struct reading *r, unsigned line, const char *what, const char *why)
{
	fprintf(stderr, "ringside: %s", r->path);
	if (line > 0)
		fprintf(stderr, ":%u", line);
	fprintf(stderr, ": %s%s%s\n", what, *what && *why ? " " : "", why);
	return r->status;
}

/* The file */

void config_path(char path[PATH_MAX], bool *ret_named)
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

/* Whether nobody else may have written it, or put another one in its place. */
static int check_owner(const struct reading *r, int fd)
{
	struct stat st;
	char copy[PATH_MAX];
	if (fstat(fd, &st) < 0)
		return fail(r, 0, "", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(r, 0, "", "is no file");
	if (!is_mine(&st))
		return fail(r, 0, "",
			"belongs to somebody else, who could choose the server that is talked to "
			"(RINGSIDE_CONFIG= leaves it out)");
	if (st.st_mode & 022)
		return fail(r, 0, "",
			"may be written by others, who could choose the server that is talked to: chmod go-w");
	snprintf(copy, sizeof copy, "%s", r->path);
	if (stat(dirname(copy), &st) < 0 || !is_mine(&st) ||
		((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
		return fail(r, 0, "",
			"is in a directory where others may put another in its place: chmod go-w");
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

/* What may be set */

struct match {
	const char *name;
	struct option_help found; /* name "": none is */
	char like[OPTION_HELP_MAX];
	unsigned distance;
};

static void match_name(void *user, const struct option_help *o)
{
	struct match *m = user;
	const char *name = o->name + strlen("--");
	unsigned distance = likeness_distance(m->name, name);
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

static int complain_name(const struct reading *r, const struct config_setting *s, const char *like)
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

static int complain_section(const struct reading *r, const struct config_setting *s)
{
	char what[120], why[60] = "";
	const struct command *like = command_find_like(s->section);
	snprintf(what, sizeof what, "there is no command %.60s", s->section);
	if (like)
		snprintf(why, sizeof why, "(did you mean [%.40s]?)", like->name);
	return fail(r, s->line, what, why);
}

/* The option that a setting is of. Returns 0, or the status to end with. */
static int find_option(
	const struct reading *r, const struct config_setting *s, struct option_help *ret_option)
{
	const struct command *c = command_find(s->section);
	bool is_serve = strcmp(s->section, serve) == 0;
	if (*s->section && !c && !is_serve)
		return complain_section(r, s);
	char *help = *s->section ? option_help_text(c, is_serve ? r->serve_help : NULL)
				 : strdup(everybody);
	if (!help)
		return fail(r, s->line, "", strerror(ENOMEM));
	struct match m = {.name = s->name, .distance = LIKENESS_FAR};
	option_help_each(help, match_name, &m);
	free(help);
	if (!m.found.name[0] || strcmp(s->name, "help") == 0 || strcmp(s->name, "version") == 0)
		return complain_name(r, s, m.like);
	*ret_option = m.found;
	return 0;
}

static bool is_path(const struct option_help *o)
{
	return strcmp(o->value, "FILE") == 0 || strcmp(o->value, "PATH") == 0 ||
		strcmp(o->value, "DIR") == 0;
}

/* A setting as a word of a command line, owned, or NULL: it says no. */
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
		return fail(r, s->line, s->name, "is yes or no");
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

/* Using it */

/* Whether an option is on a command line, with its value or before it. */
static bool is_given(char *const *words, const char *option)
{
	size_t length = strcspn(option, "=");
	for (; *words; words++)
		if (strncmp(*words, option, length) == 0 &&
			((*words)[length] == '\0' || (*words)[length] == '='))
			return true;
	return false;
}

/* The environment has the server's token, which wins. */
static bool is_overridden(const char *word, char *const *given)
{
	const char *token = getenv("RINGSIDE_TOKEN");
	return is_given(given, word) || (token && *token && strncmp(word, "--token-file=", 13) == 0);
}

static void take_server(struct cli_server *server, const char *word, const char *name)
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

/* Each setting is looked at, and those that are for this command are used. */
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
			take_server(server, word, s->name);
		else if (word && strcmp(s->section, argv[1]) == 0 &&
			!(is_serve && is_overridden(word, argv + 2)))
			words[(*count)++] = word;
	}
	return 0;
}

/* Whether a command is of no use when the file is wrong, or says what would be. */
static bool is_helpful(const char *command, char *const *words)
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
	config_path(path, &named);
	if (!*path || is_helpful((*argv)[1], *argv + 2))
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
	/* The rest is as long as it is. */
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
