/*
 * A request that transfers an archive to or from a store (shell/backup/parts.h). URLs are secret:
 * neither the log nor an answer contains them.
 */
#pragma once

#include "shell/backup/parts.h"
#include "ws/api/api.h"

#include <jansson.h>

#define TRANSFERS_MAX 4u /* at once */

/* What differs between uploads and downloads. Static. */
struct transfer_kind {
	const char *operation; /* its name in errors */
	const char *event;     /* its name in the log */
	const char *code;      /* error code of a failure */
	const char *failed;    /* error text of a failure */
	/* The fields of a successful answer. Returns a new reference. */
	json_t *(*result)(const struct parts_result *result);
};

/*
 * Start a transfer, or answer why it cannot start. archive: as backup_parse_archive() returns it. o:
 * without root and path, which are set here; its parts are owned from here on, also on failure.
 */
void transfer_start(struct request *r, const struct transfer_kind *kind, const char *archive,
	struct parts_options *o);

/* Free parts that were not passed on. NULL is fine. */
void transfer_free_parts(struct part *all, size_t count);
