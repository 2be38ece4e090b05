/* POST /api/stat: what several paths are, in one request. It never starts a session. */
#include "shell/clock.h"
#include "shell/files/absolute.h"
#include "ws/api/files/call.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"
#include "ws/error.h"

#include <errno.h>

#define PATHS_MAX 256u

static const char *type_of(mode_t mode)
{
	return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : "other";
}

static void put_entry(
	struct reply_text *a, const char *absolute, const struct stat *st, bool readable)
{
	char text[CLOCK_TEXT_SIZE];
	clock_format_timespec(&st->st_mtim, text);
	reply_text_raw(a, "{\"absolutePath\":");
	reply_text_cstring(a, absolute);
	reply_text_raw(a, ",\"type\":");
	reply_text_cstring(a, type_of(st->st_mode));
	reply_text_raw(a, ",\"size\":");
	reply_text_number(a, (unsigned long long)st->st_size);
	reply_text_raw(a, ",\"modifiedAt\":");
	reply_text_cstring(a, text);
	reply_text_raw(a, ",\"readable\":");
	reply_text_bool(a, readable);
	reply_text_raw(a, "}");
}

/* Any error of a path means null; a shortage is the error of the request. */
static int stat_path(struct file_call *c, const char *path)
{
	char absolute[PLACE_PATH_MAX];
	struct stat st;
	bool readable;
	int rc = absolute_path(&c->place, path, absolute);
	if (rc == 0)
		rc = content_inspect(&c->place, absolute, &st, &readable);
	if (rc == 0)
		put_entry(&c->answer, absolute, &st, readable);
	else if (error_is_shortage(rc))
		return rc;
	else
		reply_text_raw(&c->answer, "null");
	return 0;
}

static int stat_paths(struct file_call *c)
{
	const json_t *paths = json_object_get(c->body, "paths");
	reply_text_raw(&c->answer, "{\"success\":true,\"entries\":[");
	for (size_t i = 0; i < json_array_size(paths); i++) {
		reply_text_raw(&c->answer, i > 0 ? "," : "");
		int rc = atomic_load(&c->gone)
			? -ECANCELED
			: stat_path(c, json_string_value(json_array_get(paths, i)));
		if (rc < 0)
			return rc;
	}
	reply_text_raw(&c->answer, "]");
	file_answer_end(c);
	return 0;
}

static bool parse_paths(struct file_call *c)
{
	const json_t *paths = json_object_get(c->body, "paths");
	size_t count = json_array_size(paths);
	if (count == 0 || count > PATHS_MAX)
		return reply_invalid(
			c->request, "paths", "Must be a list of 1 to 256 paths", "invalid");
	for (size_t i = 0; i < count; i++)
		if (!file_call_check_path(c, "paths", json_array_get(paths, i)))
			return false;
	c->path = json_string_value(json_array_get(paths, 0)); /* in errors */
	return true;
}

static void stat_all(struct request *r)
{
	static const struct file_action action = {.operation = "file.stat",
		.starts_nothing = true,
		.parse = parse_paths,
		.work = stat_paths};
	file_call(r, &action);
}

const struct route_row api_file_stat_rows[] = {
	{METHOD_POST, "/api/stat", ROUTE_OWNER_OR_TRUSTED, .plain = stat_all, .reads = true},
	{.path = NULL},
};
