/*
 * The sessions of a sandbox: {ID: {cwd, env}}, kept in a file beside its directory. Whoever makes or deletes one is answered when that
 * is on the disk. One write is under way at a time, with all that has changed until it begins.
 */
#include "ws/api/bridge/sandbox_internal.h"

#include "shell/environment.h"
#include "shell/store/document.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define SUFFIX ".sessions" /* behind the id */
#define SESSIONS_MAX 64u
#define ENV_SIZE_MAX ((size_t)64 << 10) /* bytes of one session's variables, as JSON */
#define FILE_SIZE_MAX ((size_t)8 << 20)
#define FILE_NAME_SIZE (NAME_ID_MAX + sizeof SUFFIX)

/* Who waits for a change to be kept. */
struct sandbox_keeping {
	struct sandbox_keeping *prev, *next;
	struct request *request; /* our reference */
	char id[NAME_ID_MAX + 1];
	json_t *before; /* what was there; NULL: nothing; owned */
	bool written;   /* it is in what is being written */
};

/* A write. */
struct saving {
	struct job job;
	struct sandbox_run run; /* a deletion waits for it */
	struct api *api;
	char folder[PLACE_PATH_MAX];
	char id[NAME_ID_MAX + 1];
	json_t *sessions; /* a copy; owned */
	int error;
};

static void file_name(const char *id, char name[FILE_NAME_SIZE])
{
	snprintf(name, FILE_NAME_SIZE, "%s" SUFFIX, id);
}

/* Reading */

static bool is_env(json_t *env)
{
	const char *name;
	json_t *value;
	if (!env)
		return true;
	if (!json_is_object(env) || json_object_size(env) > BODY_ENV_MAX)
		return false;
	json_object_foreach (env, name, value) {
		const char *text = json_string_value(value);
		if (!environment_name_is_valid(name) || !text ||
			strlen(text) != json_string_length(value))
			return false;
	}
	return true;
}

/* What runs in sandboxes may have written the file. */
static bool is_session(const char *id, const json_t *session)
{
	char path[PLACE_PATH_MAX];
	const json_t *cwd = json_object_get(session, "cwd");
	return sandbox_is_session(id) && json_is_string(cwd) &&
		strlen(json_string_value(cwd)) == json_string_length(cwd) &&
		sandbox_path(json_string_value(cwd), path) &&
		strcmp(json_string_value(cwd), path) == 0 && is_env(json_object_get(session, "env"));
}

int sandbox_sessions_load(int dir_fd, const char *id, json_t **ret_sessions)
{
	char name[FILE_NAME_SIZE];
	const char *session;
	json_t *all, *each;
	void *next;
	*ret_sessions = NULL;
	file_name(id, name);
	int rc = document_load(dir_fd, name, FILE_SIZE_MAX, &all);
	if (rc == -ENOENT || rc == -EBADMSG || rc == -EFBIG)
		return 0;
	if (rc < 0)
		return rc;
	json_object_foreach_safe (all, next, session, each)
		if (!is_session(session, each))
			json_object_del(all, session);
	if (json_object_size(all) <= SESSIONS_MAX)
		*ret_sessions = json_incref(all);
	json_decref(all);
	return 0;
}

void sandbox_sessions_remove(int dir_fd, const char *id)
{
	char name[FILE_NAME_SIZE];
	file_name(id, name);
	unlinkat(dir_fd, name, 0);
}

struct sandbox_session sandbox_session_find(const struct sandbox *s, const char *id)
{
	const json_t *session = json_object_get(s->sessions, id);
	return (struct sandbox_session){
		.cwd = session ? json_string_value(json_object_get(session, "cwd")) : ".",
		.env = json_object_get(session, "env")};
}

bool sandbox_session_of(
	struct request *r, const struct sandbox *s, struct sandbox_session *ret_session)
{
	const char *id = r->session_hint[0] ? r->session_hint : request_param(r, "session");
	if (r->session_hint_wrong || (id && !sandbox_is_session(id))) {
		sandbox_refuse(r, 400, "invalid_request", "Invalid session ID format");
		return false;
	}
	*ret_session = sandbox_session_find(s, id ? id : "");
	return true;
}

/* Writing */

static void free_keeping(struct sandbox *s, struct sandbox_keeping *k)
{
	DL_DELETE(s->keepings, k);
	json_decref(k->before);
	request_unref(k->request);
	free(k);
}

void sandbox_sessions_drop(struct sandbox *s)
{
	while (s->keepings)
		free_keeping(s, s->keepings);
	json_decref(s->sessions);
	s->sessions = NULL;
}

static void undo(struct sandbox *s, const char *id, json_t *before)
{
	if (before)
		json_object_set(s->sessions, id, before);
	else
		json_object_del(s->sessions, id);
}

/* The change is on the disk, or is undone. k is over. */
static void answer(struct sandbox *s, struct sandbox_keeping *k, int error)
{
	struct request *r = k->request;
	bool deletes = r->method == METHOD_DELETE;
	if (error < 0)
		undo(s, k->id, k->before);
	if (error < 0 && !r->done)
		sandbox_refuse_error(r, "session_error", "The sessions cannot be written", error);
	else if (!r->done && deletes)
		reply_bytes(r, 204, NULL, "", 0, NULL);
	else if (!r->done)
		reply_json(r, 200, json_pack("{s:s}", "id", k->id));
	free_keeping(s, k);
}

static void on_save(struct job *job)
{
	struct saving *w = (struct saving *)job;
	char name[FILE_NAME_SIZE];
	int fd = open(w->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		w->error = -errno;
		return;
	}
	file_name(w->id, name);
	w->error = document_save_durably(fd, name, json_incref(w->sessions));
	close(fd);
}

static void save(struct api *a, struct sandbox *s);

static void on_saved(struct job *job, int error)
{
	struct saving *w = (struct saving *)job;
	struct sandbox *s = w->run.sandbox;
	struct api *a = w->api;
	struct sandbox_keeping *k, *next;
	error = error < 0 ? error : w->error;
	json_decref(w->sessions);
	DL_FOREACH_SAFE (s->keepings, k, next)
		if (k->written)
			answer(s, k, error);
	/* Before s is left: it may be gone then. */
	if (s->keepings)
		save(a, s);
	sandbox_leave(&w->run);
	free(w);
}

static void fail(struct sandbox *s, int error)
{
	while (s->keepings)
		answer(s, s->keepings, error);
}

/* Write all that is there now. */
static void save(struct api *a, struct sandbox *s)
{
	struct saving *w = calloc(1, sizeof *w);
	struct sandbox_keeping *k;
	if (w)
		w->sessions = json_deep_copy(s->sessions);
	if (!w || !w->sessions) {
		free(w);
		fail(s, -ENOMEM);
		return;
	}
	w->job = (struct job){.work = on_save, .done = on_saved};
	w->api = a;
	memcpy(w->id, s->id, sizeof w->id);
	snprintf(w->folder, sizeof w->folder, "%s/%s", a->workspace, SANDBOX_FOLDER);
	int rc = crew_send(a->crew, &w->job);
	if (rc < 0) {
		json_decref(w->sessions);
		free(w);
		fail(s, rc);
		return;
	}
	DL_FOREACH (s->keepings, k)
		k->written = true;
	sandbox_enter(s, &w->run, NULL);
}

/* r waits until a change to that session is kept. */
static void keep(struct request *r, struct sandbox *s, const char *id, json_t *before)
{
	struct sandbox_keeping *k = calloc(1, sizeof *k);
	bool idle = !s->keepings;
	if (!k) {
		undo(s, id, before);
		refuse_memory(r);
		return;
	}
	k->request = request_ref(r);
	k->before = json_incref(before);
	snprintf(k->id, sizeof k->id, "%s", id);
	DL_APPEND(s->keepings, k);
	if (idle)
		save(api_of(r), s);
}

/* Requests */

static bool take_id(struct request *r, const struct sandbox *s, const json_t *body, char *ret_id)
{
	const char *id;
	if (!body_text(r, body, "id", &id))
		return false;
	if (id && !sandbox_is_session(id))
		sandbox_refuse(r, 400, "invalid_request", "Invalid session ID format");
	else if (id && json_object_get(s->sessions, id))
		sandbox_refuse(
			r, 502, "session_error", "session create failed: it is there already");
	else if (json_object_size(s->sessions) >= SESSIONS_MAX)
		sandbox_refuse(r, 429, "capacity_exceeded", "The sandbox has too many sessions");
	else if (!id && !sandbox_new_id(ret_id))
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
	if (json_dumpb(*ret_env, NULL, 0, JSON_COMPACT) <= ENV_SIZE_MAX)
		return true;
	sandbox_refuse(r, 400, "invalid_request", "env is too large");
	return false;
}

static void create_in(struct request *r, struct sandbox *s, void *user)
{
	char id[NAME_ID_MAX + 1], path[PLACE_PATH_MAX] = ".";
	json_t *body = body_read(r), *env;
	const char *cwd;
	(void)user;
	if (!body || !take_id(r, s, body, id) || !body_text(r, body, "cwd", &cwd) ||
		!take_env(r, body, &env))
		goto out;
	if (cwd && !sandbox_path(cwd, path)) {
		sandbox_refuse(r, 403, "invalid_request",
			"cwd must resolve to a location within /workspace");
		goto out;
	}
	json_t *made = json_pack("{s:s}", "cwd", path);
	if (json_is_object(env))
		json_object_set(made, "env", env);
	if (!s->sessions)
		s->sessions = json_object();
	if (json_object_set_new(s->sessions, id, made) < 0)
		refuse_memory(r);
	else
		keep(r, s, id, NULL);
out:
	json_decref(body);
}

static void create(struct request *r)
{
	sandbox_use(r, create_in, NULL);
}

static void delete_in(struct request *r, struct sandbox *s, void *user)
{
	(void)user;
	json_t *session = json_incref(json_object_get(s->sessions, r->match.item));
	if (session) {
		json_object_del(s->sessions, r->match.item);
		keep(r, s, r->match.item, session);
	} else {
		sandbox_refuse(r, 502, "session_error", "session delete failed: Session not found");
	}
	json_decref(session);
}

static void delete (struct request *r)
{
	sandbox_use(r, delete_in, NULL);
}

const struct route_row api_bridge_session_rows[] = {
	{METHOD_POST, "/v1/sandbox/{}/session", WHO_OWNER, .plain = create},
	{METHOD_DELETE, "/v1/sandbox/{}/session/{}", WHO_OWNER, .plain = delete},
	{.path = NULL},
};
