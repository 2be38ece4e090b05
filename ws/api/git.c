/*
 * POST /api/git/checkout clones a repository. A relative target is relative to the directory of the session that the
 * request names. The answer is one reply, or, if the client accepts events, a stream with git's progress. The clone is
 * cancelled if its client disconnects.
 */
#include "shell/clock.h"
#include "shell/git/clone.h"
#include "ws/api/api.h"
#include "ws/json/session.h"
#include "ws/json/run.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/read/workspace.h"
#include "ws/api/rows.h"
#include "ws/log.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_DEFAULT_MS 600000u
#define TIMEOUT_MAX_MS (UINT64_C(24) * 3600 * 1000)
#define DEPTH_MAX INT32_MAX
#define LINE_MAX_BYTES 512u /* of a progress line */

struct checkout {
	struct api *api;
	struct request *request; /* our reference */
	struct run *run;         /* NULL once it is over */
	struct quota_place place;
	char *url;    /* masked; owned */
	char *branch; /* requested, or NULL; owned */
	char *target; /* owned */
	bool stream, begun, complete;
	char line[LINE_MAX_BYTES + 1]; /* incomplete line of git's output */
	size_t line_length;
	char progress[LINE_MAX_BYTES + 1]; /* last complete line that was not sent; "" = none */
	json_t *end;                       /* the last event */
};

static void checkout_free(struct checkout *c)
{
	quota_release(&c->place);
	json_decref(c->end);
	free(c->url);
	free(c->branch);
	free(c->target);
	request_unref(c->request);
	free(c);
}

static json_t *event(const char *type)
{
	return json_pack("{s:s, s:o}", "type", type, "timestamp", time_json(clock_wall_ms()));
}

/* The result */

static const struct {
	const char *code, *message;
} ends[] = {
	[CLONE_NETWORK] = {"GIT_NETWORK_ERROR", "The repository could not be cloned in time"},
	[CLONE_NO_REPOSITORY] = {"GIT_REPOSITORY_NOT_FOUND", "There is no such repository"},
	[CLONE_NO_BRANCH] = {"GIT_BRANCH_NOT_FOUND", "There is no such branch"},
	[CLONE_NOT_ALLOWED] = {"GIT_AUTH_FAILED", "This server has no access to the repository"},
	[CLONE_REFUSED] = {"GIT_OPERATION_FAILED", "git failed"},
	[CLONE_NO_GIT] = {"GIT_OPERATION_FAILED", "git is not installed"},
	[CLONE_FAILED] = {"GIT_CLONE_FAILED", "The repository could not be cloned"},
};

/* The output with credentials masked. Returns owned; NULL: memory is short. */
static char *printed(const struct excerpt_parts *parts)
{
	char *text = run_output_text(parts);
	if (text)
		git_mask(text);
	return text;
}

/* The last line of text that is not empty. */
static const char *last_line(const char *text)
{
	const char *line = text;
	for (const char *p = text; *p; p++)
		if ((*p == '\n' || *p == '\r') && p[1] && p[1] != '\n' && p[1] != '\r')
			line = p + 1;
	return line;
}

static void conclude_error(struct checkout *c, enum clone_end end, int code, const char *output)
{
	char message[1024];
	const char *line = last_line(output);
	snprintf(message, sizeof message, "%s%s%s", ends[end].message, *line ? ": " : "", line);
	json_t *context = json_pack("{s:s, s:s, s:i, s:o}", "repository", c->url, "targetDir",
		c->target, "exitCode", code, "stderr", text_string_json(output));
	if (!c->stream) {
		/* message may be cut within a character. */
		json_t *text = text_string_json(message);
		reply_error(c->request, ends[end].code,
			text ? json_string_value(text) : ends[end].message, context);
		json_decref(text);
		return;
	}
	c->end = event("error");
	json_object_set_new(c->end, "error", text_string_json(message));
	json_object_set_new(c->end, "code", json_string(ends[end].code));
	json_object_set_new(c->end, "context", context);
}

static void conclude_success(struct checkout *c, const char *branch)
{
	const char *name = *branch ? branch : c->branch ? c->branch : "unknown";
	json_t *body = json_pack("{s:s, s:o, s:s}", "repoUrl", c->url, "branch",
		text_string_json(name), "targetDir", c->target);
	if (!c->stream) {
		reply_success(c->request, body);
		return;
	}
	c->end = event("complete");
	json_object_update(c->end, body);
	json_object_set_new(c->end, "success", json_true());
	json_decref(body);
}

static void write_log(const struct checkout *c, const struct run_result *result)
{
	char code[16];
	snprintf(code, sizeof code, "%d", run_exit_code(result));
	log_write(LOG_INFO, "git", "done", "peer", c->request->peer, "principal",
		typist_author(c->request), "repository", c->url, "target", c->target, "end",
		run_end_name(result), "exit", code, NULL);
}

static void conclude(struct checkout *c, const struct run_result *result)
{
	char *output = printed(&result->output[RUN_STDERR]);
	char *branch = printed(&result->output[RUN_STDOUT]);
	int code = run_exit_code(result);
	enum clone_end end = clone_classify(code, output ? output : "");
	if (end == CLONE_DONE)
		conclude_success(c, branch ? branch : "");
	else
		conclude_error(c, end, code, output ? output : "");
	free(branch);
	free(output);
}

/* The stream */

static char *next_event(void *user)
{
	struct checkout *c = user;
	json_t *e = NULL;
	if (!c->begun) {
		e = event("start");
		json_object_set_new(e, "repoUrl", json_string(c->url));
		json_object_set_new(e, "targetDir", json_string(c->target));
		c->begun = true;
	} else if (c->progress[0]) {
		e = event("progress");
		json_object_set_new(e, "message", text_string_json(c->progress));
		c->progress[0] = '\0';
	} else if (c->end) {
		e = c->end;
		c->end = NULL;
		c->complete = true;
	}
	char *text = e ? json_dumps(e, JSON_COMPACT) : NULL;
	json_decref(e);
	return text;
}

static void on_closed(void *user)
{
	struct checkout *c = user;
	c->stream = false;
	if (c->run)
		run_cancel(c->run, RUN_GRACE_MS);
	else
		checkout_free(c);
}

static void end_line(struct checkout *c)
{
	c->line[c->line_length] = '\0';
	c->line_length = 0;
	if (!c->line[0])
		return;
	git_mask(c->line);
	memcpy(c->progress, c->line, sizeof c->progress);
	reply_stream_more(c->request);
}

/* The run */

static void on_output(void *user, enum run_stream stream, const void *bytes, size_t length)
{
	struct checkout *c = user;
	const char *text = bytes;
	for (size_t i = 0; c->stream && stream == RUN_STDERR && i < length; i++) {
		if (text[i] == '\r' || text[i] == '\n')
			end_line(c);
		else if (c->line_length < LINE_MAX_BYTES && text[i] != '\0')
			c->line[c->line_length++] = text[i];
	}
}

static void on_done(void *user, const struct run_result *result)
{
	struct checkout *c = user;
	c->run = NULL;
	quota_release(&c->place);
	c->request->gone = NULL;
	write_log(c, result);
	if (c->stream || !c->request->done)
		conclude(c, result);
	if (c->stream)
		reply_stream_complete(c->request); /* may close it, and free c */
	else
		checkout_free(c);
}

static void on_gone(void *user)
{
	struct checkout *c = user;
	run_cancel(c->run, RUN_GRACE_MS);
}

static const struct run_callbacks run_callbacks = {.output = on_output, .done = on_done};

static struct checkout *create(struct api *a, struct request *r, const struct clone_options *o)
{
	struct checkout *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->api = a;
	c->request = request_ref(r);
	c->stream = o->progress;
	c->url = strdup(o->url);
	c->branch = o->branch ? strdup(o->branch) : NULL;
	c->target = strdup(o->target);
	if (c->url && c->target && !c->branch == !o->branch) {
		git_mask(c->url);
		return c;
	}
	checkout_free(c);
	return NULL;
}

static void start(struct api *a, struct request *r, const struct clone_options *o)
{
	struct checkout *c = create(a, r, o);
	if (!c) {
		refuse_memory(r);
		return;
	}
	if (!access_acquire(a->access, r, QUOTA_FORKS, &c->place)) {
		checkout_free(c);
		return;
	}
	int rc = clone_start(a->runs, o, &run_callbacks, c, &c->run);
	if (rc < 0) {
		checkout_free(c);
		refuse_run(r, "git", rc);
	} else if (c->stream) {
		reply_stream(r,
			&(struct event_stream){.next = next_event, .closed = on_closed, .user = c});
	} else {
		r->gone = on_gone;
		r->gone_user = c;
	}
}

/* The request */

static bool parse_url(struct request *r, const json_t *body, struct clone_options *o)
{
	const json_t *value = json_object_get(body, "repoUrl");
	const char *why = "The URL of a repository is required";
	o->url = json_string_value(value);
	if (o->url && strlen(o->url) != json_string_length(value))
		why = "The URL of a repository must not contain NUL";
	else if (o->url && git_url_is_valid(o->url, &why))
		return true;
	return reply_error(r, "INVALID_GIT_URL", why,
		json_pack("{s:[{s:s, s:s, s:s}]}", "validationErrors", "field", "repoUrl",
			"message", why, "code", "INVALID_GIT_URL"));
}

static bool parse_numbers(struct request *r, const json_t *body, struct clone_options *o)
{
	const json_t *timeout = json_object_get(body, "timeoutMs");
	json_int_t ms = json_integer_value(timeout);
	o->timeout_ms = TIMEOUT_DEFAULT_MS;
	if (timeout && !json_is_null(timeout)) {
		if (!json_is_integer(timeout) || ms < 1 || (uint64_t)ms > TIMEOUT_MAX_MS)
			return reply_invalid(r, "timeoutMs",
				"Must be a positive whole number of at most a day",
				"INVALID_TIMEOUT");
		o->timeout_ms = (uint64_t)ms;
	}
	return body_number(r, body, "depth", 1, DEPTH_MAX, &o->depth);
}

/*
 * The base of a relative target: the directory of the session's shell, or the workspace. Returns false if r has been
 * answered.
 */
static bool find_base(
	struct api *a, struct request *r, const json_t *body, char ret_base[BODY_PATH_MAX])
{
	const char *id, *hint;
	if (!body_text(r, body, "sessionId", &id) || !request_session(r, &hint))
		return false;
	if (!access_session(&r->principal, id ? id : hint, &id))
		return reply_error(r, "PERMISSION_DENIED", "The link is for another session", NULL);
	const struct session *s = id ? sessions_find(a->sessions, id) : NULL;
	ssize_t known = s ? session_directory(s, ret_base, BODY_PATH_MAX) : 0;
	if (known < 0)
		return refuse_shell_directory(r);
	if (known == 0 || ret_base[0] != '/')
		snprintf(ret_base, BODY_PATH_MAX, "%s", a->workspace);
	return true;
}

static bool parse_target(struct api *a, struct request *r, const json_t *body,
	struct clone_options *o, char ret_target[BODY_PATH_MAX])
{
	char base[BODY_PATH_MAX], joined[BODY_PATH_MAX], name[GIT_NAME_MAX + 1];
	const char *given;
	if (!body_text(r, body, "targetDir", &given) || !find_base(a, r, body, base))
		return false;
	if (!given && !git_url_name(o->url, name))
		return reply_invalid(r, "targetDir",
			"Required: the URL has no name for a directory", "required");
	if (given && !*given)
		return reply_invalid(r, "targetDir", "Must be a path", "INVALID_PATH");
	if (workspace_join(given ? base : a->workspace, given ? given : name, joined) &&
		workspace_resolve(a->alias, joined, ret_target)) {
		o->target = ret_target;
		return true;
	}
	return reply_invalid(r, "targetDir", "The path is too long", "INVALID_PATH");
}

static bool parse_branch(struct request *r, const json_t *body, struct clone_options *o)
{
	if (!body_text(r, body, "branch", &o->branch))
		return false;
	return !o->branch || git_branch_is_valid(o->branch) ||
		reply_invalid(r, "branch",
			"A branch is 1 to 255 bytes, has no control characters and does not begin with a dash",
			"invalid");
}

static void check_out(struct request *r)
{
	struct api *a = api_of(r);
	struct clone_options o = {.cwd = a->sessions->config.cwd, .progress = r->accepts_events};
	char target[BODY_PATH_MAX];
	json_t *body = body_read(r);
	if (body && parse_url(r, body, &o) && parse_branch(r, body, &o) &&
		parse_numbers(r, body, &o) && parse_target(a, r, body, &o, target))
		start(a, r, &o);
}

const struct route_row api_git_rows[] = {
	{METHOD_POST, "/api/git/checkout", ROUTE_OWNER_OR_TRUSTED, .plain = check_out},
	{.path = NULL},
};
