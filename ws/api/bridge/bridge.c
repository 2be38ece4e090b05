/* Requests of the bridge with an immediate answer. */
#include "ws/api/bridge/openapi.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/api/rows.h"

static void reply_id(struct request *r, struct sandbox *s, void *user)
{
	(void)user;
	reply_json(r, 200, json_pack("{s:s}", "id", s->id));
}

static void create(struct request *r)
{
	if (sandbox_new_id(r->match.id))
		sandbox_use(r, reply_id, NULL);
	else
		sandbox_refuse(r, 502, "pool_error", "There are no random bytes");
}

static void reply_running(struct request *r, bool there)
{
	reply_json(r, 200, json_pack("{s:b}", "running", (int)there));
}

static void running(struct request *r)
{
	sandbox_check_exists(r, reply_running);
}

/* Information */

static void pool(struct request *r)
{
	const struct api *a = api_of(r);
	reply_json(r, 200,
		json_pack("{s:i, s:i, s:i, s:i, s:{s:i, s:i}}", "warm", 0, "assigned",
			(int)a->bridge->count, "total", (int)a->bridge->count, "maxInstances",
			(int)SANDBOXES_MAX, "config", "warmTarget", 0, "refreshInterval", 0));
}

static void no_pool(struct request *r)
{
	sandbox_refuse(r, 501, "not_implemented", "Sandboxes are not created in advance");
}

static void health(struct request *r)
{
	reply_json(r, 200, json_pack("{s:b}", "ok", 1));
}

static void describe(struct request *r)
{
	reply_bytes(r, 200, "application/json", bridge_openapi, bridge_openapi_length, NULL);
}

static void no_upgrade(struct request *r)
{
	sandbox_refuse(r, 400, "invalid_request", "WebSocket upgrade required");
}

static void not_implemented(struct request *r)
{
	sandbox_refuse(r, 501, "not_implemented", "Ringside does not mount buckets or open tunnels");
}

const struct route_row api_bridge_rows[] = {
	{METHOD_GET, "/health", ROUTE_PUBLIC, .plain = health, .probe = true},
	{METHOD_GET, "/v1/openapi.json", ROUTE_VIEWER, .plain = describe},
	{METHOD_GET, "/v1/pool/stats", ROUTE_OWNER, .plain = pool},
	{METHOD_POST, "/v1/pool/prime", ROUTE_OWNER, .plain = no_pool},
	{METHOD_POST, "/v1/pool/shutdown-prewarmed", ROUTE_OWNER, .plain = no_pool},
	{METHOD_POST, "/v1/sandbox", ROUTE_OWNER, .plain = create},
	{METHOD_DELETE, "/v1/sandbox/{}", ROUTE_OWNER, .plain = sandbox_delete},
	{METHOD_GET, "/v1/sandbox/{}/running", ROUTE_OWNER, .plain = running},
	{METHOD_GET, "/v1/sandbox/{}/pty", ROUTE_OWNER, .plain = no_upgrade},
	{METHOD_POST, "/v1/sandbox/{}/mount", ROUTE_OWNER, .plain = not_implemented},
	{METHOD_POST, "/v1/sandbox/{}/unmount", ROUTE_OWNER, .plain = not_implemented},
	{METHOD_POST, "/v1/sandbox/{}/tunnel/{}", ROUTE_OWNER, .plain = not_implemented},
	{METHOD_DELETE, "/v1/sandbox/{}/tunnel/{}", ROUTE_OWNER, .plain = not_implemented},
	{.path = NULL},
};
