/* GET /api/openapi.json: the description of the API. */
#include "ws/api/api.h"
#include "ws/api/openapi.h"
#include "ws/api/rows.h"

static void show_reference(struct request *r)
{
	reply_bytes(r, 200, "application/json", openapi_document, openapi_document_length, NULL);
}

const struct route_row api_reference_rows[] = {
	{METHOD_GET, "/api/openapi.json", ROUTE_VIEWER, .plain = show_reference},
	{.path = NULL},
};
