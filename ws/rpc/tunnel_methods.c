/* What the API calls a run of a tunnel is a tunnel to the container's client, and a run to the preview's. */
#include "ws/rpc/tunnel_methods.h"

const char *tunnel_methods_mend_named(json_t *body, const json_t *arguments)
{
	(void)arguments;
	json_object_set_new(body, "mode", json_string("named"));
	return NULL;
}

const char *tunnel_methods_mend_run(json_t *body, const json_t *arguments)
{
	json_t *token = json_object_get(body, "cloudflaredToken");
	(void)arguments;
	if (token)
		json_object_set(body, "token", token);
	json_object_del(body, "cloudflaredToken");
	/* Without one it would be another at every call. */
	return json_object_get(body, "runId") ? NULL : "runId";
}

static json_t *tunnel_of(const json_t *run)
{
	json_t *tunnel = json_pack("{s:O?, s:O?, s:O?}", "id", json_object_get(run, "tunnelId"),
		"port", json_object_get(run, "port"), "createdAt",
		json_object_get(run, "startedAt"));
	json_t *url = json_object_get(run, "url");
	if (url) {
		json_object_set(tunnel, "url", url);
		json_object_set(tunnel, "hostname", json_object_get(run, "hostname"));
	}
	return tunnel;
}

json_t *tunnel_methods_result(const json_t *answer, const json_t *arguments)
{
	(void)arguments;
	return tunnel_of(json_object_get(answer, "run"));
}

json_t *tunnel_methods_results(const json_t *answer, const json_t *arguments)
{
	json_t *list = json_array(), *each;
	size_t i;
	(void)arguments;
	json_array_foreach (json_object_get(answer, "tunnels"), i, each)
		json_array_append_new(list, tunnel_of(each));
	return json_pack("[o]", list);
}

const char *tunnel_methods_listener(bool preview)
{
	return preview ? "onTunnelRunExit" : "onTunnelExit";
}

json_t *tunnel_methods_gone(bool preview, const struct tunnel_gone *gone)
{
	json_t *code = gone->code < 0 ? json_null() : json_integer((json_int_t)gone->code);
	if (preview)
		return json_pack("[[{s:s, s:s, s:s, s:i, s:o}]]", "tunnelId", gone->id, "runId",
			gone->run, "mode", gone->named ? "named" : "quick", "port", (int)gone->port,
			"exitCode", code);
	json_t *list = json_pack("[s, i, o]", gone->id, (int)gone->port, code);
	if (*gone->run)
		json_array_append_new(list, json_string(gone->run));
	return json_pack("[o]", list);
}
