/* Paths in requests. */
#include "ws/api/read/workspace.h"

#include "shell/bounds.h"
#include "shell/store/directory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Append the components of path. Returns false when they do not fit. */
static bool add_names(char joined[BODY_PATH_MAX], const char *path)
{
	size_t length = strlen(joined);
	for (;;) {
		path += strspn(path, "/");
		size_t name = strcspn(path, "/");
		if (name == 0)
			return true;
		if (name == 2 && path[0] == '.' && path[1] == '.') {
			while (length > 0 && joined[--length] != '/')
				;
		} else if (name != 1 || path[0] != '.') {
			if (length + 1 + name >= BODY_PATH_MAX)
				return false;
			joined[length++] = '/';
			memcpy(joined + length, path, name);
			length += name;
		}
		joined[length] = '\0';
		path += name;
	}
}

bool workspace_join(const char *base, const char *path, char ret_path[BODY_PATH_MAX])
{
	char joined[BODY_PATH_MAX] = "";
	if (path[0] != '/' && !add_names(joined, base))
		return false;
	if (!add_names(joined, path))
		return false;
	memcpy(ret_path, joined[0] ? joined : "/", strlen(joined) + 1 + !joined[0]);
	return true;
}

bool workspace_contains(const char *root, const char *path)
{
	size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
	return strncmp(path, root, length) == 0 && (path[length] == '/' || !path[length]);
}

const char *workspace_alias(const char *root)
{
	return access(WORKSPACE_ALIAS, F_OK) < 0 && errno == ENOENT ? root : NULL;
}

bool workspace_alias_exists(void)
{
	return directory_check(WORKSPACE_ALIAS) == 0;
}

void workspace_translate_cwd(const char *alias, const struct sessions *all, json_t *body)
{
	const json_t *value = json_object_get(body, "cwd");
	const char *cwd = json_string_value(value);
	char real[BODY_PATH_MAX];
	if (!alias || !cwd || cwd[0] != '/' || strlen(cwd) != json_string_length(value))
		return;
	if (!all->config.bounds->isolation) {
		if (alias_resolve(alias, cwd, real, sizeof real) == 0 && strcmp(real, cwd) != 0)
			json_object_set_new(body, "cwd", json_string(real));
	} else if (strcmp(cwd, WORKSPACE_ALIAS) == 0) {
		json_object_set_new(body, "cwd", json_string(all->config.cwd));
	}
}

bool workspace_resolve(const char *alias, const char *path, char ret_place[BODY_PATH_MAX])
{
	return alias_resolve(alias, path, ret_place, BODY_PATH_MAX) == 0;
}

bool workspace_resolve_strict(const char *alias, const char *path, char ret_place[BODY_PATH_MAX])
{
	char joined[BODY_PATH_MAX];
	if (path[0] != '/')
		return false;
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f ||
			(strncmp(p, "/..", 3) == 0 && (p[3] == '/' || !p[3])))
			return false;
	return workspace_join("/", path, joined) && workspace_resolve(alias, joined, ret_place);
}
