#include "ws/api/bridge/body.h"

#include "ws/api/bridge/sandbox.h"
#include "ws/api/read/refuse.h"
#include "ws/upload.h"

#include <stdlib.h>
#include <string.h>

#define GROW ((size_t)64 << 10)

struct body {
	struct bridge *bridge;
	struct request *request; /* our reference */
	bridge_body_fn *whole;
	void *user;
	char *bytes;
	size_t length, capacity;
};

static void drop(struct body *b)
{
	struct request *r = b->request;
	bridge_body_free(b->bridge, b->bytes);
	free(b->user);
	free(b);
	request_unref(r);
}

void bridge_body_free(struct bridge *b, char *bytes)
{
	b->bodies--;
	free(bytes);
}

/* Capacity for this many bytes and more to come, at most for the whole body. */
static size_t capacity_for(const struct body *b, size_t length)
{
	uint64_t announced = upload_length(b->request);
	size_t most = announced < BRIDGE_BODY_MAX ? (size_t)announced : (size_t)BRIDGE_BODY_MAX;
	size_t wanted = length * 2 + GROW;
	if (wanted > most)
		wanted = most;
	return wanted > length ? wanted : length;
}

static void on_piece(void *user, const char *bytes, size_t length)
{
	struct body *b = user;
	if (b->length + length > b->capacity) {
		size_t capacity = capacity_for(b, b->length + length);
		char *more = realloc(b->bytes, capacity);
		if (!more) {
			refuse_memory(b->request);
			drop(b);
			return;
		}
		b->bytes = more;
		b->capacity = capacity;
	}
	memcpy(b->bytes + b->length, bytes, length);
	b->length += length;
}

static void on_complete(void *user)
{
	struct body *b = user;
	struct request *r = b->request;
	b->whole(r, b->user, b->bytes, b->length);
	free(b);
	request_unref(r);
}

static void on_broken(void *user, enum upload_end why)
{
	(void)why;
	drop(user);
}

void bridge_body_receive(struct bridge *bridge, struct request *r, bridge_body_fn *whole, void *user)
{
	struct body *b = NULL;
	if (bridge->bodies >= BRIDGE_BODIES_MAX)
		sandbox_refuse(r, 429, "capacity_exceeded", "Too many bodies are being received");
	else
		b = request_alloc(r, sizeof *b);
	if (!b) {
		free(user);
		return;
	}
	bridge->bodies++;
	*b = (struct body){
		.bridge = bridge, .request = request_ref(r), .whole = whole, .user = user};
	upload_begin(r,
		&(struct upload_sink){
			.piece = on_piece, .complete = on_complete, .broken = on_broken, .user = b});
}
