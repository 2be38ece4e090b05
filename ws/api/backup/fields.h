/*
 * What requests about backups have in common: the directory, the archive, whose they are. Whoever finds a field wrong has answered the
 * request, INVALID_BACKUP_CONFIG, and returns false.
 */
#pragma once

#include "ws/api/api.h"
#include "ws/api/read/body.h"

#include <jansson.h>
#include <stdbool.h>

#define BACKUP_ARCHIVES "/var/backups"
#define BACKUP_OWN_ARCHIVES "/var/backups/ringside" /* where those go that name no place */

#define BACKUP_URL_RULE "Must be of https, with a host and no user, of at most 8192 bytes"
#define BACKUP_URLS_RULE "Each url must be of https, with a host and no user, of at most 8192 bytes"

struct backup_fields {
	const struct api *api;
	struct request *request;
	const json_t *body;
};

/* Answer that a field is wrong. Returns false. */
bool backup_refuse(struct request *r, const char *field, const char *why);

/* The directory of archives in the workspace; r is answered when its path is too long. */
bool backup_keep(const struct api *a, struct request *r, char ret_keep[BODY_PATH_MAX]);

/* Text, or NULL when it is not there. */
bool backup_text(const struct backup_fields *f, const char *field, const char **ret_text);

/* The field "dir"; replaced: its content will be. */
bool backup_dir(const struct backup_fields *f, bool replaced, char ret_dir[BODY_PATH_MAX]);

/* The field "archivePath", of an archive in BACKUP_ARCHIVES or keep; a name alone is in keep. */
bool backup_archive(
	const struct backup_fields *f, const char *keep, char ret_archive[BODY_PATH_MAX]);

/* A link is for one session, and may not name another; a backup itself needs none. */
bool backup_may_ask(const struct backup_fields *f);

/* Where archives are whose path begins there: BACKUP_ARCHIVES, or the workspace. Borrowed. */
const char *backup_root(const struct api *a, const char *archive);

/* What requests about archives on their way have in common: whose they are, "archivePath", and "timeoutMs", 0 when it is absent. */
bool backup_transfer(
	const struct backup_fields *f, char ret_archive[BODY_PATH_MAX], uint64_t *ret_timeout_ms);
