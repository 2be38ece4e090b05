/*
 * PUT /api/file/PATH: a file of any size, written one piece at a time. The old file stays until
 * the new one is complete and synced. Conditions are checked before the body is read, and again
 * when the file is replaced.
 */
#include "shell/files/replace.h"
#include "shell/own_error.h"
#include "ws/api/files/call.h"
#include "ws/api/files/condition.h"
#include "ws/api/files/unpack.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file_upload {
	struct job job;
	struct file_call *call;
	struct replace to;
	char *bytes; /* the current piece; owned */
	size_t length, capacity;
	uint64_t total;
	struct stat st; /* of the new file */
	int error;
	bool busy;     /* the job is on a thread */
	bool complete; /* the body has ended */
	bool aborted;  /* the body will not be complete */
};

static void destroy(struct file_upload *u)
{
	u->call->api->file_streams--;
	free(u->bytes);
	file_call_free(u->call);
	free(u);
}

/* Before the body */

static bool parse_query(struct file_call *c)
{
	return query_flag(c->request, "parents", &c->recursive);
}

/* Stat the file that conditions are about; links are followed. */
static int stat_target(struct file_call *c, struct stat *st, bool *ret_there)
{
	int fd = place_open(&c->place, c->path, O_PATH, 0);
	*ret_there = fd >= 0;
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	int rc = fstat(fd, st) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static int open_target(struct file_call *c)
{
	const struct request *r = c->request;
	struct stat st;
	bool there;
	struct replace_options options = {.parents = c->recursive};
	struct file_upload *u = calloc(1, sizeof *u);
	int rc = u ? stat_target(c, &st, &there) : -ENOMEM;
	if (rc == 0 && condition_check(r, there ? &st : NULL, false) != CONDITION_MET)
		rc = -ERR_CHANGED;
	if (rc == 0 &&
		(r->headers[HEADER_IF_MATCH] || r->headers[HEADER_IF_UNMODIFIED_SINCE] ||
			r->headers[HEADER_IF_NONE_MATCH]))
		options.only = there ? REPLACE_SAME : REPLACE_NEW;
	if (rc == 0)
		rc = replace_open(&c->place, c->path, &options, &u->to);
	if (rc < 0) {
		free(u);
		return rc;
	}
	if (options.only == REPLACE_SAME && !replace_is_same(&st, &u->to.old)) {
		replace_abort(&u->to);
		free(u);
		return -ERR_CHANGED;
	}
	c->upload = u;
	return 0;
}

static bool refuse(struct file_call *c, int error)
{
	char message[PLACE_PATH_MAX + 64];
	bool changed = error == -ERR_CHANGED || error == -EEXIST;
	if (!changed && error != -EISDIR)
		return false;
	snprintf(message, sizeof message,
		changed ? "%s does not match the condition of the request" : "%s is a directory",
		c->path);
	reply_error(c->request, changed ? "PRECONDITION_FAILED" : "IS_DIRECTORY", message,
		file_context(c));
	return true;
}

/* The end */

static void on_abort(struct job *job)
{
	struct file_upload *u = (struct file_upload *)job;
	replace_abort(&u->to);
}

static void on_destroyed(struct job *job, int error)
{
	struct file_upload *u = (struct file_upload *)job;
	if (error < 0)
		replace_abort(&u->to);
	destroy(u);
}

/* Delete the new file on a thread: unlinking a large file takes time. */
static void give_up(struct file_upload *u)
{
	u->job.work = on_abort;
	u->job.done = on_destroyed;
	crew_send_required(u->call->api->crew, &u->job);
}

static void fail(struct file_upload *u, int error)
{
	if (!refuse(u->call, error))
		file_call_refuse(u->call, error);
	give_up(u);
}

static void on_commit(struct job *job)
{
	struct file_upload *u = (struct file_upload *)job;
	if (fstat(u->to.fd, &u->st) < 0) {
		u->error = -errno;
		replace_abort(&u->to);
	} else {
		u->error = replace_commit(&u->to);
	}
}

static void on_committed(struct job *job, int error)
{
	struct file_upload *u = (struct file_upload *)job;
	struct request *r = u->call->request;
	char tag[CONDITION_ETAG_SIZE];
	if (error < 0) {
		fail(u, error);
		return;
	}
	error = u->error;
	if (error == 0) {
		condition_etag(&u->st, tag);
		if (!u->to.in_place)
			reply_header(r, "ETag", tag);
		reply_success(r,
			json_pack("{s:s, s:I, s:b}", "path", u->call->path, "size",
				(json_int_t)u->total, "created", !u->to.existed));
	} else if (!refuse(u->call, error)) {
		file_call_refuse(u->call, error);
	}
	destroy(u);
}

static void commit(struct file_upload *u)
{
	u->job.work = on_commit;
	u->job.done = on_committed;
	int rc = crew_send(u->call->api->crew, &u->job);
	if (rc < 0)
		fail(u, rc);
}

/* The body */

static void on_write(struct job *job)
{
	struct file_upload *u = (struct file_upload *)job;
	u->error = replace_write(&u->to, u->bytes, u->length);
}

static void on_wrote(struct job *job, int error)
{
	struct file_upload *u = (struct file_upload *)job;
	u->busy = false;
	u->total += u->length;
	if (error == 0)
		error = u->error == -EAGAIN ? -ENOBUFS : u->error;
	if (u->aborted)
		give_up(u);
	else if (error < 0)
		fail(u, error);
	else if (u->complete)
		commit(u);
	else
		upload_resume(u->call->request);
}

static void on_piece(void *user, const char *bytes, size_t length)
{
	struct file_upload *u = user;
	int rc = 0;
	if (length > u->capacity) {
		char *more = realloc(u->bytes, length);
		rc = more ? 0 : -ENOMEM;
		u->bytes = more ? more : u->bytes;
		u->capacity = more ? length : u->capacity;
	}
	if (rc == 0) {
		memcpy(u->bytes, bytes, length);
		u->length = length;
		u->job.work = on_write;
		u->job.done = on_wrote;
		rc = crew_send(u->call->api->crew, &u->job);
	}
	u->busy = rc == 0;
	if (rc < 0)
		fail(u, rc);
	else
		upload_pause(u->call->request);
}

static void on_complete(void *user)
{
	struct file_upload *u = user;
	u->complete = true;
	if (!u->busy)
		commit(u);
}

static void on_broken(void *user, enum upload_end why)
{
	struct file_upload *u = user;
	(void)why;
	u->aborted = true;
	if (!u->busy)
		give_up(u);
}

static void receive_file(struct file_call *c)
{
	struct file_upload *u = c->upload;
	c->upload = NULL;
	u->call = c;
	memcpy(u->job.owner, c->job.owner, sizeof u->job.owner);
	c->api->file_streams++;
	if (c->api->file_streams > api_share(c->request, FILE_STREAMS_MAX)) {
		reply_error(c->request, "LIMIT_REACHED", "Too many files are being read or written",
			NULL);
		give_up(u);
		return;
	}
	upload_begin(c->request,
		&(struct upload_sink){
			.piece = on_piece, .complete = on_complete, .broken = on_broken, .user = u});
}

static void put_file(struct request *r)
{
	static const struct file_action action = {.operation = "file.write",
		.parse = parse_query,
		.work = open_target,
		.reply = receive_file,
		.refuse = refuse};
	bool archive;
	/* Other transports do not carry the If-* headers or raw bytes. */
	if (r->transport && !r->transport->downloading)
		reply_error(r, "NOT_IMPLEMENTED", "Uploads are only available over HTTP", NULL);
	else if (r->headers[HEADER_CONTENT_RANGE]) /* RFC 9110 14.5 */
		reply_invalid(r, "Content-Range", "Not supported: PUT replaces the whole file",
			"invalid");
	else if (!unpack_is_requested(r, &archive))
		return;
	else if (archive)
		unpack_upload(r);
	else
		file_call_url(r, &action);
}

const struct route_row api_file_upload_rows[] = {
	{METHOD_PUT, "/api/file/{}", ROUTE_OWNER_OR_TRUSTED, .plain = put_file, .rest = true,
		.upload = true, .headers = ROUTE_HEADERS_CONDITIONS},
	{.path = NULL},
};
