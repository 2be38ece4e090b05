/* Of the preview's main object: what its mounts are as requests. Pure; see ws/rpc/methods.h for what the functions are. */
#pragma once

#include <jansson.h>

const char *next_mounts_mend_mount(json_t *body, const json_t *arguments);
const char *next_mounts_mend_verified(json_t *body, const json_t *arguments);
const char *next_mounts_mend_check(json_t *body, const json_t *arguments);
const char *next_mounts_mend_unmount(json_t *body, const json_t *arguments);
const char *next_mounts_mend_unmount_if(json_t *body, const json_t *arguments);
const char *next_mounts_mend_remove(json_t *body, const json_t *arguments);
const char *next_mounts_mend_protect(json_t *body, const json_t *arguments);

/* Whether what was asked is so. */
json_t *next_mounts_result_whether(const json_t *answer, const json_t *arguments);
