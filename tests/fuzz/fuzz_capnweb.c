/* Messages of clients at /rpc, one a line, to methods that echo, wait, stream and read. All output must be JSON. */
#include "tests/fuzz/fuzz.h"
#include "ws/rpc/engine.h"
#include "ws/rpc/wire.h"

#include <stdlib.h>

#define LATER_MAX 256u

static struct {
	struct rpc_call *later[LATER_MAX];
	size_t later_count, pieces;
	struct rpc_flow *flow;
	struct rpc_reader *reader;
} api;

static enum rpc_member on_member(void *user, const char *space, const char *method)
{
	(void)user;
	(void)method;
	return strcmp(space, "x") != 0 ? RPC_NOTHING : method ? RPC_METHOD : RPC_SPACE;
}

static enum rpc_piece on_next(void *user, json_t **ret_piece, size_t *ret_size)
{
	(void)user;
	if (api.pieces == 0)
		return RPC_END;
	api.pieces--;
	*ret_piece = wire_from_bytes("piece", 5);
	*ret_size = 5;
	return RPC_PIECE;
}

static void on_nothing(void *user)
{
	(void)user;
}

static void on_reader_closed(void *user)
{
	(void)user;
	api.reader = NULL;
}

static void on_piece(void *user, const uint8_t *bytes, size_t length)
{
	(void)user;
	(void)bytes;
	if (length % 2 == 0)
		rpc_reader_resume(api.reader);
}

static enum rpc_piece on_next_value(void *user, json_t **ret_piece, size_t *ret_size)
{
	enum rpc_piece state = on_next(user, ret_piece, ret_size);
	if (state == RPC_PIECE)
		*ret_piece = json_pack("{s:o, s:[[i]]}", "data", *ret_piece, "list", 1);
	return state;
}

static void keep(struct rpc_call *c)
{
	if (api.later_count == LATER_MAX) {
		rpc_call_resolve(c, json_null());
		return;
	}
	api.later[api.later_count++] = c;
}

static void on_call(void *user, struct rpc_call *c)
{
	static const struct rpc_source source = {.next = on_next, .closed = on_nothing};
	static const struct rpc_source values = {.next = on_next_value, .closed = on_nothing};
	static const struct rpc_sink sink = {
		.piece = on_piece, .complete = on_reader_closed, .broken = on_reader_closed};
	const json_t *argument = rpc_call_argument(c, 0);
	size_t length;
	(void)user;
	switch (*rpc_call_method(c)) {
	case 'e': {
		json_t *plain = argument ? wire_to_json(argument) : NULL;
		free(wire_bytes(argument, &length));
		rpc_call_resolve(c, plain ? wire_from_json(plain) : wire_undefined());
		json_decref(plain);
		break;
	}
	case 's':
		api.pieces = 2;
		rpc_call_stream(c, &source, NULL, NULL, &api.flow);
		break;
	case 'r':
		if (!api.reader && (api.reader = rpc_call_read(c, 0, &sink)))
			rpc_reader_resume(api.reader);
		keep(c);
		break;
	case 'b':
		rpc_call_function(c, 0, "f", json_pack("[[s]]", "x"), on_nothing, NULL);
		keep(c);
		break;
	case 'v':
		api.pieces = 3;
		rpc_call_stream(c, &values, json_pack("{s:i}", "size", 1), "content", &api.flow);
		break;
	case 'f':
		rpc_call_reject(c, wire_error("Error", "no", "CODE", NULL));
		break;
	default:
		keep(c);
	}
}

static void on_cancelled(void *user, struct rpc_call *c)
{
	(void)user;
	for (size_t i = 0; i < api.later_count; i++)
		if (api.later[i] == c)
			api.later[i] = api.later[--api.later_count];
}

static void send_all(struct rpc_engine *e)
{
	json_t *json;
	while ((json = rpc_engine_next(e)) || rpc_engine_has_next(e)) {
		FUZZ_CHECK(!json || (json_dumpb(json, NULL, 0, 0) > 0 && wire_head(json)));
		json_decref(json);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rpc_callbacks callbacks = {
		.member = on_member, .call = on_call, .cancelled = on_cancelled};
	memset(&api, 0, sizeof api);
	struct rpc_engine *e = rpc_engine_create(&callbacks, NULL);
	FUZZ_CHECK(e);
	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t length = end ? (size_t)(end - data) - at : size - at;
		if (length > 0)
			rpc_engine_receive(e, (const char *)data + at, length);
		/* An empty line: answer the waiting calls. */
		while (length == 0 && api.later_count > 0)
			rpc_call_resolve(
				api.later[--api.later_count], json_pack("{s:[[i]]}", "a", 1));
		send_all(e);
		at += length + 1;
	}
	rpc_engine_destroy(e);
	FUZZ_CHECK(api.later_count == 0);
	return 0;
}
