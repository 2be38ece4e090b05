/*
 * The bridge, which OpenAI's agents and others speak: /v1/sandbox, by one URL and one token. Here is what is answered at once: the
 * life of sandboxes and of their sessions, and what there is to be known of all.
 */
#include "shell/id.h"
#include "ws/api/bridge/openapi.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define ID_LENGTH 26u                      /* of 5 bits each */
#define SESSION_ENV_MAX ((size_t)64 << 10) /* bytes of one session's variables, as JSON */

static bool new_id(char *text, size_t length)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[ID_LENGTH];
	if (id_random(bytes, length) < 0)
		return false;
	for (size_t i = 0; i < length; i++)
		text[i] = digits[bytes[i] % 32];
	text[length] = '\0';
	return true;
}

static void tell_id(struct request *r, struct sandbox *s, void *user)
{
	(void)user;
	reply_json(r, 200, json_pack("{s:s}", "id", s->id));
}

static void create(struct request *r)
{
	if (new_id(r->match.id, ID_LENGTH))
		sandbox_use(r, tell_id, NULL);
	else
		sandbox_refuse(r, 502, "pool_error", "There are no random bytes");
}

static void tell_running(struct request *r, bool there)
{
	reply_json(r, 200, json_pack("{s:b}", "running", (int)there));
}

static void running(struct request *r)
{
	sandbox_look(r, tell_running);
}

/* Sessions */

static struct sandbox_session *find_session(struct sandbox *s, const char *id)
{
	struct sandbox_session *each;
	DL_FOREACH (s->sessions, each)
		if (strcmp(each->id, id) == 0)
			return each;
	return NULL;
}

static bool take_id(struct request *r, struct sandbox *s, const json_t *body, char *ret_id)
{
	const char *id;
	if (!body_text(r, body, "id", &id))
		return false;
	if (id && !sandbox_is_session(id))
		sandbox_refuse(r, 400, "invalid_request", "Invalid session ID format");
	else if (id && find_session(s, id))
		sandbox_refuse(
			r, 502, "session_error", "session create failed: it is there already");
	else if (s->sessions_count >= SANDBOX_SESSIONS_MAX)
		sandbox_refuse(r, 429, "capacity_exceeded", "The sandbox has too many sessions");
	else if (!id && !new_id(ret_id, ID_LENGTH))
		sandbox_refuse(r, 502, "session_error", "There are no random bytes");
	else {
		if (id)
			snprintf(ret_id, NAME_ID_MAX + 1, "%s", id);
		return true;
	}
	return false;
}

static bool take_env(struct request *r, const json_t *body, json_t **ret_env)
{
	struct body_environment *env = malloc(sizeof *env);
	if (!env) {
		refuse_memory(r);
		return false;
	}
	bool good = body_environment(r, body, env);
	free(env);
	*ret_env = json_object_get(body, "env");
	if (!good || !*ret_env)
		return good;
	if (json_dumpb(*ret_env, NULL, 0, JSON_COMPACT) <= SESSION_ENV_MAX)
		return true;
	sandbox_refuse(r, 400, "invalid_request", "env is too large");
	return false;
}

static void create_session_in(struct request *r, struct sandbox *s, void *user)
{
	struct sandbox_session made = {.cwd = "."};
	json_t *body = body_read(r), *env;
	const char *cwd;
	(void)user;
	if (!body || !take_id(r, s, body, made.id) || !body_text(r, body, "cwd", &cwd) ||
		!take_env(r, body, &env))
		goto out;
	if (cwd && !sandbox_path(cwd, made.cwd)) {
		sandbox_refuse(r, 403, "invalid_request",
			"cwd must resolve to a location within /workspace");
		goto out;
	}
	struct sandbox_session *session = malloc(sizeof *session);
	if (!session) {
		refuse_memory(r);
		goto out;
	}
	*session = made;
	session->env = json_is_object(env) ? json_incref(env) : NULL;
	DL_APPEND(s->sessions, session);
	s->sessions_count++;
	reply_json(r, 200, json_pack("{s:s}", "id", session->id));
out:
	json_decref(body);
}

static void create_session(struct request *r)
{
	sandbox_use(r, create_session_in, NULL);
}

static void delete_session_in(struct request *r, struct sandbox *s, void *user)
{
	(void)user;
	struct sandbox_session *session = find_session(s, r->match.item);
	if (!session) {
		sandbox_refuse(r, 502, "session_error", "session delete failed: Session not found");
		return;
	}
	reply_bytes(r, 204, NULL, "", 0, NULL);
	DL_DELETE(s->sessions, session);
	s->sessions_count--;
	json_decref(session->env);
	free(session);
}

static void delete_session(struct request *r)
{
	sandbox_use(r, delete_session_in, NULL);
}

/* What there is */

static void pool(struct request *r)
{
	const struct api *a = api_of(r);
	reply_json(r, 200,
		json_pack("{s:i, s:i, s:i, s:i, s:{s:i, s:i}}", "warm", 0, "assigned",
			(int)a->bridge->count, "total", (int)a->bridge->count, "maxInstances",
			(int)SANDBOXES_MAX, "config", "warmTarget", 0, "refreshInterval", 0));
}

static void no_pool(struct request *r)
{
	sandbox_refuse(r, 501, "not_implemented", "Sandboxes are not made in advance");
}

static void health(struct request *r)
{
	reply_json(r, 200, json_pack("{s:b}", "ok", 1));
}

static void describe(struct request *r)
{
	reply_bytes(r, 200, "application/json", bridge_openapi, bridge_openapi_length, NULL);
}

static void no_upgrade(struct request *r)
{
	sandbox_refuse(r, 400, "invalid_request", "WebSocket upgrade required");
}

static void not_there(struct request *r)
{
	sandbox_refuse(
		r, 501, "not_implemented", "Ringside does not mount buckets nor open tunnels");
}

const struct route_row api_bridge_rows[] = {
	{METHOD_GET, "/health", WHO_ANYBODY, .plain = health, .probe = true},
	{METHOD_GET, "/v1/openapi.json", WHO_VIEWER, .plain = describe},
	{METHOD_GET, "/v1/pool/stats", WHO_OWNER, .plain = pool},
	{METHOD_POST, "/v1/pool/prime", WHO_OWNER, .plain = no_pool},
	{METHOD_POST, "/v1/pool/shutdown-prewarmed", WHO_OWNER, .plain = no_pool},
	{METHOD_POST, "/v1/sandbox", WHO_OWNER, .plain = create},
	{METHOD_DELETE, "/v1/sandbox/{}", WHO_OWNER, .plain = sandbox_delete},
	{METHOD_GET, "/v1/sandbox/{}/running", WHO_OWNER, .plain = running},
	{METHOD_POST, "/v1/sandbox/{}/session", WHO_OWNER, .plain = create_session},
	{METHOD_DELETE, "/v1/sandbox/{}/session/{}", WHO_OWNER, .plain = delete_session},
	{METHOD_GET, "/v1/sandbox/{}/pty", WHO_OWNER, .plain = no_upgrade},
	{METHOD_POST, "/v1/sandbox/{}/mount", WHO_OWNER, .plain = not_there},
	{METHOD_POST, "/v1/sandbox/{}/unmount", WHO_OWNER, .plain = not_there},
	{METHOD_POST, "/v1/sandbox/{}/tunnel/{}", WHO_OWNER, .plain = not_there},
	{METHOD_DELETE, "/v1/sandbox/{}/tunnel/{}", WHO_OWNER, .plain = not_there},
	{.path = NULL},
};
