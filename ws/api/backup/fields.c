#include "ws/api/backup/fields.h"

#include "shell/backup/backup.h"
#include "shell/backup/parts.h"
#include "ws/api/read/workspace.h"

#include <string.h>

bool backup_refuse(struct request *r, const char *field, const char *why)
{
	return reply_error(r, "INVALID_BACKUP_CONFIG", why,
		json_pack("{s:[{s:s, s:s, s:s}]}", "validationErrors", "field", field, "message",
			why, "code", "INVALID_BACKUP_CONFIG"));
}

bool backup_archives_dir(const struct api *a, struct request *r, char ret_keep[BODY_PATH_MAX])
{
	return workspace_join(a->workspace, BACKUP_DIRECTORY, ret_keep) ||
		reply_error(r, "INTERNAL_ERROR", "The workspace's path is too long", NULL);
}

bool backup_parse_text(const struct backup_fields *f, const char *field, const char **ret_text)
{
	return body_find_text(f->body, field, ret_text) ||
		backup_refuse(f->request, field, "Must be text, without NUL");
}

bool backup_parse_dir(const struct backup_fields *f, bool replaced, char ret_dir[BODY_PATH_MAX])
{
	const char *given;
	if (!body_find_text(f->body, "dir", &given) || !given ||
		!workspace_resolve_strict(f->api->alias, given, ret_dir))
		return backup_refuse(f->request, "dir", "Must be an absolute path without \"..\"");
	bool good = workspace_contains(f->api->workspace, ret_dir);
	for (size_t i = 0; backup_roots[i]; i++)
		good |= workspace_contains(backup_roots[i], ret_dir);
	if (!good)
		return backup_refuse(f->request, "dir",
			"Must be in the workspace, /home, /tmp, /var/tmp, /app or /workspace");
	for (size_t i = 0; replaced && backup_shared_directories[i]; i++)
		if (strcmp(ret_dir, backup_shared_directories[i]) == 0)
			return backup_refuse(f->request, "dir",
				"A shared directory cannot be replaced: name a directory in it");
	return true;
}

bool backup_parse_archive(
	const struct backup_fields *f, const char *keep, char ret_archive[BODY_PATH_MAX])
{
	const char *given;
	char named[BODY_PATH_MAX];
	if (!backup_parse_text(f, "archivePath", &given))
		return false;
	if (given && *given && !strchr(given, '/') && workspace_join(keep, given, named))
		given = named;
	size_t length = given ? strlen(given) : 0;
	if (length > 0 && given[length - 1] != '/' &&
		workspace_resolve_strict(f->api->alias, given, ret_archive) &&
		((workspace_contains(BACKUP_ARCHIVES, ret_archive) &&
			 strcmp(BACKUP_ARCHIVES, ret_archive) != 0) ||
			(workspace_contains(keep, ret_archive) && strcmp(keep, ret_archive) != 0)))
		return true;
	return backup_refuse(f->request, "archivePath",
		"Must be in /var/backups, or in " BACKUP_DIRECTORY " in the workspace");
}

bool backup_check_session(const struct backup_fields *f)
{
	struct request *r = f->request;
	const char *id, *hint;
	if (!body_text(r, f->body, "sessionId", &id) || !request_session(r, &hint))
		return false;
	id = id ? id : hint;
	if (id && strcmp(id, BODY_NO_SESSION) == 0)
		id = NULL;
	return access_session(&r->principal, id, &id) ||
		reply_error(r, "PERMISSION_DENIED", "The link is for another session", NULL);
}

const char *backup_root(const struct api *a, const char *archive)
{
	return workspace_contains(BACKUP_ARCHIVES, archive) ? BACKUP_ARCHIVES : a->workspace;
}

bool backup_parse_transfer(
	const struct backup_fields *f, char ret_archive[BODY_PATH_MAX], uint64_t *ret_timeout_ms)
{
	const json_t *timeout = json_object_get(f->body, "timeoutMs");
	char keep[BODY_PATH_MAX];
	*ret_timeout_ms = 0;
	if (!backup_check_session(f) || !backup_archives_dir(f->api, f->request, keep) ||
		!backup_parse_archive(f, keep, ret_archive))
		return false;
	if (!timeout || json_is_null(timeout))
		return true;
	if (!json_is_integer(timeout) || json_integer_value(timeout) < 1 ||
		json_integer_value(timeout) > (json_int_t)PARTS_TIMEOUT_MAX_MS)
		return backup_refuse(f->request, "timeoutMs",
			"Must be a whole number of milliseconds, of at most a day");
	*ret_timeout_ms = (uint64_t)json_integer_value(timeout);
	return true;
}
