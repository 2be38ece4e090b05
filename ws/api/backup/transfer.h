/*
 * A request that transfers an archive to or from a store (shell/backup/parts.h). URLs are secret:
 * neither the log nor an answer contains them.
 */
#pragma once

#include "shell/backup/parts.h"
#include "ws/api/api.h"

#include <jansson.h>

#define TRANSFERS_MAX 4u /* at once */

struct backup_fields;

/* What differs between uploads and downloads. Static. */
struct transfer_kind {
	const char *operation; /* its name in errors */
	const char *event;     /* its name in the log */
	const char *code;      /* error code of a failure */
	const char *failed;    /* error text of a failure */
	/* Parse a part into *p, which is zeroed. Returns what is wrong with it, or NULL. */
	const char *(*parse)(const json_t *value, struct part *p);
	/* Check all parts of a transfer of total bytes. Returns what is wrong with them, or NULL. */
	const char *(*check)(struct part *all, size_t count, uint64_t total);
	/* The fields of a successful answer. Returns a new reference. */
	json_t *(*result)(const struct parts_result *result);
};

/*
 * Start a transfer, or answer why it cannot start. archive: as backup_parse_archive() returns it. o:
 * without root and path, which are set here; its parts are owned from here on, also on failure.
 */
void transfer_start(struct request *r, const struct transfer_kind *kind, const char *archive,
	struct parts_options *o);

/* Parse "parts". Returns the array, owned, or NULL after it has answered the request. */
struct part *transfer_parse_parts(const struct backup_fields *f, const struct transfer_kind *kind,
	uint64_t total, size_t *ret_count);
