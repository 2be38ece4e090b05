/* Health, readiness, metrics, ping and version of the server, and the description of the API. */
#include "ws/api/api.h"
#include "ws/api/openapi.h"
#include "ws/json/session.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"

#include <string.h>

static void show_health(struct request *r)
{
	reply_bytes(r, 200, "text/plain; charset=utf-8", "ok\n", 3, NULL);
}

/* Why clients should not be sent here now, or NULL. */
static const char *unready_reason(const struct api *a)
{
	if (a->ending && *a->ending)
		return "the server is stopping\n";
	if (a->sessions->draining)
		return "the server is being drained\n";
	if (sessions_are_adopting(a->sessions))
		return "sessions of the previous server are being adopted\n";
	if (processes_adopting(a->processes))
		return "processes of the previous server are being adopted\n";
	return NULL;
}

static void show_readiness(struct request *r)
{
	const char *reason = unready_reason(api_of(r));
	const char *text = reason ? reason : "ready\n";
	reply_bytes(r, reason ? 503 : 200, "text/plain; charset=utf-8", text, strlen(text), NULL);
}

static void show_metrics(struct request *r)
{
	struct api *a = api_of(r);
	char *text = metrics_format(a->metrics, a->sessions);
	if (text)
		reply_bytes(r, 200, "text/plain; version=0.0.4; charset=utf-8", text, strlen(text),
			text);
	else
		refuse_memory(r);
}

static void answer_ping(struct request *r)
{
	reply_success(r, json_pack("{s:s, s:s}", "status", "healthy", "message", "pong"));
}

static void show_version(struct request *r)
{
	struct api *a = api_of(r);
	reply_success(r,
		json_pack("{s:s, s:s?, s:s, s:o}", "version", a->version, "url", a->url, "instance",
			a->instance, "startedAt", time_json(a->started_ms)));
}

static void show_reference(struct request *r)
{
	reply_bytes(r, 200, "application/json", openapi_document, openapi_document_length, NULL);
}

const struct route_row api_server_rows[] = {
	{METHOD_GET, "/healthz", ROUTE_PUBLIC, .plain = show_health, .probe = true},
	{METHOD_GET, "/readyz", ROUTE_PUBLIC, .plain = show_readiness, .probe = true},
	{METHOD_GET, "/metrics", ROUTE_OWNER, .plain = show_metrics},
	{METHOD_GET, "/api/ping", ROUTE_VIEWER, .plain = answer_ping},
	{METHOD_GET, "/api/version", ROUTE_VIEWER, .plain = show_version},
	{METHOD_GET, "/api/openapi.json", ROUTE_VIEWER, .plain = show_reference},
	{.path = NULL},
};
