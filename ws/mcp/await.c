/*
 * Three requests: one for the command, which waits a moment; a wait of its session for the first of
 * several conditions; and one for the command again, which is the answer. A queued command is
 * polled instead, because input is then awaited by another command.
 */
#include "ws/mcp/await.h"

#include "ws/mcp/exec.h"

#include <stdio.h>
#include <string.h>
#include <uv.h>

#define QUEUED_MS 250
#define BYTES_MAX UINT64_C(16384) /* capacity of the smallest ring */

static json_int_t left_ms(const struct mcp_call *c)
{
	json_int_t spent = (json_int_t)((uv_hrtime() - c->began_ns) / 1000000);
	return c->await.ms > spent ? c->await.ms - spent : 0;
}

static void request_exec(struct mcp_call *c, mcp_step next, json_int_t ms)
{
	char wait[24], from[24], bytes[24];
	snprintf(wait, sizeof wait, "%lld", (long long)ms);
	snprintf(from, sizeof from, "%llu", (unsigned long long)c->cursor);
	snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)c->await.page);
	const char *const params[] = {
		"waitMs", wait, "format", "raw", "from", from, "bytes", bytes, NULL};
	mcp_request(c, next, METHOD_GET, mcp_path(c, "/exec/%s", c->exec), NULL, params);
}

static void on_waited(struct mcp_call *c, const struct mcp_answer *a)
{
	const char *type = json_string_value(json_object_get(a->json, "type"));
	/* If the wait was refused or the page is incomplete, wait for the command instead. */
	bool more = a->status >= 400 || (type && strcmp(type, "bytes") == 0);
	request_exec(c, c->await.next, more ? left_ms(c) : 0);
}

static void wait_for_any(struct mcp_call *c)
{
	json_t *until = json_pack("[{s:s, s:s}, {s:s, s:b}]", "type", "exec", "id", c->exec, "type",
		"input", "certain", 1);
	json_t *body = json_pack("{s:o, s:I}", "until", until, "timeoutMs", left_ms(c));
	if (c->await.has_after)
		json_object_set_new(body, "after", json_integer((json_int_t)c->await.after));
	if (c->await.page > 0) {
		json_array_append_new(until,
			json_pack("{s:s, s:I}", "type", "bytes", "count",
				(json_int_t)(c->await.page < BYTES_MAX ? c->await.page : BYTES_MAX)));
		json_object_set_new(body, "from", json_integer((json_int_t)c->cursor));
	}
	mcp_request(c, on_waited, METHOD_POST, mcp_path(c, "/wait"), body, NULL);
}

static void on_exec(struct mcp_call *c, const struct mcp_answer *a)
{
	const json_t *exec = json_object_get(a->json, "data");
	const char *state = json_string_value(json_object_get(exec, "state"));
	json_int_t left = left_ms(c);
	if (a->status >= 400 || left == 0 || mcp_exec_is_done(exec))
		c->await.next(c, a);
	else if (state && strcmp(state, "running") == 0)
		wait_for_any(c);
	else
		request_exec(c, on_exec, left < QUEUED_MS ? left : QUEUED_MS);
}

void mcp_await(struct mcp_call *c, const struct mcp_await *how)
{
	c->await = *how;
	json_int_t left = left_ms(c);
	request_exec(c, on_exec, left < (json_int_t)MCP_FIRST_MS ? left : (json_int_t)MCP_FIRST_MS);
}
