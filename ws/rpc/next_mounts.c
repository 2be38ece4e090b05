/* All are one route of ours, with an action. */
#include "ws/rpc/next_mounts.h"

static const char *act(json_t *body, const char *action)
{
	json_object_set_new(body, "action", json_string(action));
	return NULL;
}

static void move(json_t *body, const char *from, const char *to)
{
	json_object_set(body, to, json_object_get(body, from));
	json_object_del(body, from);
}

const char *next_mounts_mend_mount(json_t *body, const json_t *arguments)
{
	(void)arguments;
	move(body, "mountPath", "path");
	json_object_set_new(body, "verify", json_false());
	return act(body, "mount");
}

const char *next_mounts_mend_verified(json_t *body, const json_t *arguments)
{
	const char *problem = next_mounts_mend_mount(body, arguments);
	json_object_set_new(body, "verify", json_true());
	return problem;
}

const char *next_mounts_mend_check(json_t *body, const json_t *arguments)
{
	(void)arguments;
	return act(body, "check");
}

const char *next_mounts_mend_unmount(json_t *body, const json_t *arguments)
{
	(void)arguments;
	return act(body, "unmount");
}

const char *next_mounts_mend_unmount_if(json_t *body, const json_t *arguments)
{
	(void)arguments;
	json_object_set_new(body, "only", json_true());
	return act(body, "unmount");
}

const char *next_mounts_mend_remove(json_t *body, const json_t *arguments)
{
	(void)arguments;
	move(body, "onlyIfNotMountpoint", "only");
	return act(body, "remove");
}

const char *next_mounts_mend_protect(json_t *body, const json_t *arguments)
{
	(void)arguments;
	return act(body, "protect");
}

json_t *next_mounts_result_whether(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return json_boolean(json_is_true(json_object_get(answer, "success")));
}
