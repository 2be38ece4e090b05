/* What the API is: its reference, and what of the container's protocol is not served yet. */
#include "ws/api/api.h"
#include "ws/api/openapi.h"

#include <stdio.h>

void api_openapi(struct api *a, struct request *r)
{
	(void)a;
	reply_bytes(r, 200, "application/json", (const char *)openapi_document,
		openapi_document_length, NULL);
}

void api_later(struct api *a, struct request *r)
{
	static const char *const names[] = {"GET", "POST", "PUT", "DELETE"};
	char message[512];
	(void)a;
	snprintf(message, sizeof message,
		"%s %s is not served: Ringside has no files, git, code contexts or backups yet",
		r->method < METHOD_OTHER ? names[r->method] : "This method of", r->path);
	reply_error(r, "NOT_IMPLEMENTED", message, json_pack("{s:s}", "endpoint", r->path));
}
