/* What the API is: its reference, and what of the container's protocol is not served yet. */
#include "ws/api/api.h"
#include "ws/api/openapi.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <stdio.h>

static void show_reference(struct request *r)
{
	reply_bytes(r, 200, "application/json", openapi_document, openapi_document_length, NULL);
}

static void refuse_later(struct request *r)
{
	const char *method = method_name(r->method);
	char message[512];
	snprintf(message, sizeof message,
		"%s %s is not served: Ringside has no files, git, code contexts or backups yet",
		method ? method : "This method of", r->path);
	reply_error(r, "NOT_IMPLEMENTED", message, json_pack("{s:s}", "endpoint", r->path));
}

const struct route_row api_reference_rows[] = {
	{METHOD_GET, "/api/openapi.json", WHO_VIEWER, .plain = show_reference},
	{METHOD_POST, "/api/read", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/read/stream", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/write", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/delete", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/rename", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/move", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/mkdir", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/list-files", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/exists", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/watch", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/watch/check", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/git/checkout", WHO_OWNER, .plain = refuse_later},
	{METHOD_GET, "/api/interpreter/health", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/contexts", WHO_OWNER, .plain = refuse_later},
	{METHOD_GET, "/api/contexts", WHO_OWNER, .plain = refuse_later},
	{METHOD_DELETE, "/api/contexts/{}", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/execute/code", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/backup/create", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/backup/restore", WHO_OWNER, .plain = refuse_later},
	{METHOD_POST, "/api/backup/upload-parts", WHO_OWNER, .plain = refuse_later},
	{.path = NULL},
};
