/* See clone.h. The command is a bash script, in which every word from the client is quoted. */
#include "shell/git/clone.h"
#include "shell/memory_stream.h"
#include "shell/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Variables that stop git from prompting; and the user name and password, which other users must
 * not see (they can see arguments, but not the environment).
 */
static const char *const names[] = {"GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS",
	"SSH_ASKPASS_REQUIRE", "GCM_INTERACTIVE", "GIT_ALLOW_PROTOCOL", "LC_ALL",
	"RINGSIDE_GIT_USER", "RINGSIDE_GIT_PASSWORD", "RINGSIDE_GIT_URL", "RINGSIDE_GIT_PLAIN"};
#define PLAIN_NAMES 7u
#define NAMES (sizeof names / sizeof *names)

/*
 * A credential helper (gitcredentials(7)): a shell function that prints the variables. As a server
 * may redirect git, it answers only for the URL's host and protocol, or for that host over https.
 */
#define HELPER                                                                                      \
	" -c credential.helper= -c credential.helper='!f() { test \"$1\" = get || exit 0; "         \
	"url=$RINGSIDE_GIT_PLAIN same= safe= host=${url#*://}; host=${host%%[/?#]*}; "              \
	"while read -r line; do case $line in host=*) test \"${line#*=}\" = \"$host\" && same=1;; " \
	"protocol=https) safe=1;; protocol=*) test \"${line#*=}\" = \"${url%%://*}\" && safe=1;; "  \
	"esac; done; test \"$same$safe\" = 11 && "                                                  \
	"printf \"username=%s\\npassword=%s\\n\" \"$RINGSIDE_GIT_USER\" \"$RINGSIDE_GIT_PASSWORD\"; }; f'"

/* Store the URL with credentials as the clone's origin, in bash itself: not in an argument. */
#define KEEP_URL                                                                                 \
	"case $RINGSIDE_GIT_URL in *[\\\\\\\"\\;\\#]*) ;; *)\n"                                  \
	"config=$target/.git/config\n"                                                           \
	"[[ -f $config ]] && text=$(<\"$config\") &&\n"                                          \
	"printf '%s\\n' \"${text/\"url = $plain\"/\"url = $RINGSIDE_GIT_URL\"}\" >\"$config\"\n" \
	"esac\n"

/* Returns owned; NULL if memory is short. */
static char *make_command(
	const struct clone_options *o, const struct git_login *login, size_t *ret_length)
{
	char *text = NULL;
	FILE *out = memory_stream(&text, ret_length);
	if (!out)
		return NULL;
	/* The user's own ssh command, if there is one, without prompts. */
	fputs("GIT_SSH_COMMAND=\"${GIT_SSH_COMMAND:-$(git config --get core.sshCommand || echo ssh)} -o BatchMode=yes\"\n"
	      "export GIT_SSH_COMMAND\n"
	      "git -c http.lowSpeedLimit=1024 -c http.lowSpeedTime=30",
		out);
	fprintf(out, "%s clone --filter=blob:none", login ? HELPER : "");
	if (o->progress)
		fputs(" --progress", out);
	if (o->branch) {
		fputs(" --branch=", out);
		quote_put(out, o->branch);
	}
	if (o->depth > 0)
		fprintf(out, " --depth=%" PRIu64, o->depth);
	fputs(" -- ", out);
	quote_put(out, login ? login->plain : o->url);
	fputc(' ', out);
	quote_put(out, o->target);
	fputs(" >&2 || exit\n", out);
	if (login) {
		fputs("target=", out);
		quote_put(out, o->target);
		fputs(" plain=", out);
		quote_put(out, login->plain);
		fputs("\n" KEEP_URL, out);
	}
	fputs("git -C ", out);
	quote_put(out, o->target);
	fputs(" branch --show-current || :\n", out);
	fclose(out);
	return text;
}

int clone_start(struct runs *all, const struct clone_options *o,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run)
{
	size_t length;
	struct git_login *login = malloc(sizeof *login);
	bool has_login = login && git_url_login(o->url, login);
	char *command = login ? make_command(o, has_login ? login : NULL, &length) : NULL;
	if (!command) {
		free(login);
		return -ENOMEM;
	}
	const char *const values[NAMES] = {"0", "", "", "never", "never", GIT_PROTOCOLS, "C",
		login->user, login->password, o->url, login->plain};
	const struct run_options run = {.command = command,
		.command_length = length,
		.cwd = o->cwd,
		.env_names = names,
		.env_values = values,
		.env_count = has_login ? NAMES : PLAIN_NAMES,
		.timeout_ms = o->timeout_ms,
		.output_max = CLONE_TEXT_MAX};
	int rc = run_start(all, &run, callbacks, user, ret_run);
	explicit_bzero(login, sizeof *login);
	free(login);
	free(command);
	return rc;
}

static bool contains_any(const char *output, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(output, *words))
			return true;
	return false;
}

/* As in the container protocol of the Cloudflare Sandbox, except for CLONE_NO_GIT. */
enum clone_end clone_classify(int code, const char *output)
{
	static const char *const not_allowed[] = {
		"permission denied", "access denied", "authentication", "credentials", NULL};
	static const char *const nowhere[] = {"not found", "does not exist", NULL};
	if (code == 0)
		return CLONE_DONE;
	if (code == RUN_TIMEOUT_CODE)
		return CLONE_NETWORK;
	if (code == 127)
		return CLONE_NO_GIT;
	if (code == 128)
		return strcasestr(output, "repository not found") ? CLONE_NO_REPOSITORY
								  : CLONE_REFUSED;
	if (contains_any(output, not_allowed))
		return CLONE_NOT_ALLOWED;
	if (contains_any(output, nowhere))
		return CLONE_NO_REPOSITORY;
	if (strcasestr(output, "already exists"))
		return CLONE_FAILED;
	return strcasestr(output, "pathspec") ? CLONE_NO_BRANCH : CLONE_FAILED;
}
