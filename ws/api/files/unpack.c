/*
 * PUT /api/file/PATH with a tar archive: a directory of any size, unpacked as it comes onto a stage (shell/files/stage.h), and put in
 * place once all of it is there.
 *
 * asked -> a stage is made -> the body is taken, and a thread of its own unpacks it -> put in place -> answered. The thread waits for
 * the body, so it is none of those that others need; between it and the loop there are pieces, under a lock, and no more of them
 * than QUEUE_HIGH and one.
 */
#include "ws/api/files/unpack.h"

#include "shell/files/stage.h"
#include "shell/files/unpack.h"
#include "ws/api/files/call.h"
#include "ws/api/files/condition.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/error.h"
#include "ws/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define QUEUE_HIGH ((size_t)1 << 20)      /* bytes that wait for the thread: then nothing is read */
#define TAR_BYTES_MAX ((uint64_t)1 << 40) /* of all files, of which holes take no room */

struct piece {
	struct piece *prev, *next;
	size_t length;
	char bytes[];
};

enum tar_part { TAR_UNPACK, TAR_COMMIT }; /* what has failed */

struct tar_upload {
	struct job job;
	struct file_call *call;
	struct stage stage;
	uv_async_t async; /* the thread has room for more */
	/* Shared, under the lock: */
	uv_mutex_t lock;
	uv_cond_t more;
	struct piece *pieces;       /* list */
	size_t waiting;             /* bytes of it */
	bool any, complete, broken; /* something has come; all has; no more does */
	bool hungry;                /* the loop is to be told that there is room */
	/* Of the thread: */
	struct piece *piece; /* that is being read */
	struct unpack_result result;
	char name[STAGE_NAME_MAX]; /* of what could not be put in place */
	enum tar_part part;
	int error;
	/* Of the loop: */
	bool over;    /* nobody is answered */
	bool counted; /* it is one of those that are being unpacked, and the handle is open */
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

/* What is wrong with the archive, or with where it is to go; code: of the refusal. NULL: nothing special. */
static const char *explain(const struct tar_upload *u, int error, const char **ret_code)
{
	*ret_code = "INVALID_REQUEST";
	if (u->part == TAR_UNPACK)
		switch (error) {
		case -EBADMSG:
			return "the archive is damaged, or no tar archive";
		case -EXDEV:
			return "it leads out of the directory";
		case -EPERM:
			return "neither directories, files nor links are unpacked";
		case -ELOOP:
			return "it is too deep";
		case -EFBIG:
			*ret_code = "REQUEST_TOO_LARGE";
			return "there is more in it than is unpacked at once";
		default:
			return NULL;
		}
	*ret_code = error == -EISDIR ? "IS_DIRECTORY"
		: error == -ENOTDIR  ? "NOT_DIRECTORY"
		: error == -EEXIST   ? "PRECONDITION_FAILED"
				     : "FILESYSTEM_ERROR";
	return error == -EISDIR     ? "a directory is there, and a file in the archive"
		: error == -ENOTDIR ? "a directory in the archive, and something else is there"
		: error == -EEXIST  ? "it has been made meanwhile"
		: error == -EXDEV   ? "another file system begins there"
		: error == -EBUSY   ? "a file system is mounted there"
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
	if (u->over)
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

/* The next piece, once there is one; NULL: there are no more. */
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
	bool tell = u->hungry && u->waiting < QUEUE_HIGH / 2;
	u->hungry &= !tell;
	uv_mutex_unlock(&u->lock);
	if (tell)
		uv_async_send(&u->async);
	return p;
}

static ssize_t take(void *user, const void **ret_bytes)
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
	/* Of a directory that was there, and is still, nothing is changed but what is in it. */
	unpack_apply_directories(fd, &u->result, u->stage.created || u->stage.replace);
	close(fd);
	return 0;
}

static void on_work(struct job *job)
{
	struct tar_upload *u = (struct tar_upload *)job;
	const struct unpack_options options = {.read = take, .user = u, .bytes_max = TAR_BYTES_MAX};
	u->error = unpack(&u->stage.place, &options, &u->result);
	/* Nothing at all is an archive for those who read it alone. */
	if (u->error == 0 && !u->any)
		u->error = -EBADMSG;
	if (u->error == 0)
		u->error = put_in_place(u);
	stage_abort(&u->stage);
}

/* The loop */

static void on_room(uv_async_t *async)
{
	struct tar_upload *u = async->data;
	if (!u->over)
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
	u->hungry = full;
	uv_cond_signal(&u->more);
	uv_mutex_unlock(&u->lock);
	if (!p) {
		u->over = true;
		refuse_memory(u->call->request);
	} else if (full) {
		upload_pause(u->call->request);
	}
}

static void tell_end(struct tar_upload *u, bool complete)
{
	uv_mutex_lock(&u->lock);
	u->complete = complete;
	u->broken = !complete;
	uv_cond_signal(&u->more);
	uv_mutex_unlock(&u->lock);
}

static void on_complete(void *user)
{
	tell_end(user, true);
}

static void on_broken(void *user, enum upload_end why)
{
	struct tar_upload *u = user;
	(void)why;
	u->over = true;
	tell_end(u, false);
}

/* Without a thread of its own there is nothing but an empty stage. */

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

static void take_archive(struct file_call *c)
{
	struct tar_upload *u = c->archive;
	struct api *a = c->api;
	c->archive = NULL;
	u->call = c;
	u->async.data = u;
	memcpy(u->job.whose, c->job.whose, sizeof u->job.whose);
	if (a->unpacking >= api_share(u->call->request, UNPACKERS_MAX) ||
		crew_count(a->unpackers, u->job.whose) >= UNPACKERS_EACH_MAX) {
		reply_error(c->request, "LIMIT_REACHED",
			"As many archives as may be are being unpacked", NULL);
		give_up(u);
		return;
	}
	int rc = uv_async_init(a->announce.loop, &u->async, on_room);
	if (rc < 0) {
		file_call_refuse(c, rc);
		give_up(u);
		return;
	}
	/* There is a thread for each. */
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
	upload_take(c->request,
		&(struct upload_sink){
			.piece = on_piece, .complete = on_complete, .broken = on_broken, .user = u});
}

/* Before the body */

static bool take_wishes(struct file_call *c)
{
	return query_flag(c->request, "parents", &c->recursive) &&
		query_flag(c->request, "replace", &c->replaces);
}

/* Conditions are those of the directory, which has no tag: whether it is there. */
static int look(const struct file_call *c)
{
	struct stat st;
	int fd = place_open(&c->place, c->path, O_PATH, 0);
	if (fd < 0 && fd != -ENOENT)
		return fd;
	bool met = condition_check(c->request, fd >= 0 && fstat(fd, &st) == 0 ? &st : NULL,
			   false) == CONDITION_MET;
	if (fd >= 0)
		close(fd);
	return met ? 0 : -ESTALE;
}

static int open_target(struct file_call *c)
{
	const struct stage_options options = {.parents = c->recursive, .replace = c->replaces};
	int rc = look(c);
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
	/* These fail only where a process cannot have a lock. */
	if (uv_mutex_init(&u->lock) < 0 || uv_cond_init(&u->more) < 0)
		abort();
	c->archive = u;
	return 0;
}

static bool refuse(struct file_call *c, int error)
{
	const char *code = error == -ESTALE ? "PRECONDITION_FAILED"
		: error == -ENOTDIR         ? "NOT_DIRECTORY"
		: error == -EBUSY           ? "INVALID_REQUEST"
					    : NULL;
	char message[PLACE_PATH_MAX + 64];
	if (!code)
		return false;
	snprintf(message, sizeof message,
		error == -ESTALE            ? "%s is not what it was"
			: error == -ENOTDIR ? "%s is no directory"
					    : "%s cannot be replaced as a whole",
		c->path);
	reply_error(c->request, code, message, file_context(c));
	return true;
}

bool unpack_is_meant(struct request *r, bool *ret_meant)
{
	static const char *const formats[] = {"bytes", "tar"};
	size_t length = strlen(r->path);
	/* A path that ends so is no file's; any other may be that of an archive, which is a file as well. */
	unsigned format = r->sends_tar && r->path[length - 1] == '/';
	if (!query_choice(r, "format", formats, 2, &format))
		return false;
	*ret_meant = format == 1;
	return true;
}

void unpack_upload(struct request *r)
{
	static const struct file_action action = {.operation = "file.write",
		.take = take_wishes,
		.work = open_target,
		.reply = take_archive,
		.refuse = refuse};
	file_call_of_url(r, &action);
}
