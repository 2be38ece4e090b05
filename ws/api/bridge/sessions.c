/*
 * The sessions of a sandbox: {ID: {cwd, env}} in a file beside its directory. Requests that create
 * or delete a session are answered when the file is synced. There is one write at a time; it
 * contains all changes so far.
 */
#include "ws/api/bridge/sandbox_internal.h"

#include "shell/store/document.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define SUFFIX ".sessions"
#define SESSIONS_MAX 64u
#define ENV_SIZE_MAX ((size_t)64 << 10)  /* bytes of one session's variables, as JSON */
#define ALL_SIZE_MAX ((size_t)256 << 10) /* bytes of all sessions of a sandbox, as JSON */
#define FILE_SIZE_MAX (2 * ALL_SIZE_MAX) /* it has indentation */
#define FILE_NAME_SIZE (NAME_ID_MAX + sizeof SUFFIX ".new")

/* A created or deleted session, and the request that waits for the write. */
struct session_change {
	struct session_change *prev, *next;
	struct request *request; /* our reference */
	char id[NAME_ID_MAX + 1];
	json_t *before; /* the old session, or NULL; owned */
	bool written;   /* the current write contains it */
};

struct writing {
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

/* Validate a session of the file and copy its known fields. Returns NULL if it is invalid. */
static json_t *read_session(const char *id, const json_t *stored)
{
	char path[PLACE_PATH_MAX];
	const json_t *cwd = json_object_get(stored, "cwd");
	struct body_environment checked;
	json_t *env = json_object_get(stored, "env");
	if (!sandbox_is_session(id) || !json_is_string(cwd) ||
		strlen(json_string_value(cwd)) != json_string_length(cwd) ||
		!sandbox_path(json_string_value(cwd), path) || body_environment_parse(env, &checked))
		return NULL;
	return json_pack("{s:s, s:O*}", "cwd", path, "env", env);
}

/* Programs of the sandbox may have changed or replaced the file. */
int sandbox_sessions_load(int dir_fd, const char *id, json_t **ret_sessions)
{
	char name[FILE_NAME_SIZE];
	struct stat st;
	const char *key;
	json_t *stored, *value, *all;
	*ret_sessions = NULL;
	file_name(id, name);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	int rc = document_load(dir_fd, name, FILE_SIZE_MAX, &stored);
	if (rc < 0) /* temporary errors must not lose the sessions; an invalid file has none */
		return rc == -ENOMEM || rc == -EIO || rc == -EMFILE || rc == -ENFILE ? rc : 0;
	all = json_object();
	json_object_foreach (stored, key, value) {
		json_t *session = json_object_size(all) < SESSIONS_MAX ? read_session(key, value)
								       : NULL;
		if (session)
			json_object_set_new(all, key, session);
	}
	json_decref(stored);
	*ret_sessions = all;
	return 0;
}

void sandbox_sessions_remove(int dir_fd, const char *id)
{
	char name[FILE_NAME_SIZE];
	file_name(id, name);
	unlinkat(dir_fd, name, 0);
	snprintf(name, sizeof name, "%s" SUFFIX ".new", id); /* left by a killed server */
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
	const char *id = r->session_header[0] ? r->session_header : request_param(r, "session");
	if (r->session_header_invalid || (id && !sandbox_is_session(id)))
		return sandbox_refuse(r, 400, "invalid_request", "Invalid session ID format");
	*ret_session = sandbox_session_find(s, id ? id : "");
	return true;
}

/* Writing */

static void free_change(struct sandbox *s, struct session_change *c)
{
	DL_DELETE(s->changes, c);
	json_decref(c->before);
	request_unref(c->request);
	free(c);
}

void sandbox_sessions_drop(struct sandbox *s)
{
	while (s->changes)
		free_change(s, s->changes);
	json_decref(s->sessions);
	s->sessions = NULL;
}

static void put_back(struct sandbox *s, const char *id, json_t *before)
{
	if (before)
		json_object_set(s->sessions, id, before);
	else
		json_object_del(s->sessions, id);
}

/* Undo a change. If a later change is about the same session, only that one's "before" changes. */
static void undo(struct sandbox *s, struct session_change *c)
{
	struct session_change *later = c->next;
	while (later && strcmp(later->id, c->id) != 0)
		later = later->next;
	if (!later) {
		put_back(s, c->id, c->before);
		return;
	}
	json_decref(later->before);
	later->before = json_incref(c->before);
}

/* Answer the request of a change; undo it if the write failed. Frees c. */
static void finish(struct sandbox *s, struct session_change *c, int error)
{
	struct request *r = c->request;
	if (error < 0)
		undo(s, c);
	if (r->done)
		; /* the client has disconnected */
	else if (error < 0)
		sandbox_refuse_error(r, "session_error", "Writing the sessions failed", error);
	else if (r->method == METHOD_DELETE)
		reply_bytes(r, 204, NULL, "", 0, NULL);
	else
		reply_json(r, 200, json_pack("{s:s}", "id", c->id));
	free_change(s, c);
}

static void on_write(struct job *job)
{
	struct writing *w = (struct writing *)job;
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

static void write_changes(struct api *a, struct sandbox *s);

static void on_written(struct job *job, int error)
{
	struct writing *w = (struct writing *)job;
	struct sandbox *s = w->run.sandbox;
	struct api *a = w->api;
	struct session_change *c, *next;
	error = error < 0 ? error : w->error;
	json_decref(w->sessions);
	DL_FOREACH_SAFE (s->changes, c, next)
		if (c->written)
			finish(s, c, error);
	/* Before sandbox_leave(), which may free s. */
	if (s->changes)
		write_changes(a, s);
	sandbox_leave(&w->run);
	free(w);
}

static void fail(struct sandbox *s, int error)
{
	while (s->changes)
		finish(s, s->changes, error);
}

static void write_changes(struct api *a, struct sandbox *s)
{
	struct writing *w = calloc(1, sizeof *w);
	struct session_change *c;
	if (w)
		w->sessions = json_deep_copy(s->sessions);
	if (!w || !w->sessions) {
		free(w);
		fail(s, -ENOMEM);
		return;
	}
	w->job = (struct job){.work = on_write, .done = on_written};
	access_owner_key(&s->changes->request->principal, s->id, w->job.owner, sizeof w->job.owner);
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
	DL_FOREACH (s->changes, c)
		c->written = true;
	sandbox_enter(s, &w->run, NULL);
}

/* Answer r when its change is written. before: the old session, or NULL. */
static void answer_when_written(struct request *r, struct sandbox *s, const char *id, json_t *before)
{
	struct session_change *c = calloc(1, sizeof *c);
	bool idle = !s->changes;
	if (!c) {
		put_back(s, id, before);
		refuse_memory(r);
		return;
	}
	c->request = request_ref(r);
	c->before = json_incref(before);
	snprintf(c->id, sizeof c->id, "%s", id);
	DL_APPEND(s->changes, c);
	if (idle)
		write_changes(api_of(r), s);
}

/* Requests */

/* Count sessions and their bytes; with those being deleted, as a failed write restores them. */
static size_t measure(const struct sandbox *s, size_t *ret_size)
{
	size_t count = json_object_size(s->sessions);
	const struct session_change *c;
	*ret_size = json_dumpb(s->sessions, NULL, 0, JSON_COMPACT);
	DL_FOREACH (s->changes, c) {
		count += c->before != NULL;
		*ret_size += json_dumpb(c->before, NULL, 0, JSON_COMPACT);
	}
	return count;
}

static bool parse_id(struct request *r, const struct sandbox *s, const json_t *body, char *ret_id)
{
	size_t size;
	const char *id;
	if (!body_text(r, body, "id", &id))
		return false;
	if (id && !sandbox_is_session(id))
		return sandbox_refuse(r, 400, "invalid_request", "Invalid session ID format");
	if (id && json_object_get(s->sessions, id))
		return sandbox_refuse(
			r, 502, "session_error", "session create failed: it already exists");
	if (measure(s, &size) >= SESSIONS_MAX)
		return sandbox_refuse(r, 429, "capacity_exceeded",
			"The sandbox has too many sessions: at most 64");
	if (!id && !sandbox_new_id(ret_id))
		return sandbox_refuse(r, 502, "session_error", "There are no random bytes");
	if (id)
		snprintf(ret_id, NAME_ID_MAX + 1, "%s", id);
	return true;
}

static bool parse_env(struct request *r, const json_t *body, json_t **ret_env)
{
	struct body_environment *env = malloc(sizeof *env);
	if (!env)
		return refuse_memory(r);
	bool good = body_environment(r, body, "env", env);
	free(env);
	*ret_env = json_object_get(body, "env");
	if (!good || !*ret_env)
		return good;
	return json_dumpb(*ret_env, NULL, 0, JSON_COMPACT) <= ENV_SIZE_MAX ||
		sandbox_refuse(
			r, 400, "invalid_request", "env must have at most 65536 bytes as JSON");
}

static void create_in(struct request *r, struct sandbox *s, void *user)
{
	char id[NAME_ID_MAX + 1], path[PLACE_PATH_MAX] = ".";
	size_t size;
	json_t *body = body_read(r), *env = NULL;
	const char *cwd;
	(void)user;
	if (!body || !parse_id(r, s, body, id) || !body_text(r, body, "cwd", &cwd) ||
		!parse_env(r, body, &env))
		return;
	if (cwd && !sandbox_path(cwd, path)) {
		sandbox_refuse(r, 403, "invalid_request",
			"cwd must resolve to a location within /workspace");
		return;
	}
	json_t *made = json_pack("{s:s}", "cwd", path);
	if (json_is_object(env))
		json_object_set(made, "env", env);
	if (!s->sessions)
		s->sessions = json_object();
	if (json_object_set_new(s->sessions, id, made) < 0) {
		refuse_memory(r);
	} else if (measure(s, &size) > 0 && size > ALL_SIZE_MAX) {
		json_object_del(s->sessions, id);
		sandbox_refuse(r, 429, "capacity_exceeded",
			"The variables of all sessions exceed 262144 bytes as JSON");
	} else {
		answer_when_written(r, s, id, NULL);
	}
}

static void create_session(struct request *r)
{
	sandbox_use(r, create_in, NULL);
}

static void delete_in(struct request *r, struct sandbox *s, void *user)
{
	(void)user;
	json_t *session = json_incref(json_object_get(s->sessions, r->match.item));
	if (session) {
		json_object_del(s->sessions, r->match.item);
		answer_when_written(r, s, r->match.item, session);
	} else {
		sandbox_refuse(r, 502, "session_error", "session delete failed: Session not found");
	}
	json_decref(session);
}

static void delete_session(struct request *r)
{
	sandbox_use(r, delete_in, NULL);
}

const struct route_row api_bridge_session_rows[] = {
	{METHOD_POST, "/v1/sandbox/{}/session", ROUTE_OWNER, .plain = create_session},
	{METHOD_DELETE, "/v1/sandbox/{}/session/{}", ROUTE_OWNER, .plain = delete_session},
	{.path = NULL},
};
