/*
 * POST /api/backup/create archives a directory, POST /api/backup/restore replaces a directory by an
 * archive. Both are runs outside of sessions. A run is cancelled if its client disconnects.
 */
#include "shell/backup/backup.h"
#include "shell/backup/exclude_pattern.h"
#include "shell/bounds.h"
#include "shell/memory_stream.h"
#include "ws/api/api.h"
#include "ws/api/backup/fields.h"
#include "ws/json/run.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/typist.h"
#include "ws/api/read/workspace.h"
#include "ws/api/rows.h"
#include "ws/log.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define BACKUPS_MAX 4u     /* at once */
#define EXCLUDES_MAX 1000u /* patterns */
#define THREADS_DEFAULT 8u
#define THREADS_MAX 64u

struct backup {
	struct backup *prev, *next;
	struct api *api;
	struct request *request; /* our reference */
	struct run *run;
	struct quota_place place;
	char *dir;     /* owned */
	char *archive; /* from the request, or NULL; owned */
	bool restores;
};

/* The parsed request. */
struct wanted {
	struct backup_options options;
	char dir[BODY_PATH_MAX], archive[BODY_PATH_MAX], keep[BODY_PATH_MAX];
	char *excluded; /* owned */
	bool restores;
};

static void backup_free(struct backup *b)
{
	quota_release(&b->place);
	free(b->dir);
	free(b->archive);
	request_unref(b->request);
	free(b);
}

/* Results */

static const char *operation(const struct backup *b)
{
	return b->restores ? "backup.restore" : "backup.create";
}

static void fail(struct backup *b, const struct run_result *result)
{
	char message[1024];
	char *said = run_output_text(&result->output[RUN_STDERR]);
	const char *text = said ? said : "";
	const char *line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	const char *why = result->timed_out ? "It timed out" : *line ? line : "It was killed";
	snprintf(message, sizeof message, "%s: %s",
		b->restores ? "The backup could not be restored" : "The backup could not be created",
		why);
	json_t *printable = text_string_json(message);
	json_t *context = json_pack("{s:s, s:s, s:s*, s:i, s:o}", "operation", operation(b), "dir",
		b->dir, "archivePath", b->archive, "exitCode", run_exit_code(result), "stderr",
		text_string_json(text));
	reply_error(b->request, b->restores ? "BACKUP_RESTORE_FAILED" : "BACKUP_CREATE_FAILED",
		printable ? json_string_value(printable) : "The backup failed", context);
	json_decref(printable);
	free(said);
}

/* Parse the output of create.bash: the size and the path of the archive. */
static json_t *created_json(const struct run_result *result)
{
	const struct excerpt_parts *printed = &result->output[RUN_STDOUT];
	char text[BODY_PATH_MAX + 64], *end;
	size_t length = printed->head_length;
	if (length == 0 || length >= sizeof text || printed->tail_length > 0)
		return NULL;
	memcpy(text, printed->head, length);
	text[length] = '\0';
	long long size = strtoll(text, &end, 10);
	char *newline = strrchr(end, '\n');
	if (*end != '\n' || newline == end)
		return NULL;
	*newline = '\0';
	return json_pack("{s:I, s:o}", "sizeBytes", (json_int_t)size, "archivePath",
		text_string_json(end + 1));
}

static json_t *restored_json(const struct backup *b, const struct run_result *result)
{
	bool mounted = result->output[RUN_STDOUT].head_length > 0;
	return json_pack("{s:s, s:b}", "dir", b->dir, "mounted", mounted);
}

static void conclude(struct backup *b, const struct run_result *result)
{
	json_t *body = NULL;
	if (run_exit_code(result) == 0)
		body = b->restores ? restored_json(b, result) : created_json(result);
	if (body)
		reply_success(b->request, body);
	else
		fail(b, result);
}

static void write_log(const struct backup *b, const struct run_result *result)
{
	char code[16];
	snprintf(code, sizeof code, "%d", run_exit_code(result));
	log_write(LOG_INFO, "backup", "done", "peer", b->request->peer, "principal",
		typist_author(b->request), "operation", operation(b), "dir", b->dir, "end",
		run_end_name(result), "exit", code, NULL);
}

/* The run */

static void on_done(void *user, const struct run_result *result)
{
	struct backup *b = user;
	DL_DELETE(b->api->backups, b);
	quota_release(&b->place);
	b->request->gone = NULL;
	write_log(b, result);
	if (!b->request->done)
		conclude(b, result);
	backup_free(b);
}

static void on_gone(void *user)
{
	struct backup *b = user;
	run_cancel(b->run, BACKUP_GRACE_MS);
}

static const struct run_callbacks run_callbacks = {.done = on_done};

/* Check the limit, and that no restore overlaps the directory. Otherwise r has been answered. */
static bool check_limits(const struct api *a, struct request *r, const struct wanted *w)
{
	const struct backup *b;
	unsigned count = 0;
	DL_FOREACH (a->backups, b) {
		count++;
		if ((b->restores || w->restores) &&
			(workspace_contains(b->dir, w->dir) || workspace_contains(w->dir, b->dir)))
			return reply_error(r, "RESOURCE_BUSY",
				"The directory is already being backed up or restored",
				json_pack("{s:s, s:s}", "operation", operation(b), "dir", b->dir));
	}
	return count < BACKUPS_MAX ||
		reply_error(r, "LIMIT_REACHED", "Too many backups run at once",
			json_pack("{s:i}", "maxBackups", (int)BACKUPS_MAX));
}

static struct backup *create(struct api *a, struct request *r, const struct wanted *w)
{
	const char *archive = w->options.archive;
	struct backup *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->api = a;
	b->request = request_ref(r);
	b->restores = w->restores;
	b->dir = strdup(w->dir);
	b->archive = archive ? strdup(archive) : NULL;
	if (b->dir && !b->archive == !archive)
		return b;
	backup_free(b);
	return NULL;
}

static void start(struct api *a, struct request *r, const struct wanted *w)
{
	if (!check_limits(a, r, w))
		return;
	struct backup *b = create(a, r, w);
	if (!b) {
		refuse_memory(r);
		return;
	}
	if (!access_acquire(a->access, r, QUOTA_FORKS, &b->place)) {
		backup_free(b);
		return;
	}
	int rc = (w->restores ? backup_restore : backup_create)(
		a->runs, &w->options, &run_callbacks, b, &b->run);
	if (rc < 0) {
		backup_free(b);
		refuse_run(r, "The backup", rc);
		return;
	}
	DL_APPEND(a->backups, b);
	r->gone = on_gone;
	r->gone_user = b;
}

/* Parsing */

static bool parse_compression(struct request *r, const json_t *body, struct backup_options *o)
{
	static const char *const formats[] = {"gzip", "lz4", "zstd"};
	const json_t *compression = json_object_get(body, "compression");
	const json_t *threads = json_object_get(compression, "threads");
	const char *format;
	o->format = "lz4";
	o->threads = THREADS_DEFAULT;
	if (compression && !json_is_null(compression) && !json_is_object(compression))
		return backup_refuse(r, "compression", "Must be an object");
	if (!body_find_text(compression, "format", &format))
		return backup_refuse(r, "compression.format", "Must be gzip, lz4 or zstd");
	bool good = !format;
	for (size_t i = 0; format && i < sizeof formats / sizeof *formats; i++)
		if (strcmp(format, formats[i]) == 0) {
			o->format = formats[i];
			good = true;
		}
	if (!good)
		return backup_refuse(r, "compression.format", "Must be gzip, lz4 or zstd");
	if (threads && !json_is_null(threads)) {
		json_int_t n = json_integer_value(threads);
		if (!json_is_integer(threads) || n < 1)
			return backup_refuse(
				r, "compression.threads", "Must be a positive whole number");
		o->threads = n < (json_int_t)THREADS_MAX ? (unsigned)n : THREADS_MAX;
	}
	return true;
}

static bool parse_excludes(struct request *r, const json_t *body, struct wanted *w)
{
	const json_t *list = json_object_get(body, "excludes"), *each;
	const json_t *gitignore = json_object_get(body, "gitignore");
	size_t i;
	if (gitignore && !json_is_null(gitignore) && !json_is_boolean(gitignore))
		return backup_refuse(r, "gitignore", "Must be true or false");
	w->options.gitignore = json_is_true(gitignore);
	if (!list || json_is_null(list))
		return true;
	if (!json_is_array(list) || json_array_size(list) > EXCLUDES_MAX)
		return backup_refuse(r, "excludes", "Must be a list of at most 1000 patterns");
	FILE *out = memory_stream(&w->excluded, &w->options.excluded_length);
	bool good = true;
	json_array_foreach (list, i, each) {
		const char *pattern = json_string_value(each);
		good = good && pattern && strlen(pattern) == json_string_length(each) &&
			exclude_pattern_is_valid(pattern);
		if (out && good)
			exclude_pattern_write(out, pattern);
	}
	bool written = out && fclose(out) == 0;
	w->options.excluded = w->excluded;
	if (!good)
		return backup_refuse(r, "excludes",
			"Each must be a path with wildcards, of 1 to 1024 bytes, without \"..\" and "
			"control characters");
	if (!written)
		refuse_memory(r);
	return written;
}

/* By default, only archives that the container's clients named are mounted. */
static bool parse_mount(const struct api *a, struct request *r, const json_t *body, struct wanted *w)
{
	const json_t *mount = json_object_get(body, "mount");
	if (mount && !json_is_null(mount) && !json_is_boolean(mount))
		return backup_refuse(r, "mount", "Must be true or false");
	bool foreign = workspace_contains(BACKUP_ARCHIVES, w->archive) &&
		!workspace_contains(BACKUP_OWN_ARCHIVES, w->archive);
	/* A mount in a sandbox would end with the sandbox. */
	w->options.mount = !a->sessions->config.bounds->isolation &&
		(json_is_boolean(mount) ? json_is_true(mount) : foreign);
	return true;
}

static bool parse(const struct api *a, struct request *r, const json_t *body, struct wanted *w)
{
	const struct backup_fields fields = {a, r, body};
	const char *given;
	w->options.cwd = a->sessions->config.cwd;
	w->options.workspace = a->workspace;
	w->options.keep = w->keep;
	if (!backup_archives_dir(a, r, w->keep) || !backup_check_session(&fields) ||
		!backup_parse_dir(&fields, w->restores, w->dir) ||
		!backup_parse_text(&fields, "archivePath", &given))
		return false;
	w->options.dir = w->dir;
	if (given || w->restores) {
		if (!backup_parse_archive(&fields, w->keep, w->archive))
			return false;
		w->options.archive = w->archive;
	}
	if (w->restores)
		return parse_mount(a, r, body, w);
	return parse_compression(r, body, &w->options) && parse_excludes(r, body, w);
}

static void serve(struct request *r, bool restores)
{
	struct api *a = api_of(r);
	struct wanted *w = request_alloc(r, sizeof *w);
	if (!w)
		return;
	w->restores = restores;
	json_t *body = body_read(r);
	if (body && parse(a, r, body, w))
		start(a, r, w);
	free(w->excluded);
	free(w);
}

static void create_backup(struct request *r)
{
	serve(r, false);
}

static void restore_backup(struct request *r)
{
	serve(r, true);
}

const struct route_row api_backup_rows[] = {
	{METHOD_POST, "/api/backup/create", ROUTE_OWNER_OR_TRUSTED, .plain = create_backup},
	{METHOD_POST, "/api/backup/restore", ROUTE_OWNER_OR_TRUSTED, .plain = restore_backup},
	{.path = NULL},
};
