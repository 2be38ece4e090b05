/*
 * POST /api/workspace/archive: a directory of the workspace as a tar archive, in a file of its own in /tmp, which whoever has asked
 * reads and removes. POST /api/workspace/extract: such a file, unpacked into one.
 */
#include "shell/bounds.h"
#include "shell/files/content.h"
#include "shell/files/crew.h"
#include "shell/files/pack.h"
#include "shell/files/replace.h"
#include "shell/files/stage.h"
#include "shell/files/unpack.h"
#include "shell/id.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/workspace.h"
#include "ws/api/rows.h"
#include "ws/error.h"
#include "ws/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXCLUDES_MAX 1024u
#define ARCHIVE_BYTES_MAX ((uint64_t)64 << 30)  /* of an archive that is made */
#define EXTRACTED_BYTES_MAX ((uint64_t)1 << 40) /* of all files, of which holes take no room */
#define READ_PIECE ((size_t)64 << 10)
#define DIGITS 32u /* of a name that nobody guesses */

/* A request that is worked at. */
struct work {
	struct job job;
	struct api *api;
	struct request *request; /* our reference */
	atomic_bool gone;        /* nobody waits any more */
	struct place root;
	char archive[BODY_PATH_MAX];
	json_t *excludes; /* an array of text, or NULL; owned */
	struct content content;
	char piece[READ_PIECE];
	uint64_t offset;
	struct unpack_result result;
	char name[STAGE_NAME_MAX]; /* of what is to blame; "" */
	int error;
};

static void work_free(struct work *w)
{
	w->api->unpacking--;
	json_decref(w->excludes);
	unpack_finish(&w->result);
	request_unref(w->request);
	free(w);
}

/* On the thread: packing */

/* Whether one of them is this name: what is below one has not been asked for, if so. */
static bool is_excluded(void *user, const char *name)
{
	const json_t *each;
	size_t i;
	json_array_foreach ((const json_t *)user, i, each) {
		const char *one = json_string_value(each);
		one += strncmp(one, "./", 2) == 0 ? 2 : 0;
		size_t length = strlen(one);
		while (length > 0 && one[length - 1] == '/')
			length--;
		if (length == strlen(name) && strncmp(one, name, length) == 0)
			return true;
	}
	return false;
}

static int write_all(struct work *w, struct pack *pack, struct replace *file)
{
	const char *bytes;
	size_t length;
	uint64_t total = 0;
	bool over = false;
	while (!over) {
		int rc = pack_next(pack, &bytes, &length, &over);
		if (rc == 0 && atomic_load(&w->gone))
			rc = -ECANCELED;
		total += length;
		if (rc == 0 && total > ARCHIVE_BYTES_MAX)
			rc = -EFBIG;
		if (rc == 0)
			rc = replace_write(file, bytes, length);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* It has no name before it is whole: the directory may be the one that it is in. */
static int pack_into(struct work *w, struct pack *pack)
{
	const struct replace_options options = {.only = REPLACE_NEW};
	struct place place;
	struct replace file;
	(void)place_of_directory(&place, "/"); /* fits */
	int rc = place_enter(&place);
	if (rc < 0)
		return rc;
	rc = replace_open(&place, w->archive, &options, &file);
	place_leave(&place);
	if (rc < 0)
		return rc;
	rc = fchmod(file.fd, 0600) < 0 ? -errno : write_all(w, pack, &file);
	if (rc == 0)
		return replace_commit(&file);
	replace_abort(&file);
	return rc;
}

static void on_pack(struct job *job)
{
	struct work *w = (struct work *)job;
	const struct pack_options options = {
		.excludes = w->excludes ? is_excluded : NULL, .user = w->excludes};
	struct pack *pack;
	w->error = place_enter(&w->root);
	if (w->error < 0)
		return;
	w->error = pack_open(&w->root, ".", &options, &pack);
	if (w->error == 0) {
		w->error = pack_into(w, pack);
		pack_close(pack);
	}
	place_leave(&w->root);
}

/* On the thread: unpacking */

static ssize_t take(void *user, const void **ret_bytes)
{
	struct work *w = user;
	size_t length;
	if (atomic_load(&w->gone))
		return -ECANCELED;
	int rc = content_read(&w->content, w->offset, w->piece, sizeof w->piece, &length);
	if (rc < 0)
		return rc;
	w->offset += length;
	*ret_bytes = w->piece;
	return (ssize_t)length;
}

static int unpack_into(struct work *w, struct stage *stage)
{
	const struct unpack_options options = {
		.read = take, .user = w, .bytes_max = EXTRACTED_BYTES_MAX};
	int fd, rc = unpack(&stage->place, &options, &w->result);
	/* Nothing at all is an archive for those who read it alone. */
	if (rc == 0 && w->offset == 0)
		rc = -EBADMSG;
	if (rc < 0) {
		snprintf(w->name, sizeof w->name, "%s", w->result.name);
		return rc;
	}
	rc = stage_commit(stage, &fd, w->name);
	if (rc < 0)
		return rc;
	unpack_settle(fd, &w->result, false);
	close(fd);
	return 0;
}

static int open_archive(struct work *w)
{
	struct place place;
	(void)place_of_directory(&place, "/"); /* fits */
	int rc = place_enter(&place);
	if (rc < 0)
		return rc;
	rc = content_open(&place, w->archive, &w->content);
	place_leave(&place);
	return rc;
}

static void on_unpack(struct job *job)
{
	struct work *w = (struct work *)job;
	const struct stage_options options = {.parents = false};
	struct stage stage;
	w->error = open_archive(w);
	if (w->error < 0)
		return;
	w->error = place_enter(&w->root);
	if (w->error == 0) {
		w->error = stage_open(&w->root, ".", &options, &stage);
		if (w->error == 0) {
			w->error = unpack_into(w, &stage);
			stage_abort(&stage);
		}
		place_leave(&w->root);
	}
	content_close(&w->content);
}

/* The loop */

static const char *explain(int error)
{
	return error == -EBADMSG  ? "the archive is damaged, or no tar archive"
		: error == -EXDEV ? "it leads out of the directory"
		: error == -EPERM ? "neither directories, files nor links are unpacked"
		: error == -EFBIG ? "there is more in it than is taken at once"
				  : error_text(error);
}

static void refuse(const struct work *w, const char *operation, int error)
{
	char message[STAGE_NAME_MAX + 256];
	json_t *name = text_string_json(w->name);
	json_t *context = json_pack("{s:s, s:s}", "path", w->archive, "operation", operation);
	snprintf(message, sizeof message, "%s%s%s", name ? json_string_value(name) : "",
		w->name[0] ? ": " : "", explain(error));
	reply_error(w->request,
		error == -ENOENT                   ? "FILE_NOT_FOUND"
			: error_is_shortage(error) ? error_code_of(error)
						   : "FILESYSTEM_ERROR",
		message, context);
	json_decref(name);
}

static void conclude(struct work *w, const char *operation, int error)
{
	w->request->gone = NULL;
	error = error < 0 ? error : w->error;
	if (!w->request->done && error < 0)
		refuse(w, operation, error);
	else if (!w->request->done)
		reply_success(w->request, json_pack("{s:s}", "archivePath", w->archive));
	work_free(w);
}

/* Nobody knows the name of an archive whose request is gone. */
static void on_packed(struct job *job, int error)
{
	struct work *w = (struct work *)job;
	if (error == 0 && w->error == 0 && w->request->done)
		unlink(w->archive);
	conclude(w, "workspace.archive", error);
}

static void on_unpacked(struct job *job, int error)
{
	conclude((struct work *)job, "workspace.extract", error);
}

static void on_gone(void *user)
{
	atomic_store(&((struct work *)user)->gone, true);
}

/* The request */

/* The field "root": of the workspace. */
static bool take_root(struct work *w, const json_t *body)
{
	const char *root, *workspace = w->api->workspace;
	char place[BODY_PATH_MAX];
	if (!body_text(w->request, body, "root", &root))
		return false;
	if (workspace_place_strict(workspace, root ? root : WORKSPACE_ALIAS, place) &&
		(workspace_has(workspace, place) || workspace_has(WORKSPACE_ALIAS, place)) &&
		place_of_directory(&w->root, place))
		return true;
	reply_invalid(w->request, "root", "Must be the workspace, or in it", "INVALID_PATH");
	return false;
}

static bool take_excludes(struct work *w, const json_t *body)
{
	json_t *list = json_object_get(body, "excludes"), *each;
	size_t i;
	if (!list || json_is_null(list))
		return true;
	bool good = json_is_array(list) && json_array_size(list) <= EXCLUDES_MAX;
	json_array_foreach (list, i, each) {
		const char *text = json_string_value(each);
		good = good && text && *text && strlen(text) == json_string_length(each) &&
			!strstr(text, "..");
	}
	if (!good)
		reply_invalid(w->request, "excludes",
			"Must be a list of at most 1024 names in the directory, without \"..\"",
			"invalid");
	else if (json_array_size(list) > 0)
		w->excludes = json_incref(list);
	return good;
}

/* The field "archivePath": of those that are made here, or that the Sandbox's bridge makes. */
static bool take_archive(struct work *w, const json_t *body)
{
	const char *path;
	if (!body_text(w->request, body, "archivePath", &path))
		return false;
	if (path && strlen(path) < sizeof w->archive &&
		fnmatch("/tmp/sandbox-*.tar", path, FNM_PATHNAME) == 0) {
		snprintf(w->archive, sizeof w->archive, "%s", path);
		return true;
	}
	reply_invalid(w->request, "archivePath", "Must be /tmp/sandbox-*.tar", "INVALID_PATH");
	return false;
}

static bool choose_archive(struct work *w)
{
	char digits[DIGITS + 1];
	int rc = id_digits(digits, DIGITS, 16);
	snprintf(w->archive, sizeof w->archive, "/tmp/sandbox-workspace-%s.tar", digits);
	if (rc < 0)
		reply_error(w->request, "INTERNAL_ERROR", "There is no randomness", NULL);
	return rc == 0;
}

/* Somebody who may work, or NULL: then r has been answered. */
static struct work *create(struct request *r)
{
	struct api *a = api_of(r);
	if (a->sessions->config.bounds->isolation) {
		reply_error(r, "NOT_IMPLEMENTED", "There is no workspace outside of rooms", NULL);
		return NULL;
	}
	if (a->unpacking >= api_share(r, UNPACKERS_MAX)) {
		reply_error(r, "LIMIT_REACHED", "Too many archives are being unpacked", NULL);
		return NULL;
	}
	struct work *w = calloc(1, sizeof *w);
	if (!w) {
		refuse_memory(r);
		return NULL;
	}
	w->api = a;
	w->request = request_ref(r);
	a->unpacking++;
	return w;
}

static void send_out(struct work *w, void (*work)(struct job *), void (*done)(struct job *, int))
{
	struct request *r = w->request;
	w->job.work = work;
	w->job.done = done;
	access_whose(&r->principal, "", w->job.whose, sizeof w->job.whose);
	if (crew_send(w->api->unpackers, &w->job) < 0) {
		reply_error(r, "LIMIT_REACHED", "There is nobody to do it now", NULL);
		work_free(w);
		return;
	}
	r->gone = on_gone;
	r->gone_user = w;
}

static void serve(struct request *r, bool extracts)
{
	struct work *w = create(r);
	if (!w)
		return;
	json_t *body = body_read(r);
	bool good = body && take_root(w, body) &&
		(extracts ? take_archive(w, body) : take_excludes(w, body) && choose_archive(w));
	json_decref(body);
	if (!good)
		work_free(w);
	else if (extracts)
		send_out(w, on_unpack, on_unpacked);
	else
		send_out(w, on_pack, on_packed);
}

static void archive(struct request *r)
{
	serve(r, false);
}

static void extract(struct request *r)
{
	serve(r, true);
}

const struct route_row api_workspace_rows[] = {
	{METHOD_POST, "/api/workspace/archive", WHO_OWNER, .plain = archive},
	{METHOD_POST, "/api/workspace/extract", WHO_OWNER, .plain = extract},
	{.path = NULL},
};
