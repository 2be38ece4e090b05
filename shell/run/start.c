/* Starting a run: its environment, its script, its process. */
#include "pty/throwaway.h"
#include "shell/bounds.h"
#include "shell/clock.h"
#include "shell/environment.h"
#include "shell/id.h"
#include "shell/own_error.h"
#include "shell/preamble.h"
#include "shell/run/internal.h"
#include "shell/store/directory.h"
#include "shell/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define OWN_VARIABLES 3

/* Whether bash accepts this path as PWD, with its symbolic links. */
static bool is_canonical(const char *path)
{
	return !strstr(path, "/./") && !strstr(path, "/../") && !strstr(path, "//") &&
		(strlen(path) < 2 || strcmp(path + strlen(path) - 2, "/.") != 0) &&
		(strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0);
}

/* The environment: inherited, PWD, no pagers on terminals, and the variables of the request. */
static char **make_environment(const struct runs *all, const struct run_options *o)
{
	size_t n = 0;
	const char **names = calloc(2 * (o->env_count + OWN_VARIABLES), sizeof *names);
	if (!names)
		return NULL;
	const char **values = names + o->env_count + OWN_VARIABLES;
	if (is_canonical(o->cwd)) {
		names[n] = "PWD";
		values[n++] = o->cwd;
	}
	if (o->terminals) {
		/* A pager would wait for keys that never come. */
		names[n] = "PAGER";
		values[n++] = "cat";
		names[n] = "GIT_PAGER";
		values[n++] = "cat";
	}
	for (size_t i = 0; i < o->env_count; i++) {
		names[n] = o->env_names[i];
		values[n++] = o->env_values[i];
	}
	char **environment = environment_create(all->config.environment, names, values, n);
	free(names);
	return bounds_hide_environment(environment);
}

/* The preamble, then the command: aliases apply only to lines below their definition. */
static char *make_script(const struct run_options *o, size_t *ret_length)
{
	const struct preamble parts = {.text = o->preamble,
		.length = o->preamble_length,
		.env_names = o->env_names,
		.env_values = o->env_values,
		.env_count = o->env_count};
	size_t length;
	char *preamble = preamble_text(&parts, &length);
	char *script = preamble ? realloc(preamble, length + o->command_length + 1) : NULL;
	if (!script) {
		free(preamble);
		return NULL;
	}
	memcpy(script + length, o->command, o->command_length);
	*ret_length = length + o->command_length;
	script[*ret_length] = '\0';
	return script;
}

static int start_child(struct runs *all, const struct run_options *o, const char *mark,
	struct throwaway *ret_child)
{
	size_t length = o->command_length;
	char *script = NULL, **environment = make_environment(all, o);
	if (!environment || (o->preamble && !(script = make_script(o, &length)))) {
		words_free(environment);
		return -ENOMEM;
	}
	char group[RUN_GROUP_SIZE];
	struct bounded bounded;
	int rc = bounds_command(all->config.bounds, run_group(mark, group), o->cwd, &bounded);
	if (rc < 0) {
		words_free(environment);
		free(script);
		return rc;
	}
	struct throwaway_options options = {
		.wrapper = bounded.wrapper,
		.filter_fd = bounded.filter_fd,
		.group_fd = bounded.group_fd,
		.tasks = all->config.bounds->tasks,
		.memory = all->config.bounds->memory,
		.owner = bounded.owner,
		.holder = all->config.holder,
		.spares = o->spares,
		.input_fd = o->input_fd,
		.bash = all->bash,
		.command = script ? script : o->command,
		.command_length = length,
		.secret = script != NULL,
		.cwd = o->cwd,
		.envp = environment,
		.input = o->input,
		.input_length = o->input_length,
		.terminals = o->terminals,
		.rows = o->rows,
		.cols = o->cols,
		.nofile = all->config.nofile,
	};
	rc = throwaway_start(&options, ret_child);
	bounds_release(&bounded);
	if (rc < 0)
		bounds_release_group(all->config.bounds, group, true);
	words_free(environment);
	free(script);
	if (rc == -ENOSPC && o->terminals)
		rc = -ERR_NO_TERMINAL;
	if (rc == -ENOENT || rc == -EACCES || rc == -ENOTDIR) {
		/* Either the directory was removed meanwhile, or there is no bash. */
		int again = directory_check(o->cwd);
		rc = again < 0 ? again : -ERR_NOT_INSTALLED;
	}
	return rc;
}

int run_start(struct runs *all, const struct run_options *o, const struct run_callbacks *callbacks,
	void *user, struct run **ret_run)
{
	struct throwaway child;
	if (o->command_length == 0 || o->command_length > RUN_COMMAND_MAX ||
		memchr(o->command, '\0', o->command_length))
		return -EINVAL;
	int rc = directory_check_cached(&o->found, o->cwd);
	if (rc < 0)
		return rc;
	if (all->count >= RUNS_MAX)
		return -ERR_LIMIT;
	struct run *r = calloc(1, sizeof *r);
	if (!r)
		return -ENOMEM;
	rc = id_hex(r->mark, sizeof r->mark);
	if (rc < 0) {
		free(r);
		return rc;
	}
	r->started_ms = clock_wall_ms();
	r->started_ns = uv_hrtime();
	rc = start_child(all, o, r->mark, &child);
	if (rc < 0) {
		free(r);
		return rc;
	}
	r->all = all;
	r->callbacks = *callbacks;
	r->user = user;
	r->terminals = o->terminals;
	r->whole = o->whole;
	for (unsigned i = 0; i < RUN_STREAMS; i++)
		excerpt_init(&r->streams[i].kept,
			o->output_max < RUN_OUTPUT_MAX ? o->output_max : RUN_OUTPUT_MAX);
	run_watch_child(r, &child, o->timeout_ms);
	DL_APPEND(all->list, r);
	all->count++;
	*ret_run = r;
	if (r->callbacks.started)
		r->callbacks.started(user, child.pid);
	return 0;
}
