/* Directory listings. */
#include "shell/clock.h"
#include "shell/files/listing.h"
#include "ws/api/files/call.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIST_TEXT_MAX ((size_t)64 << 20) /* bytes of JSON; then the list is truncated */

struct list_reply {
	struct file_call *call;
	struct listing_result result;
	char absolute[3 * PLACE_PATH_MAX]; /* path of an entry */
	size_t directory;                  /* bytes of the directory in it; 0: not set yet */
	size_t count;
	bool full;
};

static const char *type_of(mode_t mode)
{
	return S_ISREG(mode)    ? "file"
		: S_ISDIR(mode) ? "directory"
		: S_ISLNK(mode) ? "symlink"
				: "other";
}

static void put_mode(struct reply_text *a, mode_t mode)
{
	char text[] = "rwxrwxrwx";
	for (unsigned i = 0; i < 9; i++)
		if ((mode & (0400u >> i)) == 0)
			text[i] = '-';
	reply_text_raw(a, ",\"mode\":\"");
	reply_text_raw(a, text);
	reply_text_raw(a, "\",\"permissions\":{\"readable\":");
	reply_text_bool(a, mode & S_IRUSR);
	reply_text_raw(a, ",\"writable\":");
	reply_text_bool(a, mode & S_IWUSR);
	reply_text_raw(a, ",\"executable\":");
	reply_text_bool(a, mode & S_IXUSR);
	reply_text_raw(a, "}}");
}

static void put_time(struct reply_text *a, const struct timespec *time)
{
	char text[CLOCK_TEXT_SIZE];
	clock_format_timespec(time, text);
	reply_text_raw(a, ",\"modifiedAt\":");
	reply_text_cstring(a, text);
}

static void set_directory(struct list_reply *t)
{
	const char *directory = t->result.directory;
	size_t length = strlen(directory);
	bool slash = length == 0 || directory[length - 1] != '/';
	t->directory = (size_t)snprintf(
		t->absolute, sizeof t->absolute, "%s%s", directory, slash ? "/" : "");
}

static bool on_entry(void *user, const struct listing_entry *e)
{
	struct list_reply *t = user;
	struct reply_text *a = &t->call->answer;
	if (t->directory == 0)
		set_directory(t);
	snprintf(t->absolute + t->directory, sizeof t->absolute - t->directory, "%s", e->relative);
	reply_text_raw(a, t->count++ > 0 ? ",{\"name\":" : "{\"name\":");
	reply_text_cstring(a, e->name);
	reply_text_raw(a, ",\"absolutePath\":");
	reply_text_cstring(a, t->absolute);
	reply_text_raw(a, ",\"relativePath\":");
	reply_text_cstring(a, e->relative);
	reply_text_raw(a, ",\"type\":\"");
	reply_text_raw(a, type_of(e->st->st_mode));
	reply_text_raw(a, "\",\"size\":");
	reply_text_number(a, (unsigned long long)e->st->st_size);
	put_time(a, &e->st->st_mtim);
	put_mode(a, e->st->st_mode);
	t->full = a->length >= LIST_TEXT_MAX;
	return !t->full && !a->failed && !atomic_load(&t->call->gone);
}

static int list(struct file_call *c)
{
	const struct listing_options options = {.recursive = c->recursive, .hidden = c->hidden};
	struct list_reply t = {.call = c};
	file_answer_begin(c);
	reply_text_raw(&c->answer, ",\"files\":[");
	int rc = listing_walk(&c->place, c->path, &options, on_entry, &t, &t.result);
	reply_text_raw(&c->answer, "],\"count\":");
	reply_text_number(&c->answer, t.count);
	if (t.result.cut || t.full)
		reply_text_raw(&c->answer, ",\"truncated\":true");
	file_answer_end(c);
	return rc;
}

static bool parse_options(struct file_call *c)
{
	json_t *options = json_object_get(c->body, "options");
	if (!options || json_is_null(options))
		return true;
	if (!json_is_object(options))
		return reply_invalid(c->request, "options", "Must be an object", "invalid");
	return body_flag(c->request, options, "recursive", &c->recursive) &&
		body_flag(c->request, options, "includeHidden", &c->hidden);
}

static bool refuse(struct file_call *c, int error)
{
	char message[PLACE_PATH_MAX + 64];
	if (error != -ENOENT && error != -ENOTDIR)
		return false;
	bool missing = error == -ENOENT;
	snprintf(message, sizeof message,
		missing ? "Directory not found: %s" : "Path is not a directory: %s", c->path);
	reply_error(
		c->request, missing ? "FILE_NOT_FOUND" : "NOT_DIRECTORY", message, file_context(c));
	return true;
}

static void list_files(struct request *r)
{
	static const struct file_action action = {.operation = "directory.list",
		.path = "path",
		.parse = parse_options,
		.work = list,
		.refuse = refuse};
	file_call(r, &action);
}

const struct route_row api_file_list_rows[] = {
	{METHOD_POST, "/api/list-files", ROUTE_OWNER_OR_TRUSTED, .plain = list_files, .reads = true},
	{.path = NULL},
};
