/*
 * An archive on its way, asked for by a request: to a store, or from one (shell/backup/parts.h), TRANSFERS_MAX at once. Addresses
 * are secrets: neither the log nor an answer has them.
 */
#pragma once

#include "shell/backup/parts.h"
#include "ws/api/api.h"

#include <jansson.h>

#define TRANSFERS_MAX 4u

struct transfer_kind {
	const char *operation; /* as errors call it */
	const char *event;     /* as the log does */
	const char *code;      /* of its failure */
	const char *failed;    /* what that is, in words */
	/* What is told of its success. Returns a new reference. */
	json_t *(*result)(const struct parts_result *result);
};

/*
 * Start it, or answer why it is not. archive: absolute, as backup_archive() has found it. o: without its root and its path;
 * its parts are taken in any case. kind: static.
 */
void transfer_start(struct request *r, const struct transfer_kind *kind, const char *archive,
	struct parts_options *o);

/* Parts that have not been given away. NULL is fine. */
void transfer_free_parts(struct part *all, size_t count);
