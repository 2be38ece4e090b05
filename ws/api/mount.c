/*
 * Buckets as directories: POST /api/mounts, with an action. How the program of it has ended is the answer, also where that has failed.
 * A client that goes away takes its action with it, but a mount goes on.
 */
#include "shell/mount/mount.h"
#include "shell/memory_stream.h"
#include "ws/api/api.h"
#include "ws/api/json/run.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/read/workspace.h"
#include "ws/api/rows.h"
#include "ws/error.h"
#include "ws/log.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 64u
#define OPTION_BYTES_MAX 4096u /* of each */
#define SOURCE_MAX 1024u       /* bytes */

struct call {
	struct request *request; /* a reference of ours */
	struct run *run;
	struct quota_place place;
	char *path; /* owned */
	const char *action;
};

/* What is asked for, in the request's body and beside it. */
struct wanted {
	struct mount_options options;
	char path[BODY_PATH_MAX];
	char *lines; /* owned */
};

static void call_free(struct call *c)
{
	quota_give(&c->place);
	request_unref(c->request);
	free(c->path);
	free(c);
}

static void write_log(const struct call *c, const struct run_result *result)
{
	char code[16];
	snprintf(code, sizeof code, "%d", run_exit_code(result));
	log_write(LOG_INFO, "mount", "done", "peer", c->request->peer, "principal",
		typist_author(c->request), "action", c->action, "path", c->path, "end",
		run_end_name(result), "exit", code, NULL);
}

/* What is no question, and no mount, has failed as other changes of files do. */
static void fail(const struct call *c, const struct run_result *result, int code)
{
	char *said = run_output_text(&result->output[RUN_STDERR]);
	reply_error(c->request, "FILESYSTEM_ERROR", "The mode of the file cannot be changed",
		json_pack("{s:s, s:s, s:i, s:o}", "path", c->path, "operation", "file.protect",
			"exitCode", code, "stderr", text_string_json(said ? said : "")));
	free(said);
}

static void on_done(void *user, const struct run_result *result)
{
	struct call *c = user;
	int code = run_exit_code(result);
	c->request->gone = NULL;
	write_log(c, result);
	if (!c->request->done && code != 0 && strcmp(c->action, "protect") == 0) {
		fail(c, result, code);
	} else if (!c->request->done) {
		json_t *body = json_pack("{s:b, s:i}", "success", code == 0, "exitCode", code);
		if (run_output_json(body, result, false)) {
			reply_success(c->request, body);
		} else {
			json_decref(body);
			refuse_memory(c->request);
		}
	}
	call_free(c);
}

static void on_gone(void *user)
{
	struct call *c = user;
	/* A mount goes on: what ends its run would end, with a control group, the program behind the mount as well. */
	if (strcmp(c->action, "mount") != 0)
		run_cancel(c->run, MOUNT_GRACE_MS);
}

static const struct run_callbacks run_callbacks = {.done = on_done};

static void start(struct api *a, struct request *r, const struct wanted *w)
{
	if (refuse_if_draining(r, a->sessions))
		return;
	struct call *c = calloc(1, sizeof *c);
	char *path = strdup(w->path);
	if (!c || !path) {
		free(c);
		free(path);
		refuse_memory(r);
		return;
	}
	*c = (struct call){.request = request_ref(r), .path = path, .action = w->options.action};
	if (!access_take(a->access, r, QUOTA_FORKS, &c->place)) {
		call_free(c);
		return;
	}
	int rc = mount_start(a->runs, &w->options, &run_callbacks, c, &c->run);
	if (rc < 0) {
		call_free(c);
		refuse_run(r, "The mount", rc);
		return;
	}
	r->gone = on_gone;
	r->gone_user = c;
}

/* The request */

/* Whether it is a line, and no more than that. */
static bool is_line(const char *text, size_t max)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return length > 0 && length <= max;
}

static bool is_option_name(const char *name)
{
	return *name && *name != '-' &&
		name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] ==
		'\0';
}

/* "name=value"; a comma would begin another one. */
static void write_option(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s%s", name, value ? "=" : "");
	for (const char *c = value; c && *c; c++) {
		if (*c == ',' || *c == '\\')
			fputc('\\', out);
		fputc(*c, out);
	}
	fputc('\n', out);
}

/* One option: text, or true. Returns whether it is one. */
static bool take_option(struct wanted *w, FILE *out, const char *name, const json_t *value)
{
	const char *text = json_string_value(value);
	if (!is_option_name(name) || (!text && !json_is_true(value) && !json_is_false(value)) ||
		(text &&
			(strlen(text) != json_string_length(value) ||
				!is_line(text, OPTION_BYTES_MAX))))
		return false;
	if (json_is_false(value))
		return true;
	if (text && strcmp(name, "logfile") == 0)
		w->options.log = text;
	write_option(out, name, text);
	return true;
}

static bool take_options(struct request *r, const json_t *body, struct wanted *w)
{
	const json_t *options = json_object_get(body, "options");
	const char *name;
	json_t *value;
	size_t length;
	if (!options || json_is_null(options))
		return true;
	bool good = json_is_object(options) && json_object_size(options) <= OPTIONS_MAX;
	FILE *out = memory_stream(&w->lines, &length);
	json_object_foreach ((json_t *)options, name, value)
		good = good && out && take_option(w, out, name, value);
	bool written = out && !ferror(out);
	if (out && fclose(out) != 0)
		written = false;
	w->options.options = w->lines;
	if (!good && written)
		reply_invalid(r, "options",
			"Must be an object of at most 64 options: names, and text without control characters, true or "
			"false",
			"invalid");
	else if (!written)
		refuse_memory(r);
	return good && written;
}

static bool take_mount(struct request *r, const json_t *body, struct wanted *w)
{
	w->options.verify = true;
	if (!body_text(r, body, "source", &w->options.source) ||
		!body_flag(r, body, "verify", &w->options.verify))
		return false;
	if (!w->options.source || *w->options.source == '-' ||
		!is_line(w->options.source, SOURCE_MAX)) {
		reply_invalid(r, "source", "Must be the name of a bucket", "invalid");
		return false;
	}
	return take_options(r, body, w);
}

static bool take_action(struct request *r, const json_t *body, struct wanted *w)
{
	static const char *const actions[] = {"mount", "check", "unmount", "remove", "protect"};
	const char *action;
	if (!body_text(r, body, "action", &action))
		return false;
	for (size_t i = 0; action && i < sizeof actions / sizeof *actions; i++)
		if (strcmp(action, actions[i]) == 0)
			w->options.action = actions[i];
	if (!w->options.action)
		reply_invalid(
			r, "action", "Must be mount, check, unmount, remove or protect", "invalid");
	return w->options.action != NULL;
}

static bool take(const struct api *a, struct request *r, const json_t *body, struct wanted *w)
{
	const char *path;
	if (!take_action(r, body, w) || !body_text(r, body, "path", &path) ||
		!body_flag(r, body, "only", &w->options.only))
		return false;
	if (!path || !workspace_place_strict(a->workspace, path, w->path) ||
		strcmp(w->path, "/") == 0) {
		reply_invalid(r, "path", "Must be an absolute path without \"..\"", "INVALID_PATH");
		return false;
	}
	w->options.path = w->path;
	w->options.cwd = a->sessions->config.cwd;
	return strcmp(w->options.action, "mount") != 0 || take_mount(r, body, w);
}

static void mounts(struct request *r)
{
	struct api *a = api_of(r);
	struct wanted *w = calloc(1, sizeof *w);
	if (!w) {
		refuse_memory(r);
		return;
	}
	json_t *body = body_read(r);
	if (body && take(a, r, body, w))
		start(a, r, w);
	json_decref(body);
	free(w->lines);
	free(w);
}

const struct route_row api_mount_rows[] = {
	{METHOD_POST, "/api/mounts", WHO_OWNER, .plain = mounts},
	{.path = NULL},
};
