/* POST /api/stdin: standard input for a command, in pieces, before it is started. See shell/output/spool.h. */
#include "shell/output/spool.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse_piece(struct request *r, int error, uint64_t size)
{
	if (error == -ENOENT)
		reply_invalid(r, "id", "There is no such input, or it was taken", "not_found");
	else if (error == -ESPIPE)
		reply_error(r, "VALIDATION_FAILED", "Something is missing before this piece",
			json_pack("{s:I}", "size", (json_int_t)size));
	else if (error == -EFBIG)
		reply_error(r, "REQUEST_TOO_LARGE", "The input is too large",
			json_pack("{s:I}", "limit", (json_int_t)SPOOL_MAX));
	else if (error == -EUSERS)
		reply_error(r, "LIMIT_REACHED", "Too many inputs wait for their commands",
			json_pack("{s:i}", "limit", (int)SPOOLS_MAX));
	else
		reply_error(r, error_code_of(error), strerror(-error), NULL);
}

static void keep_input(struct request *r)
{
	struct api *a = api_of(r);
	const char *id = NULL, *base64 = NULL, *dir = a->sessions->config.runtime_dir;
	char made[SPOOL_ID_SIZE];
	uint64_t offset = 0, size = 0;
	size_t length = 0;
	unsigned char *bytes = NULL;
	json_t *body = body_read(r);
	if (!body || !body_text(r, body, "id", &id) || !body_text(r, body, "base64", &base64) ||
		!body_number(r, body, "offset", 0, SPOOL_MAX, &offset))
		goto out;
	bytes = base64 ? base64_decode(base64, &length) : NULL;
	if (!bytes) {
		reply_invalid(r, "base64", "Must be base64", base64 ? "invalid" : "required");
		goto out;
	}
	int rc = id ? 0 : spool_create(dir, made);
	id = id ? id : made;
	if (rc == 0)
		rc = spool_add(dir, id, offset, bytes, length, &size);
	if (rc < 0)
		refuse_piece(r, rc, size);
	else
		reply_success(r, json_pack("{s:s, s:I}", "id", id, "size", (json_int_t)size));
out:
	free(bytes);
	json_decref(body);
}

const struct route_row api_stdin_rows[] = {
	{METHOD_POST, "/api/stdin", WHO_OWNER, .plain = keep_input},
	{.path = NULL},
};
