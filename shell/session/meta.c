/*
 * JSON from and to a session's fields. Fields that every version has written are required; later ones may be missing or
 * have an unknown value, and then get their default.
 */
#include "shell/session/meta.h"

#include "ring/utf8.h"
#include "shell/session/internal.h"
#include "shell/store/document.h"
#include "shell/words.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define META_NAME "meta.json"
#define META_MAX ((size_t)256 << 10)

static json_t *argv_json(char *const *argv)
{
	json_t *list = json_array();
	for (; *argv; argv++)
		json_array_append_new(list, json_string(*argv));
	return list;
}

/* Read a list of words. An invalid list is treated as empty. Returns 0 or -ENOMEM. */
static int read_argv(const json_t *list, char ***ret_argv)
{
	const char *argv[SESSION_ARGV_MAX + 1] = {NULL};
	size_t count = json_array_size(list);
	if (count == 0 || count > SESSION_ARGV_MAX)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (!(argv[i] = json_string_value(json_array_get(list, i))))
			return 0;
	*ret_argv = words_copy(argv);
	return *ret_argv ? 0 : -ENOMEM;
}

int meta_save(int dir_fd, const struct session *s)
{
	if (!utf8_is_valid_string(s->pane.cwd) || !utf8_is_valid_string(s->pane.shell))
		return -EILSEQ; /* the API could not return it either */
	json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s}", "id",
		s->pane.held.id, "name", s->name, "cwd", s->pane.cwd, "shell", s->pane.shell,
		"createdAt", (json_int_t)s->created_ms, "idleTimeoutMs",
		(json_int_t)s->idle_timeout_ms, "sizePolicy", size_policy_name(s->presence.policy),
		"onShellExit", shell_exit_name(s->on_shell_exit), "unicode",
		screen_unicode_name(s->pane.unicode));
	if (root)
		json_object_set_new(root, "history", json_boolean(s->executor.history));
	if (root && exec_is_possible(&s->executor))
		json_object_set_new(root, "nonce", json_string(s->executor.nonce));
	if (root && s->argv)
		json_object_set_new(root, "argv", argv_json(s->argv));
	if (root && s->shell_arguments)
		json_object_set_new(root, "shellArgs", argv_json(s->shell_arguments));
	return document_save(dir_fd, META_NAME, root);
}

static int read_meta(struct session *s, const json_t *root)
{
	const char *id, *name, *cwd, *shell, *size = "", *nonce = "", *on_exit = "", *unicode = "";
	json_int_t created, idle;
	if (json_unpack((json_t *)(uintptr_t)root,
		    "{s:s, s:s, s:s, s:s, s:I, s:I, s?:s, s?:s, s?:s, s?:s}", "id", &id, "name",
		    &name, "cwd", &cwd, "shell", &shell, "createdAt", &created, "idleTimeoutMs",
		    &idle, "sizePolicy", &size, "nonce", &nonce, "onShellExit", &on_exit, "unicode",
		    &unicode) < 0)
		return -EBADMSG;
	if (!name_is_id(id) || !name_is_text(name) || created < 0 || idle < 0)
		return -EBADMSG;
	s->pane.cwd = strdup(cwd);
	s->pane.shell = strdup(shell);
	if (!s->pane.cwd || !s->pane.shell)
		return -ENOMEM;
	snprintf(s->pane.held.id, sizeof s->pane.held.id, "%s", id);
	snprintf(s->name, sizeof s->name, "%s", name);
	s->created_ms = (uint64_t)created;
	s->idle_timeout_ms = (uint64_t)idle;
	/* A value of a newer server must not lose the session. */
	enum size_policy policy = SIZE_LATEST;
	(void)size_policy_parse(size, &policy); /* on failure it keeps the default */
	presence_set_policy(&s->presence, policy);
	(void)shell_exit_parse(on_exit, &s->on_shell_exit); /* the same */
	(void)screen_unicode_parse(unicode, &s->pane.unicode);
	s->executor.history = json_is_true(json_object_get(root, "history"));
	if (read_argv(json_object_get(root, "argv"), &s->argv) < 0 ||
		read_argv(json_object_get(root, "shellArgs"), &s->shell_arguments) < 0)
		return -ENOMEM;
	enum integration_shell known = integration_shell_of(shell);
	if (strlen(nonce) == INTEGRATION_NONCE_LENGTH && known != INTEGRATION_NONE) {
		snprintf(s->executor.nonce, sizeof s->executor.nonce, "%s", nonce);
		s->executor.shell = known;
	}
	return 0;
}

int meta_load(int dir_fd, struct session *s)
{
	json_t *root;
	int rc = document_load(dir_fd, META_NAME, META_MAX, &root);
	if (rc < 0)
		return rc;
	rc = read_meta(s, root);
	json_decref(root);
	return rc;
}
