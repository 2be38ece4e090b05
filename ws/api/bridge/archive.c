/* POST /v1/sandbox/ID/persist and /hydrate: all files of a sandbox as a tar archive, and back. */
#include "shell/files/crew.h"
#include "shell/files/pack.h"
#include "shell/files/unpack.h"
#include "shell/own_error.h"
#include "ws/api/bridge/body.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/api/later/tar_stream.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXCLUDES_MAX 1024u
#define HYDRATE_BYTES_MAX ((uint64_t)1 << 30) /* of all files; an archive may be sparse */

/* Packing */

struct persistence {
	struct job job;
	struct sandbox_run entry;
	struct api *api;
	struct request *request; /* our reference */
	struct place place;
	struct pack *pack;         /* owned until it is sent */
	struct tar_stream *stream; /* NULL: not started */
	struct quota_place quota;
	char *excludes; /* separated by commas; owned, or NULL */
	int error;
	bool stopped; /* the sandbox is being deleted */
};

static void destroy_persistence(struct persistence *p)
{
	sandbox_leave(&p->entry);
	quota_release(&p->quota);
	pack_close(p->pack);
	request_unref(p->request);
	free(p->excludes);
	free(p);
}

/* Whether a name is in the list. The packer does not ask for names below an excluded one. */
static bool is_excluded(void *user, const char *name)
{
	const char *e = user;
	size_t length = strlen(name);
	while (*e) {
		size_t n = strcspn(e, ",");
		const char *one = e;
		e += n + (e[n] == ',');
		if (n > 1 && strncmp(one, "./", 2) == 0)
			one += 2, n -= 2;
		while (n > 0 && one[n - 1] == '/')
			n--;
		if (n == length && strncmp(one, name, n) == 0)
			return true;
	}
	return false;
}

static void on_pack(struct job *job)
{
	struct persistence *p = (struct persistence *)job;
	struct pack_options options = {
		.excludes = p->excludes ? is_excluded : NULL, .user = p->excludes};
	p->error = place_enter(&p->place);
	if (p->error < 0)
		return;
	p->error = pack_open(&p->place, ".", &options, &p->pack);
	place_leave(&p->place);
}

static void on_sent(void *user)
{
	destroy_persistence(user);
}

static void on_packable(struct job *job, int error)
{
	struct persistence *p = (struct persistence *)job;
	struct request *r = p->request;
	struct pack *pack = p->pack;
	const struct tar_stream_options options = {.crew = p->api->crew,
		.owner = p->job.owner,
		.type = "application/octet-stream",
		.module = "bridge",
		.partial = true, /* programs may change files meanwhile */
		.ended = on_sent,
		.user = p};
	if (error == 0)
		error = p->stopped ? -ECANCELED : p->error;
	if (r->done || error < 0) {
		if (!r->done)
			sandbox_refuse_error(
				r, "workspace_archive_read_error", "persist failed", error);
		destroy_persistence(p);
		return;
	}
	p->pack = NULL;
	if (tar_stream_reply(r, pack, &options, &p->stream) < 0) {
		refuse_memory(r);
		destroy_persistence(p);
	}
}

static void end_persistence(struct sandbox_run *entry)
{
	void *whole = (char *)entry - offsetof(struct persistence, entry);
	struct persistence *p = whole;
	p->stopped = true;
	if (p->stream)
		tar_stream_stop(p->stream);
}

/* Returns false after it has answered r. */
static bool check_excludes(struct request *r, const char *excludes)
{
	size_t count = 0;
	for (const char *c = excludes; c && (c = strchr(c, ',')); c++)
		count++;
	if (excludes && strstr(excludes, ".."))
		return sandbox_refuse(
			r, 400, "invalid_request", "exclude paths must not contain \"..\"");
	if (count >= EXCLUDES_MAX)
		return sandbox_refuse(
			r, 400, "invalid_request", "Too many exclude paths: at most 1024");
	return true;
}

static void persist_in(struct request *r, struct sandbox *s, void *user)
{
	const char *excludes = request_param(r, "excludes");
	(void)user;
	if (!check_excludes(r, excludes))
		return;
	struct persistence *p = calloc(1, sizeof *p);
	if (p)
		p->excludes = excludes ? strdup(excludes) : NULL;
	if (!p || (excludes && !p->excludes)) {
		free(p);
		refuse_memory(r);
		return;
	}
	p->api = api_of(r);
	p->request = request_ref(r);
	sandbox_place(s, &p->place);
	p->job = (struct job){.work = on_pack, .done = on_packable};
	access_owner_key(&r->principal, s->id, p->job.owner, sizeof p->job.owner);
	if (!access_acquire(p->api->access, r, QUOTA_FORKS, &p->quota)) {
		destroy_persistence(p);
		return;
	}
	int rc = crew_send(p->api->crew, &p->job);
	if (rc < 0) {
		sandbox_refuse_error(r, "workspace_archive_read_error", "persist failed", rc);
		destroy_persistence(p);
		return;
	}
	sandbox_enter(s, &p->entry, end_persistence);
}

static void persist(struct request *r)
{
	if (sandbox_check_transport(r))
		sandbox_use(r, persist_in, NULL);
}

/* Unpacking */

struct hydration {
	struct job job;
	struct sandbox_run entry;
	struct api *api;
	struct request *request; /* our reference */
	struct place place;
	char *bytes; /* for bridge_body_free() */
	size_t length;
	struct unpack_result result;
	int error;
};

static void destroy(struct hydration *h)
{
	sandbox_leave(&h->entry);
	bridge_body_free(h->api->bridge, h->bytes);
	request_unref(h->request);
	free(h);
}

static void on_unpack(struct job *job)
{
	struct hydration *h = (struct hydration *)job;
	h->error = place_enter(&h->place);
	if (h->error < 0)
		return;
	h->error = unpack_bytes(&h->place, h->bytes, h->length, HYDRATE_BYTES_MAX, &h->result);
	unpack_finish(&h->result);
	place_leave(&h->place);
}

static void on_unpacked(struct job *job, int error)
{
	struct hydration *h = (struct hydration *)job;
	struct request *r = h->request;
	char message[UNPACK_NAME_MAX + 160];
	if (error == 0)
		error = h->error;
	snprintf(message, sizeof message, "hydrate failed: %s: %s",
		h->result.name[0] ? h->result.name : "the archive",
		error == -EBADMSG         ? "it is damaged or not a tar archive"
			: error == -EXDEV ? "it leads out of /workspace"
					  : error_text(error));
	if (r->done)
		;
	else if (error == 0)
		reply_json(r, 200, json_pack("{s:b}", "ok", 1));
	else if (error == -EBADMSG || error == -EXDEV || error == -EPERM)
		sandbox_refuse(r, 400, "invalid_request", message);
	else
		sandbox_refuse(r, 502, "workspace_archive_write_error", message);
	destroy(h);
}

static void on_body(struct request *r, void *user, char *bytes, size_t length)
{
	struct hydration *h = user;
	h->request = request_ref(r);
	h->bytes = bytes;
	h->length = length;
	h->job.work = on_unpack;
	h->job.done = on_unpacked;
	struct sandbox *s = sandbox_find_again(h->api->bridge, r);
	if (!s) {
		destroy(h);
		return;
	}
	sandbox_enter(s, &h->entry, NULL);
	int rc = length == 0 ? 0 : crew_send(h->api->crew, &h->job);
	if (rc == 0 && length > 0)
		return;
	if (rc < 0)
		sandbox_refuse_error(r, "workspace_archive_write_error", "hydrate failed", rc);
	else
		sandbox_refuse(r, 400, "invalid_request", "Empty tar payload");
	destroy(h);
}

static void hydrate_in(struct request *r, struct sandbox *s, void *user)
{
	struct hydration *h = request_alloc(r, sizeof *h);
	(void)user;
	if (!h)
		return;
	h->api = api_of(r);
	access_owner_key(&r->principal, s->id, h->job.owner, sizeof h->job.owner);
	sandbox_place(s, &h->place);
	bridge_body_receive(h->api->bridge, r, on_body, h);
}

static void hydrate(struct request *r)
{
	sandbox_use(r, hydrate_in, NULL);
}

const struct route_row api_bridge_archive_rows[] = {
	{METHOD_POST, "/v1/sandbox/{}/persist", ROUTE_OWNER, .plain = persist},
	{METHOD_POST, "/v1/sandbox/{}/hydrate", ROUTE_OWNER, .plain = hydrate, .upload = true,
		.upload_max = BRIDGE_BODY_MAX},
	{.path = NULL},
};
