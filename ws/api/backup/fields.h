/*
 * Fields that requests about backups share. Each function answers an invalid request, normally with
 * INVALID_BACKUP_CONFIG, and then returns false.
 */
#pragma once

#include "ws/api/api.h"
#include "ws/api/read/body.h"

#include <jansson.h>
#include <stdbool.h>

#define BACKUP_ARCHIVES "/var/backups"
#define BACKUP_OWN_ARCHIVES "/var/backups/ringside" /* the default directory */

#define BACKUP_URL_RULE "Must be of https, with a host and no user, of at most 8192 bytes"
#define BACKUP_URLS_RULE "Each url must be of https, with a host and no user, of at most 8192 bytes"

/* A request and its JSON body; all borrowed. */
struct backup_fields {
	const struct api *api;
	struct request *request;
	const json_t *body;
};

/* Answer that a field is invalid. Returns false. */
bool backup_refuse(struct request *r, const char *field, const char *why);

/* Get the directory of archives in the workspace. */
bool backup_archives_dir(const struct api *a, struct request *r, char ret_keep[BODY_PATH_MAX]);

/* Parse an optional text; NULL if it is absent. */
bool backup_parse_text(const struct backup_fields *f, const char *field, const char **ret_text);

/* Parse "dir". replaced: the content of the directory will be replaced. */
bool backup_parse_dir(const struct backup_fields *f, bool replaced, char ret_dir[BODY_PATH_MAX]);

/* Parse "archivePath", a file in BACKUP_ARCHIVES or in keep. A name without slash is in keep. */
bool backup_parse_archive(
	const struct backup_fields *f, const char *keep, char ret_archive[BODY_PATH_MAX]);

/* Check the optional session: a request with a link may only name the session of the link. */
bool backup_check_session(const struct backup_fields *f);

/* The root that contains an archive: BACKUP_ARCHIVES or the workspace. Borrowed. */
const char *backup_root(const struct api *a, const char *archive);

/* Parse the fields of a transfer: session, "archivePath", and "timeoutMs" (0: absent). */
bool backup_parse_transfer(
	const struct backup_fields *f, char ret_archive[BODY_PATH_MAX], uint64_t *ret_timeout_ms);
