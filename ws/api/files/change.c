/* Remove, move and create files and directories; test whether a path exists. */
#include "shell/files/entry.h"
#include "shell/files/move.h"
#include "shell/own_error.h"
#include "ws/api/files/call.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* {success, path, ...fields, timestamp} */
static int answer_with(struct file_call *c, const char *field, const char *value)
{
	file_answer_begin(c);
	if (field) {
		reply_text_raw(&c->answer, field);
		reply_text_cstring(&c->answer, value);
	}
	file_answer_end(c);
	return 0;
}

/* Removing */

static int remove_file(struct file_call *c)
{
	int rc = entry_remove(&c->place, c->path);
	return rc < 0 ? rc : answer_with(c, NULL, NULL);
}

static bool refuse_removal(struct file_call *c, int error)
{
	if (error != -EISDIR)
		return false;
	reply_error(c->request, "IS_DIRECTORY",
		"Cannot delete directory with deleteFile(): it deletes only files", file_context(c));
	return true;
}

/* Moving */

static int move_file(struct file_call *c)
{
	int rc = move_entry(&c->place, c->path, c->to, &c->source_missing);
	return rc < 0 ? rc : answer_with(c, ",\"newPath\":", c->to);
}

static bool refuse_move(struct file_call *c, int error)
{
	char message[2 * PLACE_PATH_MAX + 128];
	if (c->source_missing) {
		snprintf(message, sizeof message, "Source file not found: %s", c->path);
		reply_error(c->request, "FILE_NOT_FOUND", message, file_context(c));
		return true;
	}
	if (error_is_shortage(error) || error == -ERR_LIMIT || error == -ESRCH ||
		error == -ECANCELED)
		return false;
	const char *text = error == -EEXIST ? "they are the same file" : error_text(error);
	snprintf(message, sizeof message, "cannot move %s to %s: %s", c->path, c->to, text);
	json_t *context = file_context(c);
	if (context)
		json_object_update_new(context,
			json_pack("{s:s, s:s, s:i, s:s}", c->action->path, c->path, c->action->to,
				c->to, "exitCode", 1, "stderr", text));
	reply_error(c->request, "FILESYSTEM_ERROR", message, context);
	return true;
}

/* Making directories */

static bool parse_recursive(struct file_call *c)
{
	return body_flag(c->request, c->body, "recursive", &c->recursive);
}

static int make_directory(struct file_call *c)
{
	int rc = entry_make_directory(&c->place, c->path, c->recursive);
	if (rc < 0)
		return rc;
	file_answer_begin(c);
	reply_text_raw(&c->answer, ",\"recursive\":");
	reply_text_bool(&c->answer, c->recursive);
	file_answer_end(c);
	return 0;
}

/* ENOENT of mkdir(2) is about a parent: FILE_NOT_FOUND would be wrong. */
static bool refuse_directory(struct file_call *c, int error)
{
	char message[PLACE_PATH_MAX + 128];
	if (error != -ENOENT && error != -ENOTDIR && error != -EEXIST)
		return false;
	snprintf(message, sizeof message, "cannot create directory %s: %s", c->path,
		error_text(error));
	json_t *context = file_context(c);
	if (context)
		json_object_update_new(context,
			json_pack("{s:{s:b}, s:i, s:s}", "options", "recursive", c->recursive,
				"exitCode", 1, "stderr", error_text(error)));
	reply_error(c->request, "FILESYSTEM_ERROR", message, context);
	return true;
}

/* Testing for existence */

static int test_existence(struct file_call *c)
{
	bool exists = content_exists(&c->place, c->path);
	file_answer_begin(c);
	reply_text_raw(&c->answer, ",\"exists\":");
	reply_text_bool(&c->answer, exists);
	file_answer_end(c);
	return 0;
}

static void delete_file(struct request *r)
{
	static const struct file_action action = {.operation = "file.delete",
		.path = "path",
		.work = remove_file,
		.refuse = refuse_removal};
	file_call(r, &action);
}

static void rename_file(struct request *r)
{
	static const struct file_action action = {.operation = "file.rename",
		.path = "oldPath",
		.to = "newPath",
		.work = move_file,
		.refuse = refuse_move};
	file_call(r, &action);
}

static void relocate_file(struct request *r)
{
	static const struct file_action action = {.operation = "file.move",
		.path = "sourcePath",
		.to = "destinationPath",
		.work = move_file,
		.refuse = refuse_move};
	file_call(r, &action);
}

static void create_directory(struct request *r)
{
	static const struct file_action action = {.operation = "directory.create",
		.path = "path",
		.parse = parse_recursive,
		.work = make_directory,
		.refuse = refuse_directory};
	file_call(r, &action);
}

static void file_exists(struct request *r)
{
	static const struct file_action action = {
		.operation = "file.stat", .path = "path", .work = test_existence};
	file_call(r, &action);
}

const struct route_row api_file_change_rows[] = {
	{METHOD_POST, "/api/delete", ROUTE_OWNER_OR_TRUSTED, .plain = delete_file},
	{METHOD_POST, "/api/rename", ROUTE_OWNER_OR_TRUSTED, .plain = rename_file},
	{METHOD_POST, "/api/move", ROUTE_OWNER_OR_TRUSTED, .plain = relocate_file},
	{METHOD_POST, "/api/mkdir", ROUTE_OWNER_OR_TRUSTED, .plain = create_directory},
	{METHOD_POST, "/api/exists", ROUTE_OWNER_OR_TRUSTED, .plain = file_exists},
	{.path = NULL},
};
