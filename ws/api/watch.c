/*
 * Watching files: POST /api/watch streams the changes below a directory, POST /api/watch/check says whether there were
 * changes since an earlier check. Both follow a watch (shell/watch/watch.h) and wait until the kernel watches its
 * directories.
 */
#include "shell/bounds.h"
#include "shell/own_error.h"
#include "shell/watch/watch.h"
#include "ws/api/api.h"
#include "ws/json/session.h"
#include "ws/api/later/pending.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/workspace.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MAX_MS 10000u                /* until the kernel watches all directories */
#define KEPT_MS (UINT64_C(10) * 60 * 1000) /* lifetime of a watch after the last check */
#define SINCE_MAX 96u                      /* bytes of a version */

/* The fields of a request. */
struct params {
	struct watch_filter filter;
	char path[BODY_PATH_MAX];  /* for messages and events */
	char place[BODY_PATH_MAX]; /* on this machine */
	const char *since;         /* borrowed; NULL: absent */
};

/* A stream, or a check that waits. */
struct following {
	struct watch_follower follower;
	struct pending pending;
	struct api *api;
	char *path;            /* in events; owned */
	char since[SINCE_MAX]; /* of a check */
	bool check, outside;   /* outside: of the workspace, by the text of the path */
	bool late;             /* the watch did not begin in time */
	bool begun, complete;  /* of a stream */
};

/* Answers */

static void refuse_outside(struct request *r, const struct following *f, const char *where)
{
	reply_error(r, "PERMISSION_DENIED", "The path is outside of the workspace",
		json_pack("{s:o, s:o, s:s}", "path", text_string_json(f->path), "resolvedPath",
			text_string_json(where && *where ? where : f->path), "workspaceRoot",
			f->api->workspace));
}

/* Why a watch failed. */
static const char *failure_text(int error)
{
	switch (error) {
	case -ENOSPC:
		return "The limit of watched directories is reached (fs.inotify.max_user_watches)";
	case -EMFILE:
		return "The limit of inotify instances (fs.inotify.max_user_instances) or of descriptors is reached";
	case -ERR_LIMIT:
		return "There are too many directories to watch: exclude some";
	case -ETIMEDOUT:
		return "Not all directories could be watched in time";
	case -ERR_FILES_STUCK:
		return "A disk does not answer";
	default:
		return error_text(error);
	}
}

static void refuse_failure(
	struct request *r, const struct following *f, int error, const char *where)
{
	char message[512];
	json_t *context = json_pack("{s:o}", "path", text_string_json(f->path));
	if (error == -EPERM || (f->outside && error != -ENOMEM)) {
		json_decref(context);
		refuse_outside(r, f, where);
	} else if (error == -ENOENT || error == -ENOTDIR || error == -ELOOP) {
		json_object_set_new(context, "operation", json_string("file.stat"));
		reply_error(r, "FILE_NOT_FOUND", "There is no such file or directory", context);
	} else if (error == -EACCES) {
		reply_error(r, "PERMISSION_DENIED", "The path cannot be read", context);
	} else {
		snprintf(message, sizeof message, "The path cannot be watched: %s",
			failure_text(error));
		reply_error(r, "WATCH_START_ERROR", message, context);
	}
}

static void finish(struct following *f)
{
	watch_unfollow(&f->follower);
	free(f->path);
	f->path = NULL;
	pending_end(&f->pending);
}

/* Streams */

static json_t *path_json(json_t *event, const char *path, size_t length)
{
	struct text_decoder d = {.held_count = 0};
	json_object_set_new(event, "path", text_json(&d, path, length, true));
	if (d.lossy)
		json_object_set_new(event, "pathBase64", base64_json(path, length));
	return event;
}

static json_t *event_json(const struct watch_event *e)
{
	json_t *event = json_pack("{s:s, s:s, s:b, s:o}", "type", "event", "eventType",
		watch_type_name(e->type), "isDirectory", e->is_directory, "timestamp",
		time_json(e->at_ms));
	return path_json(event, e->path, e->length);
}

static json_t *watching_json(const struct following *f)
{
	const struct watch *w = f->follower.watch;
	json_t *event = json_pack("{s:s, s:s}", "type", "watching", "watchId", watch_id(w));
	if (watch_unwatched(w) > 0)
		json_object_set_new(event, "unwatched", json_integer(watch_unwatched(w)));
	return path_json(event, f->path, strlen(f->path));
}

static json_t *end_json(const struct watch_follower *f)
{
	static const char *const reasons[] = {
		[SOURCE_DELETED] = "The watched directory has been deleted",
		[SOURCE_MOVED] = "The watched directory has been moved",
		[SOURCE_UNMOUNTED] = "The file system has been unmounted"};
	if (f->end == SOURCE_FAILED)
		return json_pack("{s:s, s:s}", "type", "error", "error", failure_text(f->error));
	return json_pack("{s:s, s:s}", "type", "stopped", "reason", reasons[f->end]);
}

static json_t *next_json(struct following *f)
{
	struct watch_event *e;
	json_t *event;
	if (f->late) {
		f->complete = true;
		return json_pack("{s:s, s:s}", "type", "error", "error", failure_text(-ETIMEDOUT));
	}
	switch (watch_follower_next(&f->follower, &e)) {
	case FOLLOW_WATCHING:
		return watching_json(f);
	case FOLLOW_EVENT:
		event = event_json(e);
		watch_event_unref(e);
		return event;
	case FOLLOW_RESYNC:
		return json_pack("{s:s, s:s}", "type", "resync", "reason", "overflow");
	case FOLLOW_END:
		f->complete = true;
		return end_json(&f->follower);
	default:
		return NULL;
	}
}

static char *next_event(void *user)
{
	struct following *f = user;
	if (f->complete)
		return NULL;
	char *text = dump_json(next_json(f));
	/* No reply_stream_complete() here: the transport is already pulling. */
	if (f->complete)
		f->pending.request->stream_complete = true;
	return text;
}

/* The stream has ended, or the client is gone. */
static void on_gone(void *user)
{
	finish(user);
}

static void on_late(void *user)
{
	struct following *f = user;
	struct request *r = f->pending.request;
	f->late = !f->follower.reported_watching;
	if (f->late && f->begun) {
		reply_stream_more(r);
	} else if (f->late) {
		r->gone = NULL;
		refuse_failure(r, f, -ETIMEDOUT, "");
		finish(f);
	}
}

static void begin_stream(struct following *f)
{
	struct request *r = f->pending.request;
	r->gone = NULL;
	f->begun = true;
	reply_stream(r, &(struct event_stream){.next = next_event, .closed = on_gone, .user = f});
}

/* Checks */

/* Parse "WATCH-ID:COUNT". */
static bool parse_version(const char *text, char ret_id[WATCH_ID_SIZE], uint64_t *ret_count)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	if (length == 0 || length >= WATCH_ID_SIZE || strncmp(text, "watch-", 6) != 0)
		return false;
	memcpy(ret_id, text, length);
	ret_id[length] = '\0';
	return strspn(ret_id + 6, "0123456789-") == length - 6 &&
		params_number(colon + 1, INT64_MAX, ret_count);
}

static void answer_check(struct following *f, struct request *r)
{
	const struct watch *w = f->follower.watch;
	const char *status = "unchanged", *reason = NULL;
	char id[WATCH_ID_SIZE], version[SINCE_MAX];
	uint64_t count = 0, now = watch_version(w);
	if (f->since[0] && parse_version(f->since, id, &count)) {
		bool same = strcmp(id, watch_id(w)) == 0;
		if (same && count > now) {
			reply_invalid(
				r, "since", "The version is newer than the current one", "invalid");
			return;
		}
		if (!same)
			reason = watch_is_initiator(&f->follower) ? "expired" : "restarted";
		status = !same ? "resync" : count < now ? "changed" : status;
	}
	snprintf(version, sizeof version, "%s:%" PRIu64, watch_id(w), now);
	json_t *body = json_pack("{s:s, s:s}", "status", status, "version", version);
	if (reason)
		json_object_set_new(body, "reason", json_string(reason));
	reply_success(r, body);
}

/* Answer a check if the watch has begun, ended or timed out. */
static void try_check(struct following *f)
{
	struct watch_event *e;
	struct request *r = f->pending.request;
	enum watch_follower_kind kind = watch_follower_next(&f->follower, &e);
	if (kind == FOLLOW_EVENT)
		watch_event_unref(e); /* the watch ended before it had begun */
	if (kind == FOLLOW_NOTHING && !f->late)
		return;
	r->gone = NULL;
	if (kind == FOLLOW_WATCHING && watch_is_stuck(f->follower.watch)) {
		refuse_failure(r, f, -ERR_FILES_STUCK, "");
	} else if (kind == FOLLOW_WATCHING) {
		watch_keep(f->follower.watch, KEPT_MS);
		answer_check(f, r);
	} else {
		refuse_failure(r, f,
			f->late                     ? -ETIMEDOUT
				: f->follower.error ? f->follower.error
						    : -ENOENT,
			"");
	}
	finish(f);
}

static void on_check_late(void *user)
{
	struct following *f = user;
	f->late = true;
	try_check(f);
}

/* Both */

static void on_more(void *user)
{
	struct following *f = user;
	if (f->check)
		try_check(f);
	else
		reply_stream_more(f->pending.request);
}

static void begin_answer(struct following *f)
{
	if (f->check)
		try_check(f);
	else
		begin_stream(f);
}

static void on_found(void *user, int error, const char *where)
{
	struct following *f = user;
	if (error == 0) {
		begin_answer(f);
		return;
	}
	f->pending.request->gone = NULL;
	refuse_failure(f->pending.request, f, error, where);
	finish(f);
}

static void follow(struct api *a, struct request *r, const struct params *params, bool check)
{
	/* Watches see the files of the server, not those of a sandbox. */
	if (a->sessions->config.bounds->isolation && r->principal.session[0]) {
		reply_error(r, "PERMISSION_DENIED",
			"With --isolate, links cannot watch files: each session has its own files",
			NULL);
		return;
	}
	struct following *f = calloc(1, sizeof *f);
	char *path = f ? strdup(params->path) : NULL;
	if (!path) {
		free(f);
		refuse_memory(r);
		return;
	}
	f->api = a;
	f->path = path;
	f->check = check;
	f->outside = !workspace_contains(a->workspace, params->place);
	snprintf(f->since, sizeof f->since, "%s", params->since ? params->since : "");
	f->follower.found = on_found;
	f->follower.more = on_more;
	f->follower.user = f;
	pending_open(&f->pending, a->announce.loop, r, f, NULL);
	pending_after(&f->pending, BEGIN_MAX_MS, check ? on_check_late : on_late);
	char owner[CREW_OWNER_SIZE - 24]; /* the watch appends a disk's name */
	access_owner_key(&r->principal, r->principal.session, owner, sizeof owner);
	int rc = watches_follow(a->watches, &params->filter,
		&(struct watch_place){.path = params->path, .real = params->place, .owner = owner},
		&f->follower);
	if (rc == -ERR_LIMIT)
		reply_error(r, "LIMIT_REACHED", "Too many directories are being watched",
			json_pack("{s:i, s:i}", "maxWatches", (int)WATCHES_MAX, "maxFollowers",
				(int)WATCH_FOLLOWERS_MAX));
	else if (rc == -ENOMEM)
		refuse_memory(r);
	else if (rc < 0)
		refuse_failure(r, f, rc, "");
	if (rc < 0) {
		finish(f);
		return;
	}
	r->gone = on_gone;
	r->gone_user = f;
	if (rc == 1)
		begin_answer(f);
}

/* Requests */

static bool is_blank(char c)
{
	return c != '\0' && strchr(" \t\r\n\v\f", c) != NULL;
}

static bool parse_path(struct api *a, struct request *r, const json_t *body, struct params *params)
{
	char trimmed[BODY_PATH_MAX];
	const char *path;
	if (!body_text(r, body, "path", &path))
		return false;
	while (path && is_blank(*path))
		path++;
	size_t length = path ? strlen(path) : 0;
	while (length > 0 && is_blank(path[length - 1]))
		length--;
	if (length == 0)
		return reply_invalid(r, "path", "A path is required", "required");
	if (length < sizeof trimmed) {
		memcpy(trimmed, path, length);
		trimmed[length] = '\0';
		if (workspace_join(a->workspace, trimmed, params->path) &&
			workspace_resolve(a->alias, params->path, params->place))
			return true;
	}
	return reply_invalid(r, "path", "The path is too long", "INVALID_PATH");
}

/* Parse a list of strings. *ret_count: 0 if it is absent or empty. */
static bool parse_list(struct request *r, const json_t *body, const char *field, size_t most,
	const json_t **ret_list, size_t *ret_count)
{
	char message[80];
	const json_t *list = json_object_get(body, field);
	*ret_list = list;
	*ret_count = 0;
	if (!list || json_is_null(list))
		return true;
	bool good = json_is_array(list) && json_array_size(list) <= most;
	for (size_t i = 0; good && i < json_array_size(list); i++)
		good = json_is_string(json_array_get(list, i));
	snprintf(message, sizeof message, "Must be a list of at most %zu strings", most);
	if (!good)
		reply_invalid(r, field, message, "invalid");
	*ret_count = good ? json_array_size(list) : 0;
	return good;
}

static bool parse_patterns(struct request *r, const char *field, const json_t *list, size_t count,
	struct watch_filter *f)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *each = json_array_get(list, i);
		if (!path_pattern_is_valid(json_string_value(each), json_string_length(each)))
			return reply_invalid(r, field,
				"A pattern is 1 to 256 bytes, not blank, with *, ** and ? only: no NUL, [ ] { }",
				"invalid");
		path_pattern_prepare(
			&f->patterns[i], json_string_value(each), json_string_length(each));
	}
	f->patterns_count = (unsigned)count;
	return true;
}

static bool parse_types(struct request *r, const json_t *body, struct watch_filter *f)
{
	const json_t *list;
	size_t count;
	if (!parse_list(r, body, "events", WATCH_TYPES, &list, &count))
		return false;
	f->types = count > 0 ? 0 : WATCH_TYPES_DEFAULT;
	for (size_t i = 0; i < count; i++) {
		const json_t *each = json_array_get(list, i);
		enum watch_type type = watch_type_parse(json_string_value(each));
		if (type == WATCH_TYPES ||
			strlen(json_string_value(each)) != json_string_length(each))
			return reply_invalid(r, "events",
				"Must be create, modify, delete, move_from, move_to or attrib",
				"invalid");
		f->types |= 1u << type;
	}
	return true;
}

static bool parse_filter(struct request *r, const json_t *body, struct watch_filter *f)
{
	const json_t *include, *exclude;
	size_t included, excluded;
	f->recursive = true;
	if (!body_flag(r, body, "recursive", &f->recursive) ||
		!parse_list(r, body, "include", WATCH_PATTERNS_MAX, &include, &included) ||
		!parse_list(r, body, "exclude", WATCH_PATTERNS_MAX, &exclude, &excluded) ||
		!parse_types(r, body, f))
		return false;
	if (included > 0 && excluded > 0)
		return reply_invalid(r, "exclude", "Cannot be combined with include", "invalid");
	f->include = included > 0;
	if (included > 0)
		return parse_patterns(r, "include", include, included, f);
	if (json_is_array(exclude))
		return parse_patterns(r, "exclude", exclude, excluded, f);
	watch_filter_default(f);
	return true;
}

static bool parse_since(struct request *r, const json_t *body, struct params *params)
{
	char id[WATCH_ID_SIZE];
	uint64_t count;
	if (!body_text(r, body, "since", &params->since))
		return false;
	if (!params->since ||
		(strlen(params->since) < SINCE_MAX && parse_version(params->since, id, &count)))
		return true;
	return reply_invalid(
		r, "since", "Must be a version that an earlier check has returned", "invalid");
}

static void handle(struct request *r, bool check)
{
	struct api *a = api_of(r);
	struct params *params = request_alloc(r, sizeof *params);
	json_t *body = params ? body_read(r) : NULL;
	if (body && parse_path(a, r, body, params) && parse_filter(r, body, &params->filter) &&
		(!check || parse_since(r, body, params)))
		follow(a, r, params, check);
	free(params);
}

static void watch_files(struct request *r)
{
	handle(r, false);
}

static void check_files(struct request *r)
{
	handle(r, true);
}

const struct route_row api_watch_rows[] = {
	{METHOD_POST, "/api/watch", ROUTE_OWNER_OR_TRUSTED, .plain = watch_files},
	{METHOD_POST, "/api/watch/check", ROUTE_OWNER_OR_TRUSTED, .plain = check_files},
	{.path = NULL},
};
