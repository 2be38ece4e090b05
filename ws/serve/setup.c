/* Finds it step by step; the first error ends the program, so nothing is undone. */
#include "ws/serve/setup.h"

#include "ring/utf8.h"
#include "shell/environment.h"
#include "shell/words.h"
#include "ws/auth/auth.h"
#include "ws/net/local_socket.h"
#include "ws/net/server.h"
#include "ws/serve/fail.h"
#include "ws/serve/resources.h"
#include "ws/serve/trial.h"
#include "ws/serve/webhooks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

/* Choose the variables that shells inherit. */
static int find_environment(const struct serve_options *o, struct setup *p)
{
	p->environment = environment_inherit(environ, o->environment.items, o->environment.count);
	return p->environment ? 0 : serve_fail("memory", strerror(ENOMEM));
}

/* Choose a default directory that sandboxes contain. */
static int move_inside(const struct serve_options *o, struct setup *p)
{
	const char *start = isolation_default_directory(p->isolation, p->workspace);
	if (start != p->workspace && o->workspace)
		return serve_fail("--workspace", "is not in the sandbox: add --bind or --ro-bind");
	snprintf(p->cwd, sizeof p->cwd, "%s", start);
	return 0;
}

int setup_find(struct serve_options *options, struct setup *p)
{
	p->bounds.holder = p->holder;
	if (resources_find_user(options, &p->user, &p->bounds) < 0 ||
		resources_runtime_dir(options->runtime_dir, p->runtime_dir) < 0 ||
		resources_holder(p->holder) < 0 ||
		resources_admit_user(p->runtime_dir, &p->bounds) < 0 ||
		find_environment(options, p) < 0)
		return -1;
	(void)snprintf(p->socket, sizeof p->socket, "%s/" LOCAL_SOCKET_NAME, p->runtime_dir);
	if (!utf8_is_valid_string(p->runtime_dir))
		return serve_fail("runtime directory", "its name must be UTF-8");
	if (resources_workspace(options, p->runtime_dir, &p->bounds, p->workspace) < 0)
		return -1;
	snprintf(p->cwd, sizeof p->cwd, "%s", p->workspace);
	if (resources_isolation(options, p->runtime_dir, &p->bounds, &p->isolation) < 0)
		return -1;
	p->bounds.isolation = p->isolation;
	return p->isolation ? move_inside(options, p) : 0;
}

void setup_finish(struct setup *p)
{
	words_free(p->environment);
	isolation_close(p->isolation);
	user_finish(&p->user);
}

static int check_token(const struct serve_options *o)
{
	const char *file = o->token_file ? o->token_file : resources_token_file();
	int rc = file ? auth_check_token_file(file) : 0;
	if (rc == -EINVAL)
		return serve_fail("token", "must have 16 to 512 visible ASCII characters");
	return rc < 0 ? serve_fail("token", strerror(-rc)) : 0;
}

static int check_server(const struct serve_options *o)
{
	const struct auth auth = {.open = o->no_auth};
	const struct server_options options = {.auth = (struct auth *)(uintptr_t)&auth,
		.hosts = o->hosts.items,
		.hosts_count = o->hosts.count,
		.origins = o->origins.items,
		.origins_count = o->origins.count,
		.tls_cert = o->tls_cert,
		.tls_key = o->tls_key};
	return server_check(&options);
}

int setup_check(struct serve_options *options, const char *version)
{
	static struct setup p;
	if (setup_find(options, &p) < 0 || check_token(options) < 0 || check_server(options) < 0 ||
		webhooks_check(options) < 0)
		return 1;
	setup_finish(&p);
	printf("ringside %s: " TRIAL_READY "\n", version);
	return fflush(stdout) == 0 ? 0 : 1;
}
