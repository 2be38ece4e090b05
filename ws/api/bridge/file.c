/* GET and PUT /v1/sandbox/ID/file/PATH: a file of a sandbox. */
#include "shell/files/content.h"
#include "shell/files/crew.h"
#include "shell/files/replace.h"
#include "ws/api/bridge/body.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARKER "/file/"

struct call {
	struct job job;
	struct sandbox_run entry; /* of a PUT */
	struct api *api;
	struct request *request; /* our reference */
	struct place place;
	char path[PLACE_PATH_MAX]; /* relative to the root */
	bool writes;
	char *bytes; /* owned; of a PUT: for bridge_body_free() */
	size_t length;
	int error;
};

static void destroy(struct call *c)
{
	sandbox_leave(&c->entry);
	if (c->writes)
		bridge_body_free(c->api->bridge, c->bytes);
	else
		free(c->bytes);
	request_unref(c->request);
	free(c);
}

static void refuse(const struct call *c, int error)
{
	struct request *r = c->request;
	char message[PLACE_PATH_MAX + 64];
	bool gone = error == -ENOENT || error == -ENOTDIR;
	if (error == -EXDEV) {
		sandbox_refuse(r, 403, "invalid_request",
			"path must resolve to a location within /workspace");
	} else if (gone && !c->writes) {
		snprintf(message, sizeof message, "File not found: /workspace/%s", c->path);
		sandbox_refuse(r, 404, "workspace_read_not_found", message);
	} else if (error == -EISDIR || error == -EINVAL || error == -EBUSY) {
		snprintf(message, sizeof message, "/workspace/%s is not a regular file", c->path);
		sandbox_refuse(r, 400, "invalid_request", message);
	} else if (error == -EFBIG) {
		sandbox_refuse(r, 413, "payload_too_large", "The file has more than 33554432 bytes");
	} else {
		sandbox_refuse_error(r,
			c->writes ? "workspace_archive_write_error" : "exec_transport_error",
			c->writes ? "write failed" : "read failed", error);
	}
}

static int load(struct call *c)
{
	struct content content;
	int rc = content_open(&c->place, c->path, &content);
	if (rc < 0)
		return rc;
	rc = content_load(&content, BRIDGE_BODY_MAX, &c->bytes, &c->length);
	content_close(&content);
	return rc;
}

static int store(struct call *c)
{
	struct replace to;
	int rc = replace_open(&c->place, c->path, &(struct replace_options){.parents = true}, &to);
	if (rc < 0)
		return rc;
	rc = c->length > 0 ? replace_write(&to, c->bytes, c->length) : 0;
	if (rc == 0)
		return replace_commit(&to);
	replace_abort(&to);
	return rc;
}

static void on_work(struct job *job)
{
	struct call *c = (struct call *)job;
	c->error = place_enter(&c->place);
	if (c->error < 0)
		return;
	c->error = c->writes ? store(c) : load(c);
	place_leave(&c->place);
}

static void on_done(struct job *job, int error)
{
	struct call *c = (struct call *)job;
	struct request *r = c->request;
	if (error == 0)
		error = c->error;
	if (r->done) {
		destroy(c);
		return;
	}
	if (error < 0) {
		refuse(c, error);
	} else if (c->writes) {
		reply_json(r, 200, json_pack("{s:b}", "ok", 1));
	} else {
		char *bytes = c->bytes;
		c->bytes = NULL;
		reply_header(r, "Content-Disposition", "attachment");
		reply_header(r, "Content-Security-Policy", "sandbox; default-src 'none'");
		reply_bytes(r, 200, "application/octet-stream", bytes, c->length, bytes);
	}
	destroy(c);
}

static void submit(struct call *c)
{
	c->job.work = on_work;
	c->job.done = on_done;
	int rc = crew_send(c->api->crew, &c->job);
	if (rc == 0)
		return;
	refuse(c, rc);
	destroy(c);
}

/* Parse the file in r's URL. Returns false after it has answered r. */
static bool parse_path(struct call *c, const struct sandbox *s)
{
	struct request *r = c->request;
	struct sandbox_session session;
	const char *path = strstr(r->path, MARKER) + sizeof MARKER - 2;
	if (!sandbox_session_of(r, s, &session))
		return false;
	sandbox_place(s, &c->place);
	if (!path[1])
		return sandbox_refuse(r, 400, "invalid_request", "file path must not be empty");
	if (!sandbox_path(path, c->path))
		return sandbox_refuse(r, 403, "invalid_request",
			"path must resolve to a location within /workspace");
	if (strcmp(c->path, ".") == 0)
		return sandbox_refuse(r, 400, "invalid_request", "/workspace is not a regular file");
	return true;
}

static struct call *begin(struct request *r, const struct sandbox *s)
{
	struct call *c = request_alloc(r, sizeof *c);
	if (!c)
		return NULL;
	c->api = api_of(r);
	c->request = request_ref(r);
	access_owner_key(&r->principal, s->id, c->job.owner, sizeof c->job.owner);
	if (parse_path(c, s))
		return c;
	destroy(c);
	return NULL;
}

static void get_in(struct request *r, struct sandbox *s, void *user)
{
	(void)user;
	struct call *c = begin(r, s);
	if (c)
		submit(c);
}

static void get_file(struct request *r)
{
	sandbox_use(r, get_in, NULL);
}

static void on_body(struct request *r, void *user, char *bytes, size_t length)
{
	struct call *c = user;
	c->request = request_ref(r);
	c->writes = true;
	c->bytes = bytes;
	c->length = length;
	struct sandbox *s = sandbox_find_again(c->api->bridge, r);
	if (!s) {
		destroy(c);
		return;
	}
	sandbox_enter(s, &c->entry, NULL);
	submit(c);
}

static void put_in(struct request *r, struct sandbox *s, void *user)
{
	(void)user;
	struct call *c = begin(r, s);
	if (!c)
		return;
	/* bridge_body_receive() holds a reference until the body is complete. */
	request_unref(c->request);
	c->request = NULL;
	bridge_body_receive(c->api->bridge, r, on_body, c);
}

static void put_file(struct request *r)
{
	sandbox_use(r, put_in, NULL);
}

const struct route_row api_bridge_file_rows[] = {
	{METHOD_GET, "/v1/sandbox/{}/file/{}", ROUTE_OWNER, .plain = get_file, .rest = true},
	{METHOD_PUT, "/v1/sandbox/{}/file/{}", ROUTE_OWNER, .plain = put_file, .rest = true,
		.upload = true, .upload_max = BRIDGE_BODY_MAX},
	{.path = NULL},
};
