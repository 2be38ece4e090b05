/*
 * GET /api/file/PATH: a file or a range of it, read one piece at a time; on request a directory as
 * a tar archive. Browsers download it and never render it, because a script in the file would run
 * with the rights of the user.
 */
#include "shell/files/pack.h"
#include "ws/api/files/call.h"
#include "ws/api/files/condition.h"
#include "ws/api/later/tar_stream.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/download.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)128 << 10)

struct file_download {
	struct job job;
	struct file_call *call;
	uint64_t offset, end; /* still to be read */
	size_t length;        /* of the piece; 0: none */
	int error;
	bool busy;   /* the job is on a thread */
	bool closed; /* the transport has closed */
	bool at_end; /* end of file */
	char bytes[PIECE];
};

static void destroy(struct file_download *d)
{
	d->call->api->file_streams--;
	file_call_free(d->call);
	free(d);
}

static void on_work(struct job *job)
{
	struct file_download *d = (struct file_download *)job;
	uint64_t left = d->end - d->offset;
	size_t wanted = left < PIECE ? (size_t)left : PIECE;
	d->error = content_read(&d->call->content, d->offset, d->bytes, wanted, &d->length);
	d->at_end = d->error == 0 && d->length < wanted;
	d->offset += d->error == 0 ? d->length : 0;
}

static void on_done(struct job *job, int error)
{
	struct file_download *d = (struct file_download *)job;
	d->busy = false;
	if (error < 0)
		d->error = error;
	if (d->closed)
		destroy(d);
	else
		download_more(d->call->request);
}

static enum download_state next(void *user, const char **ret_bytes, size_t *ret_length)
{
	struct file_download *d = user;
	if (d->busy)
		return DOWNLOAD_WAIT;
	if (d->error < 0)
		return DOWNLOAD_FAILED;
	if (d->length > 0) {
		*ret_bytes = d->bytes;
		*ret_length = d->length;
		d->length = 0;
		return DOWNLOAD_PIECE;
	}
	if (d->at_end || d->offset == d->end)
		return DOWNLOAD_END;
	d->busy = crew_send(d->call->api->crew, &d->job) == 0;
	return d->busy ? DOWNLOAD_WAIT : DOWNLOAD_FAILED;
}

static void on_closed(void *user)
{
	struct file_download *d = user;
	d->closed = true;
	if (!d->busy)
		destroy(d);
}

/* attachment; filename*=UTF-8''NAME, percent-encoded as in RFC 8187. */
static void put_disposition(struct request *r, const char *path, const char *suffix)
{
	static const char prefix[] = "attachment; filename*=UTF-8''";
	char text[sizeof prefix + 3 * NAME_MAX + 8];
	const char *name = strrchr(path, '/');
	size_t length = sizeof prefix - 1;
	memcpy(text, prefix, sizeof prefix);
	for (name = name ? name + 1 : path; *name && length + 12 < sizeof text; name++) {
		unsigned char c = (unsigned char)*name;
		bool plain = isascii(c) && (isalnum(c) || strchr("-._~", c));
		length += (size_t)snprintf(
			text + length, sizeof text - length, plain ? "%c" : "%%%02X", c);
	}
	snprintf(text + length, sizeof text - length, "%s", suffix);
	reply_header(r, "Content-Disposition", text);
}

static void put_tags(struct request *r, const struct stat *st)
{
	char tag[CONDITION_ETAG_SIZE], date[CONDITION_DATE_SIZE];
	condition_etag(st, tag);
	condition_date(st, date);
	reply_header(r, "ETag", tag);
	if (date[0])
		reply_header(r, "Last-Modified", date);
}

/* Answer 304, 412 or 416 if the request has such a condition or range. Returns whether it did. */
static bool reply_without_body(struct file_call *c, enum condition_range range)
{
	struct request *r = c->request;
	const struct stat *st = &c->content.st;
	char text[48];
	switch (condition_check(r, st, true)) {
	case CONDITION_FAILED:
		reply_error(r, "PRECONDITION_FAILED",
			"The file has changed: its ETag or date does not match", file_context(c));
		return true;
	case CONDITION_NOT_MODIFIED:
		put_tags(r, st);
		reply_bytes(r, 304, NULL, "", 0, NULL);
		return true;
	default:
		break;
	}
	if (range != CONDITION_UNSATISFIABLE)
		return false;
	snprintf(text, sizeof text, "bytes */%" PRIu64, (uint64_t)st->st_size);
	reply_header(r, "Content-Range", text);
	reply_error(r, "RANGE_GONE", "The range begins after the end of the file",
		json_pack("{s:I}", "size", (json_int_t)st->st_size));
	return true;
}

static void send_file(struct file_call *c, struct file_download *d, enum condition_range range)
{
	struct request *r = request_ref(c->request);
	const struct stat *st = &c->content.st;
	const char *type = mime_of_name(c->path);
	char text[80];
	put_tags(r, st);
	put_disposition(r, c->path, "");
	reply_header(r, "Accept-Ranges", "bytes");
	reply_header(r, "Content-Security-Policy", "sandbox; default-src 'none'");
	if (range == CONDITION_PART) {
		snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, d->offset,
			d->end - 1, (uint64_t)st->st_size);
		reply_header(r, "Content-Range", text);
	}
	download_reply(r, range == CONDITION_PART ? 206 : 200,
		type ? type : "application/octet-stream",
		d->end == UINT64_MAX ? DOWNLOAD_UNKNOWN : d->end - d->offset,
		&(struct download_source){.next = next, .closed = on_closed, .user = d});
	request_unref(r);
}

/* Archives */

static void on_tar_ended(void *user)
{
	struct file_call *c = user;
	c->api->archives--;
	file_call_free(c);
}

static void send_tar(struct file_call *c)
{
	struct tar_stream *stream;
	struct request *r = c->request;
	struct pack *pack = c->pack;
	const struct tar_stream_options options = {.crew = c->api->crew,
		.owner = c->job.owner,
		.type = "application/x-tar",
		.module = "files",
		.partial = c->partial,
		.ended = on_tar_ended,
		.user = c};
	if (c->api->archives >= api_share(c->request, ARCHIVES_MAX)) {
		reply_error(r, "LIMIT_REACHED", "Too many directories are being sent", NULL);
		file_call_free(c);
		return;
	}
	c->pack = NULL;
	c->api->archives++;
	put_disposition(r, c->path, ".tar");
	reply_header(r, "Content-Security-Policy", "sandbox; default-src 'none'");
	if (tar_stream_reply(r, pack, &options, &stream) < 0) {
		refuse_memory(r);
		on_tar_ended(c);
	}
}

static void reply_file(struct file_call *c)
{
	if (c->pack) {
		send_tar(c);
		return;
	}
	const struct stat *st = &c->content.st;
	uint64_t size = (uint64_t)st->st_size, first = 0, end = size;
	/* A file of /proc has size 0: read it to its end. */
	enum condition_range range = c->endless
		? CONDITION_WHOLE
		: condition_find_range(c->request, st, size, &first, &end);
	if (reply_without_body(c, range)) {
		file_call_free(c);
		return;
	}
	bool has_slot = c->api->file_streams < api_share(c->request, FILE_STREAMS_MAX);
	struct file_download *d = has_slot ? request_alloc(c->request, sizeof *d) : NULL;
	if (!d) {
		if (!has_slot)
			reply_error(
				c->request, "LIMIT_REACHED", "Too many files are being read", NULL);
		file_call_free(c);
		return;
	}
	c->api->file_streams++;
	d->job = (struct job){.work = on_work, .done = on_done};
	memcpy(d->job.owner, c->job.owner, sizeof d->job.owner);
	d->call = c;
	d->offset = first;
	d->end = c->endless ? UINT64_MAX : end;
	send_file(c, d, range);
}

static int open_target(struct file_call *c)
{
	struct content content;
	size_t length = 0;
	char byte;
	int rc = content_open(&c->place, c->path, &content);
	if (rc == -EISDIR && c->tar)
		return pack_open(&c->place, c->path, NULL, &c->pack);
	if (rc == 0 && c->tar_only) {
		content_close(&content);
		return -ENOTSUP; /* -ENOTDIR is about a parent in the path */
	}
	if (rc == 0 && content.st.st_size == 0)
		rc = content_read(&content, 0, &byte, 1, &length);
	else if (rc < 0)
		return rc;
	if (rc < 0)
		content_close(&content);
	else
		c->content = content;
	c->endless = length > 0;
	return rc;
}

static bool refuse(struct file_call *c, int error)
{
	char message[PLACE_PATH_MAX + 64];
	if (error == -ENOTSUP && c->tar_only) {
		reply_error(c->request, "NOT_DIRECTORY", "format=tar requires a directory",
			file_context(c));
		return true;
	}
	if (error != -EISDIR && error != -EINVAL)
		return false;
	bool directory = error == -EISDIR;
	snprintf(message, sizeof message,
		directory ? "%s is a directory" : "File not found: %s is not a regular file",
		c->path);
	reply_error(c->request, directory ? "IS_DIRECTORY" : "FILE_NOT_FOUND", message,
		file_context(c));
	return true;
}

static bool parse_format(struct file_call *c)
{
	static const char *const formats[] = {"bytes", "tar"}, *const unreadable[] = {"fail", "skip"};
	unsigned format = 0, skip = 0;
	if (!query_choice(c->request, "format", formats, 2, &format) ||
		!query_choice(c->request, "unreadable", unreadable, 2, &skip))
		return false;
	c->tar_only = format == 1;
	c->tar = c->tar_only || c->request->accepts_tar;
	c->partial = skip == 1;
	return true;
}

static void get_file(struct request *r)
{
	static const struct file_action action = {.operation = "file.read",
		.parse = parse_format,
		.work = open_target,
		.reply = reply_file,
		.refuse = refuse};
	file_call_url(r, &action);
}

const struct route_row api_file_download_rows[] = {
	{METHOD_GET, "/api/file/{}", ROUTE_OWNER_OR_TRUSTED, .plain = get_file, .rest = true,
		.headers = ROUTE_HEADERS_CONDITIONS},
	{.path = NULL},
};
