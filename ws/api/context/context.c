/* Contexts of code: creating, listing, interrupting and removing them. Running code is in execute.c. */
#include "ws/api/context/refuse.h"
#include "ws/api/cwd_check.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/rows.h"
#include "ws/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show_health(struct request *r)
{
	reply_success(r, json_pack("{s:s}", "status", "healthy"));
}

/* Creating */

static void api_context_free(struct api_context *k)
{
	quota_release(&k->place);
	free(k->cwd);
	free(k);
}

static void on_gone(void *user);

static void answer_started(struct request *r, struct context *c)
{
	log_write(LOG_INFO, "context", "started", "id", context_id(c), "peer", r->peer, "principal",
		typist_author(r), "language", language_name(context_language(c)), "cwd",
		context_cwd(c), NULL);
	reply_success(r,
		json_pack("{s:s, s:s, s:s}", "contextId", context_id(c), "language",
			language_name(context_language(c)), "cwd", context_cwd(c)));
}

static void on_started(void *user, struct context *c, int error)
{
	struct api_context *k = user;
	struct request *r = k->request;
	k->request = NULL;
	if (!r)
		return;
	r->gone = NULL;
	if (c)
		answer_started(r, c);
	else
		api_context_refuse_start(r, k->language, k->cwd, error, false);
	request_unref(r);
}

static void on_removed(void *user, bool unused)
{
	struct api_context *k = user;
	if (unused)
		log_write(LOG_INFO, "context", "removed", "id", context_id(k->context), "reason",
			"unused", NULL);
	api_context_free(k);
}

/* The client has disconnected before it got the id of its context. */
static void on_gone(void *user)
{
	struct api_context *k = user;
	request_unref(k->request);
	k->request = NULL;
	context_remove(k->context);
}

static void create(struct api *a, struct request *r, const struct interpreter_options *o)
{
	static const struct context_callbacks callbacks = {
		.started = on_started, .removed = on_removed};
	struct api_context *k = calloc(1, sizeof *k);
	int rc = -ENOMEM;
	if (k && !access_acquire(a->access, r, QUOTA_CONTEXTS, &k->place)) {
		api_context_free(k);
		return;
	}
	if (k && (k->cwd = strdup(o->cwd))) {
		k->language = o->language;
		snprintf(k->session, sizeof k->session, "%s", r->principal.session);
		k->epoch = r->principal.epoch;
		rc = context_create(a->contexts, o, &callbacks, k, &k->context);
	}
	if (rc < 0) {
		api_context_refuse_start(r, o->language, o->cwd, rc, false);
		if (k)
			api_context_free(k);
		return;
	}
	k->request = request_ref(r);
	r->gone = on_gone;
	r->gone_user = k;
}

/* The field "language"; Python if it is absent or unknown, as in the container. */
static bool parse_language(struct request *r, const json_t *body, enum language *ret_language)
{
	const char *name;
	if (!body_text(r, body, "language", &name))
		return false;
	if (!name || !language_parse(name, ret_language))
		*ret_language = LANGUAGE_PYTHON;
	return true;
}

static void create_after_check(struct api *a, struct request *r, json_t *body)
{
	struct interpreter_options o = {.language = LANGUAGE_PYTHON};
	struct body_environment env;
	/* A drain may have started while the directory was checked. */
	if (refuse_if_draining(r, a->sessions) || !parse_language(r, body, &o.language) ||
		!body_text(r, body, "cwd", &o.cwd) || !body_absolute(r, o.cwd) ||
		!body_environment(r, body, "env_vars", &env))
		return;
	o.cwd = o.cwd ? o.cwd : a->code_cwd;
	o.found = r->directory;
	o.env_names = env.names;
	o.env_values = env.values;
	o.env_count = env.count;
	create(a, r, &o);
}

static void create_context(struct request *r)
{
	struct api *a = api_of(r);
	if (!refuse_if_draining(r, a->sessions))
		cwd_check_body(a, r, create_after_check);
}

/* Listing, removing and interrupting */

static void list_contexts(struct request *r)
{
	struct api *a = api_of(r);
	json_t *list = json_array();
	for (struct context *c = NULL; (c = contexts_next(a->contexts, c));)
		if (api_context_is_visible(r, c))
			json_array_append_new(list,
				json_pack("{s:s, s:s, s:s}", "id", context_id(c), "language",
					language_name(context_language(c)), "cwd", context_cwd(c)));
	reply_success(r, json_pack("{s:o}", "contexts", list));
}

static void remove_context(struct request *r)
{
	struct context *c = api_context_find(api_of(r), r, r->match.id, false);
	if (!c)
		return;
	log_write(LOG_INFO, "context", "removed", "id", r->match.id, "peer", r->peer, "principal",
		typist_author(r), NULL);
	context_remove(c);
	reply_success(r, json_pack("{s:s}", "contextId", r->match.id));
}

static void interrupt_context(struct request *r)
{
	struct context *c = api_context_find(api_of(r), r, r->match.id, false);
	if (c)
		reply_success(r,
			json_pack("{s:s, s:b}", "contextId", r->match.id, "interrupted",
				(int)context_interrupt(c)));
}

const struct route_row api_context_rows[] = {
	{METHOD_GET, "/api/interpreter/health", ROUTE_OWNER_OR_TRUSTED, .plain = show_health},
	{METHOD_POST, "/api/contexts", ROUTE_OWNER_OR_TRUSTED, .plain = create_context},
	{METHOD_GET, "/api/contexts", ROUTE_OWNER_OR_TRUSTED, .plain = list_contexts},
	{METHOD_DELETE, "/api/contexts/{}", ROUTE_OWNER_OR_TRUSTED, .plain = remove_context},
	{METHOD_POST, "/api/contexts/{}/interrupt", ROUTE_OWNER_OR_TRUSTED,
		.plain = interrupt_context},
	{.path = NULL},
};
