/*
 * PUT /api/file/PATH with a tar archive: it is unpacked into a staging directory
 * (shell/files/stage.h) as it arrives, and moved into place when it is complete.
 *
 * The thread waits for the body, so it comes from a crew of its own (api.unpackers). The loop
 * passes it pieces in a locked queue of about QUEUE_HIGH bytes.
 */
#include "ws/api/files/unpack.h"

#include "shell/files/stage.h"
#include "shell/files/unpack.h"
#include "shell/own_error.h"
#include "ws/api/files/call.h"
#include "ws/api/files/condition.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define QUEUE_HIGH ((size_t)1 << 20)      /* bytes in the queue; then pause reading */
#define TAR_BYTES_MAX ((uint64_t)1 << 40) /* of all files; holes use no disk space */

struct piece {
	struct piece *prev, *next;
	size_t length;
	char bytes[];
};

enum tar_part { TAR_UNPACK, TAR_COMMIT };

struct tar_upload {
	struct job job;
	struct file_call *call;
	struct stage stage;
	uv_async_t async; /* the queue has space again */
	/* Shared, under the lock: */
	uv_mutex_t lock;
	uv_cond_t more;
	struct piece *pieces; /* the queue */
	size_t waiting;       /* bytes in it */
	bool any;             /* a piece has arrived */
	bool complete;        /* the body has ended */
	bool broken;          /* the body will not be complete */
	bool paused;          /* the loop waits for async */
	/* Of the thread: */
	struct piece *piece; /* the current one */
	struct unpack_result result;
	char name[STAGE_NAME_MAX]; /* of the entry that could not be moved into place */
	enum tar_part part;        /* the step that failed */
	int error;
	/* Of the loop: */
	bool answered; /* or the client has disconnected */
	bool counted;  /* in api.unpacking, and async is open */
};

/* The end */

static void free_upload(struct tar_upload *u)
{
	struct piece *p, *next;
	DL_FOREACH_SAFE (u->pieces, p, next)
		free(p);
	free(u->piece);
	uv_cond_destroy(&u->more);
	uv_mutex_destroy(&u->lock);
	unpack_finish(&u->result);
	free(u);
}

static void on_closed(uv_handle_t *handle)
{
	free_upload(handle->data);
}

static void destroy(struct tar_upload *u)
{
	u->call->api->unpacking--;
	file_call_free(u->call);
	uv_close((uv_handle_t *)&u->async, on_closed);
}

/* The text and the code for an error of unpacking or moving. Returns NULL for other errors. */
static const char *explain(const struct tar_upload *u, int error, const char **ret_code)
{
	*ret_code = "INVALID_REQUEST";
	if (u->part == TAR_UNPACK)
		switch (error) {
		case -EBADMSG:
			return "the archive is damaged or not a tar archive";
		case -EXDEV:
			return "its path or link leads out of the directory";
		case -EPERM:
			return "only directories, files and links are unpacked";
		case -ELOOP:
			return "the directories are nested too deeply";
		case -EFBIG:
			*ret_code = "REQUEST_TOO_LARGE";
			return "the archive has too many entries or bytes";
		default:
			return NULL;
		}
	*ret_code = error == -EISDIR ? "IS_DIRECTORY"
		: error == -ENOTDIR  ? "NOT_DIRECTORY"
		: error == -EEXIST   ? "PRECONDITION_FAILED"
				     : "FILESYSTEM_ERROR";
	return error == -EISDIR ? "it exists as a directory, but is a file in the archive"
		: error == -ENOTDIR
		? "it is a directory in the archive, but exists as something else"
		: error == -EEXIST ? "it was created meanwhile"
		: error == -EXDEV  ? "it is on another file system"
		: error == -EBUSY  ? "it is a mount point"
				   : NULL;
}

static void refuse_archive(struct tar_upload *u, int error)
{
	struct file_call *c = u->call;
	char message[PLACE_PATH_MAX + UNPACK_NAME_MAX + 128];
	const char *name = u->part == TAR_UNPACK ? u->result.name : u->name, *code;
	const char *why = explain(u, error, &code);
	if (!why) {
		file_call_refuse(c, error);
		return;
	}
	snprintf(message, sizeof message, "%s%s%s: %s", c->path, *name ? ": " : "", name, why);
	reply_error(c->request, code, message, file_context(c));
}

static void on_unpacked(struct job *job, int error)
{
	struct tar_upload *u = (struct tar_upload *)job;
	struct request *r = u->call->request;
	if (error < 0)
		stage_abort(&u->stage);
	else
		error = u->error;
	if (u->answered)
		;
	else if (error < 0)
		refuse_archive(u, error);
	else
		reply_success(r,
			json_pack("{s:s, s:i, s:I, s:b}", "path", u->call->path, "entries",
				(int)u->result.entries, "size", (json_int_t)u->result.bytes,
				"created", u->stage.created));
	destroy(u);
}

/* The thread */

/* Wait for the next piece. Returns NULL at the end. */
static struct piece *wait_for_piece(struct tar_upload *u, bool *ret_broken)
{
	uv_mutex_lock(&u->lock);
	while (!u->pieces && !u->complete && !u->broken)
		uv_cond_wait(&u->more, &u->lock);
	struct piece *p = u->broken ? NULL : u->pieces;
	if (p) {
		DL_DELETE(u->pieces, p);
		u->waiting -= p->length;
	}
	*ret_broken = u->broken;
	bool resume = u->paused && u->waiting < QUEUE_HIGH / 2;
	u->paused &= !resume;
	uv_mutex_unlock(&u->lock);
	if (resume)
		uv_async_send(&u->async);
	return p;
}

static ssize_t read_piece(void *user, const void **ret_bytes)
{
	struct tar_upload *u = user;
	bool broken;
	free(u->piece);
	u->piece = wait_for_piece(u, &broken);
	if (broken)
		return -ECANCELED;
	*ret_bytes = u->piece ? u->piece->bytes : "";
	return u->piece ? (ssize_t)u->piece->length : 0;
}

static int put_in_place(struct tar_upload *u)
{
	int fd;
	u->part = TAR_COMMIT;
	int rc = stage_commit(&u->stage, &fd, u->name);
	if (rc < 0)
		return rc;
	/* A directory that already existed keeps its mode and time. */
	unpack_apply_directories(fd, &u->result, u->stage.created || u->stage.replace);
	close(fd);
	return 0;
}

static void on_work(struct job *job)
{
	struct tar_upload *u = (struct tar_upload *)job;
	const struct unpack_options options = {
		.read = read_piece, .user = u, .bytes_max = TAR_BYTES_MAX};
	u->error = unpack(&u->stage.place, &options, &u->result);
	/* The unpacker accepts an empty body; the API does not. */
	if (u->error == 0 && !u->any)
		u->error = -EBADMSG;
	if (u->error == 0)
		u->error = put_in_place(u);
	stage_abort(&u->stage);
}

/* The loop */

static void on_space(uv_async_t *async)
{
	struct tar_upload *u = async->data;
	if (!u->answered)
		upload_resume(u->call->request);
}

static void on_piece(void *user, const char *bytes, size_t length)
{
	struct tar_upload *u = user;
	struct piece *p = malloc(sizeof *p + length);
	if (p) {
		p->length = length;
		memcpy(p->bytes, bytes, length);
	}
	uv_mutex_lock(&u->lock);
	if (p) {
		DL_APPEND(u->pieces, p);
		u->waiting += length;
	}
	u->any = true;
	u->broken |= !p;
	bool full = u->waiting >= QUEUE_HIGH;
	u->paused = full;
	uv_cond_signal(&u->more);
	uv_mutex_unlock(&u->lock);
	if (!p) {
		u->answered = true;
		refuse_memory(u->call->request);
	} else if (full) {
		upload_pause(u->call->request);
	}
}

static void end_queue(struct tar_upload *u, bool complete)
{
	uv_mutex_lock(&u->lock);
	u->complete = complete;
	u->broken = !complete;
	uv_cond_signal(&u->more);
	uv_mutex_unlock(&u->lock);
}

static void on_complete(void *user)
{
	end_queue(user, true);
}

static void on_broken(void *user, enum upload_end why)
{
	struct tar_upload *u = user;
	(void)why;
	u->answered = true;
	end_queue(u, false);
}

/* Before the thread has the job, only the empty stage must be removed. */
static void on_give_up(struct job *job)
{
	stage_abort(&((struct tar_upload *)job)->stage);
}

static void on_given_up(struct job *job, int error)
{
	struct tar_upload *u = (struct tar_upload *)job;
	if (error < 0)
		stage_abort(&u->stage);
	if (u->counted) {
		destroy(u);
		return;
	}
	file_call_free(u->call);
	free_upload(u);
}

static void give_up(struct tar_upload *u)
{
	u->job.work = on_give_up;
	u->job.done = on_given_up;
	crew_send_required(u->call->api->crew, &u->job);
}

static void receive_archive(struct file_call *c)
{
	struct tar_upload *u = c->archive;
	struct api *a = c->api;
	c->archive = NULL;
	u->call = c;
	u->async.data = u;
	memcpy(u->job.owner, c->job.owner, sizeof u->job.owner);
	if (a->unpacking >= api_share(u->call->request, UNPACKERS_MAX) ||
		crew_count(a->unpackers, u->job.owner) >= UNPACKERS_EACH_MAX) {
		reply_error(
			c->request, "LIMIT_REACHED", "Too many archives are being unpacked", NULL);
		give_up(u);
		return;
	}
	int rc = uv_async_init(a->announce.loop, &u->async, on_space);
	if (rc < 0) {
		file_call_refuse(c, rc);
		give_up(u);
		return;
	}
	a->unpacking++;
	u->counted = true;
	u->job.work = on_work;
	u->job.done = on_unpacked;
	rc = crew_send(a->unpackers, &u->job);
	if (rc < 0) {
		file_call_refuse(c, rc);
		give_up(u);
		return;
	}
	upload_begin(c->request,
		&(struct upload_sink){
			.piece = on_piece, .complete = on_complete, .broken = on_broken, .user = u});
}

/* Before the body */

static bool parse_query(struct file_call *c)
{
	return query_flag(c->request, "parents", &c->recursive) &&
		query_flag(c->request, "replace", &c->replaces);
}

/* Evaluate the If-* headers: a directory has no ETag, so only its existence counts. */
static int check_conditions(const struct file_call *c)
{
	struct stat st;
	int fd = place_open(&c->place, c->path, O_PATH, 0);
	if (fd < 0 && fd != -ENOENT)
		return fd;
	bool met = condition_check(c->request, fd >= 0 && fstat(fd, &st) == 0 ? &st : NULL,
			   false) == CONDITION_MET;
	if (fd >= 0)
		close(fd);
	return met ? 0 : -ERR_CHANGED;
}

static int open_target(struct file_call *c)
{
	const struct stage_options options = {.parents = c->recursive, .replace = c->replaces};
	int rc = check_conditions(c);
	if (rc < 0)
		return rc;
	struct tar_upload *u = calloc(1, sizeof *u);
	if (!u)
		return -ENOMEM;
	rc = stage_open(&c->place, c->path, &options, &u->stage);
	if (rc < 0) {
		free(u);
		return rc;
	}
	if (uv_mutex_init(&u->lock) < 0 || uv_cond_init(&u->more) < 0)
		abort();
	c->archive = u;
	return 0;
}

static bool refuse(struct file_call *c, int error)
{
	const char *code = error == -ERR_CHANGED ? "PRECONDITION_FAILED"
		: error == -ENOTDIR              ? "NOT_DIRECTORY"
		: error == -EBUSY                ? "INVALID_REQUEST"
						 : NULL;
	char message[PLACE_PATH_MAX + 64];
	if (!code)
		return false;
	snprintf(message, sizeof message,
		error == -ERR_CHANGED ? "%s does not match the condition of the request"
			: error == -ENOTDIR
			? "%s is not a directory"
			: "%s cannot be replaced: it is a mount point or the current directory",
		c->path);
	reply_error(c->request, code, message, file_context(c));
	return true;
}

bool unpack_is_requested(struct request *r, bool *ret_meant)
{
	static const char *const formats[] = {"bytes", "tar"};
	size_t length = strlen(r->path);
	/* Without format=, only a path with a final slash means a directory. */
	unsigned format = r->sends_tar && r->path[length - 1] == '/';
	if (!query_choice(r, "format", formats, 2, &format))
		return false;
	*ret_meant = format == 1;
	return true;
}

void unpack_upload(struct request *r)
{
	static const struct file_action action = {.operation = "file.write",
		.parse = parse_query,
		.work = open_target,
		.reply = receive_archive,
		.refuse = refuse};
	file_call_url(r, &action);
}
