/* The table of sandboxes; no file access. */
#include "ws/api/bridge/sandbox_internal.h"

#include "shell/bounds.h"
#include "shell/id.h"
#include "shell/own_error.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/workspace.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define ID_LENGTH 26u /* of 5 bits each */
#define IDLE_MS (UINT64_C(10) * 60 * 1000)

bool sandbox_refuse(struct request *r, int status, const char *code, const char *message)
{
	reply_json(r, status, json_pack("{s:s, s:s}", "error", message, "code", code));
	return false;
}

void sandbox_refuse_error(struct request *r, const char *code, const char *what, int error)
{
	char message[PLACE_PATH_MAX + 128];
	int status = error == -EXDEV ? 403 : error == -ERR_LIMIT ? 429 : 502;
	snprintf(message, sizeof message, "%s: %s", what,
		error == -EXDEV               ? "the path leads out of /workspace"
			: error == -ERR_LIMIT ? "too many operations are waiting"
					      : error_text(error));
	sandbox_refuse(r, status,
		error == -EXDEV               ? "invalid_request"
			: error == -ERR_LIMIT ? "capacity_exceeded"
					      : code,
		message);
}

bool sandbox_check_transport(struct request *r)
{
	bool has = !r->transport || r->transport->downloading;
	if (!has)
		sandbox_refuse(r, 501, "not_implemented", "Only available over HTTP");
	return has;
}

bool sandbox_is_id(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz234567");
	return length > 0 && length <= NAME_ID_MAX && !text[length];
}

bool sandbox_new_id(char ret_id[NAME_ID_MAX + 1])
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[ID_LENGTH];
	if (id_random(bytes, sizeof bytes) < 0)
		return false;
	for (size_t i = 0; i < sizeof bytes; i++)
		ret_id[i] = digits[bytes[i] % 32];
	ret_id[sizeof bytes] = '\0';
	return true;
}

bool sandbox_is_session(const char *text)
{
	size_t length = strspn(
		text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
	return length > 0 && length <= NAME_ID_MAX && !text[length] && !strstr(text, "..");
}

bool sandbox_path(const char *path, char ret_path[PLACE_PATH_MAX])
{
	char joined[BODY_PATH_MAX];
	if (!workspace_join(WORKSPACE_ALIAS, path, joined) ||
		!workspace_contains(WORKSPACE_ALIAS, joined))
		return false;
	const char *below = joined + sizeof WORKSPACE_ALIAS - 1;
	snprintf(ret_path, PLACE_PATH_MAX, "%s", below[0] ? below + 1 : ".");
	return true;
}

void sandbox_place(const struct sandbox *s, struct place *p)
{
	bool fits = place_of_directory(p, s->root);
	assert(fits); /* sandbox_add() has checked its length */
	p->beneath = true;
}

struct sandbox *sandbox_find(const struct bridge *b, const char *id)
{
	struct sandbox *s;
	DL_FOREACH (b->list, s)
		if (strcmp(s->id, id) == 0)
			return s;
	return NULL;
}

void sandbox_refuse_full(struct request *r)
{
	sandbox_refuse(r, 429, "capacity_exceeded", "Too many sandboxes");
}

void sandbox_refuse_deleted(struct request *r)
{
	sandbox_refuse(r, 409, "exec_transport_error", "The sandbox is being deleted");
}

bool sandbox_check_request(struct api *a, struct request *r)
{
	if (!sandbox_is_id(r->match.id))
		return sandbox_refuse(r, 400, "invalid_request", "Invalid sandbox ID format");
	if (!a->sessions->config.bounds->isolation ||
		strcmp(a->workspace, a->sessions->config.cwd) == 0)
		return true;
	return sandbox_refuse(r, 501, "not_implemented",
		"With --isolate, sandboxes require --bind with the workspace");
}

void sandbox_touch(const struct api *a, struct sandbox *s)
{
	struct bridge *b = a->bridge;
	s->used_ms = uv_now(a->sessions->loop);
	DL_DELETE(b->list, s);
	DL_APPEND(b->list, s);
}

struct sandbox *sandbox_find_again(struct bridge *b, struct request *r)
{
	struct sandbox *s = sandbox_find(b, r->match.id);
	if (s && !s->removing) {
		sandbox_touch(api_of(r), s);
		return s;
	}
	sandbox_refuse_deleted(r);
	return NULL;
}

void sandbox_forget(struct bridge *b, struct sandbox *s)
{
	sandbox_sessions_drop(s);
	DL_DELETE(b->list, s);
	b->count--;
	free(s);
}

static bool is_idle(const struct api *a, const struct sandbox *s)
{
	for (unsigned i = 0; i < SANDBOX_TERMINALS_MAX; i++)
		if (s->terminals[i][0])
			return false;
	return !s->runs && !s->removing && uv_now(a->sessions->loop) >= s->used_ms + IDLE_MS;
}

/* An idle sandbox can be dropped: it is loaded from the disk on its next use. */
bool sandbox_reserve(const struct api *a)
{
	struct sandbox *s;
	if (a->bridge->count < SANDBOXES_MAX)
		return true;
	DL_FOREACH (a->bridge->list, s)
		if (is_idle(a, s)) {
			sandbox_forget(a->bridge, s);
			return true;
		}
	return false;
}

struct sandbox *sandbox_add(
	const struct api *a, const char *folder, const char *id, json_t *sessions)
{
	struct bridge *b = a->bridge;
	struct sandbox *s = calloc(1, sizeof *s);
	if (!s) {
		json_decref(sessions);
		return NULL;
	}
	s->bridge = b;
	s->sessions = sessions;
	s->used_ms = uv_now(a->sessions->loop);
	snprintf(s->id, sizeof s->id, "%s", id);
	int n = snprintf(s->root, sizeof s->root, "%s/%s", folder, id);
	if (n < 0 || (size_t)n >= sizeof s->root) {
		json_decref(sessions);
		free(s);
		return NULL;
	}
	DL_APPEND(b->list, s);
	b->count++;
	return s;
}

void sandbox_enter(struct sandbox *s, struct sandbox_run *run, void (*end)(struct sandbox_run *run))
{
	run->sandbox = s;
	run->end = end;
	DL_APPEND(s->runs, run);
}

void sandbox_leave(struct sandbox_run *run)
{
	struct sandbox *s = run->sandbox;
	if (!s)
		return;
	run->sandbox = NULL;
	DL_DELETE(s->runs, run);
	if (s->removing)
		sandbox_maybe_remove(s->removing);
}

struct bridge *bridge_create(void)
{
	return calloc(1, sizeof(struct bridge));
}

void bridge_destroy(struct bridge *b)
{
	struct sandbox *s, *next;
	struct removing *m, *after;
	if (!b)
		return;
	DL_FOREACH_SAFE (b->removings, m, after)
		if (!m->begun) { /* otherwise a blocked thread still uses it */
			request_unref(m->request);
			free(m);
		}
	DL_FOREACH_SAFE (b->list, s, next)
		sandbox_forget(b, s);
	free(b);
}
