/* In the container's protocol, errors of POST /api/execute/code have the fields {error, code, details}. */
#include "ws/api/context/refuse.h"

#include "shell/own_error.h"
#include "ws/api/read/refuse.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool api_context_is_visible(const struct request *r, const struct context *c)
{
	const struct api_context *k = context_user(c);
	return auth_may_see(&r->principal, k->session, k->epoch);
}

void api_context_refuse(struct request *r, const char *code, const char *message, json_t *context)
{
	json_t *details = context ? json_incref(context) : json_object();
	json_t *body = error_json(code, message, context);
	json_object_set(body, "error", json_object_get(body, "message"));
	json_object_set_new(body, "details", details);
	if (error_status(code) == 503)
		reply_header(r, "Retry-After", REPLY_RETRY_S);
	reply_json(r, error_status(code), body);
}

struct context *api_context_find(struct api *a, struct request *r, const char *id, bool code)
{
	char message[128];
	struct context *c = contexts_find(a->contexts, id);
	if (c && api_context_is_visible(r, c))
		return c;
	snprintf(message, sizeof message, "There is no context %.64s", id);
	json_t *context = json_pack("{s:s}", "contextId", id);
	if (code)
		api_context_refuse(r, "CONTEXT_NOT_FOUND", message, context);
	else
		reply_error(r, "CONTEXT_NOT_FOUND", message, context);
	return NULL;
}

void api_context_refuse_start(
	struct request *r, enum language language, const char *cwd, int error, bool code)
{
	char message[256];
	const char *program = language_program(language);
	const char *name = code ? "CODE_EXECUTION_ERROR" : "INTERNAL_ERROR";
	if (refuse_if_directory(r, &r->directory, cwd, error))
		return;
	if (error == -ERR_NOT_INSTALLED) {
		name = language == LANGUAGE_PYTHON ? "PYTHON_NOT_AVAILABLE"
						   : "JAVASCRIPT_NOT_AVAILABLE";
		snprintf(message, sizeof message, "%s is not installed", program);
	} else if (error == -ERR_LIMIT) {
		name = "LIMIT_REACHED";
		snprintf(message, sizeof message, "The limit of contexts or runs is reached");
	} else if (error == -ETIMEDOUT) {
		name = "INTERPRETER_NOT_READY";
		snprintf(message, sizeof message, "%s took too long to start", program);
	} else if (error == -EIO) {
		snprintf(message, sizeof message, "%s exited before it was ready for code", program);
	} else {
		if (error_is_shortage(error))
			name = error_code_of(error);
		snprintf(message, sizeof message, "%s could not be started: %s", program,
			error_text(error));
	}
	json_t *context = json_pack("{s:s}", "language", language_name(language));
	if (error == -ETIMEDOUT)
		json_object_set_new(
			context, "retryAfter", json_integer(strtol(REPLY_RETRY_S, NULL, 10)));
	if (code)
		api_context_refuse(r, name, message, context);
	else
		reply_error(r, name, message, context);
}
