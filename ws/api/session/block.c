/* GET /api/session/ID/blocks: the commands of a session. */
#include "ws/api/session/block.h"

#include "ws/api/api.h"
#include "ws/json/block.h"
#include "ws/api/read/query.h"
#include "ws/api/rows.h"
#include "ws/api/session/with_screen.h"

#include <string.h>

#define LIMIT_DEFAULT 100u

struct block *api_find_block(struct request *r, struct session *s)
{
	struct block *b = blocks_find(session_blocks(s), r->match.item);
	if (!b)
		reply_error(r, "BLOCK_NOT_FOUND", "There is no such block, or it is too old",
			json_pack("{s:s, s:s}", "sessionId", session_id(s), "blockId",
				r->match.item));
	return b;
}

/* Listing */

struct filter {
	uint64_t limit, before, after; /* offsets */
	uint64_t status;
	bool has_status;
	const char *author, *label, *text, *state;
};

static bool parse_filter(struct request *r, struct filter *f)
{
	*f = (struct filter){.limit = LIMIT_DEFAULT, .before = UINT64_MAX};
	f->author = request_param(r, "author");
	f->label = request_param(r, "label");
	f->text = request_param(r, "text");
	f->state = request_param(r, "state");
	f->has_status = request_param(r, "status") != NULL;
	if (f->state && strcmp(f->state, "running") != 0 && strcmp(f->state, "done") != 0)
		return reply_invalid(r, "state", "Must be running or done", "invalid");
	return query_number(r, "limit", BLOCKS_KEPT, &f->limit) &&
		query_number(r, "before", INT64_MAX, &f->before) &&
		query_number(r, "after", INT64_MAX, &f->after) &&
		query_number(r, "status", 255, &f->status);
}

static bool passes(const struct filter *f, const struct block *b)
{
	const char *author = b->author ? b->author : b->exec[0] ? "" : "human";
	return !b->tentative && b->start < f->before && b->start >= f->after &&
		(!f->author || strcmp(f->author, author) == 0) &&
		(!f->label || (b->label && strcmp(f->label, b->label) == 0)) &&
		(!f->text || (b->command && strstr(b->command, f->text))) &&
		(!f->state || b->done == (strcmp(f->state, "done") == 0)) &&
		(!f->has_status || (b->done && b->status == (int)f->status));
}

static void reply_blocks(struct request *r, struct session *s)
{
	struct filter f;
	const struct blocks *all = session_blocks(s);
	if (!parse_filter(r, &f))
		return;
	json_t *list = json_array(), *next = json_null();
	const struct block *b = all->list ? all->list->prev : NULL;
	/* The newest matches, in order of time. */
	for (; b; b = b == all->list ? NULL : b->prev) {
		if (!passes(&f, b))
			continue;
		if (json_array_size(list) == f.limit) {
			json_t *oldest = json_object_get(json_array_get(list, 0), "start");
			next = json_incref(oldest);
			break;
		}
		json_array_insert_new(list, 0, block_json_with_lines(s, b));
	}
	reply_success(r, json_pack("{s:o, s:o}", "blocks", list, "next", next));
}

/* The lines of blocks depend on the current screen. */
static void list_blocks(struct request *r, struct session *s)
{
	with_screen(r, s, reply_blocks);
}

static void reply_block(struct request *r, struct session *s)
{
	const struct block *b = api_find_block(r, s);
	if (b)
		reply_success(r, json_pack("{s:o}", "block", block_json_with_lines(s, b)));
}

static void show_block(struct request *r, struct session *s)
{
	with_screen(r, s, reply_block);
}

const struct route_row api_block_rows[] = {
	{METHOD_GET, "/api/session/{}/blocks", ROUTE_VIEWER, .session = list_blocks},
	{METHOD_GET, "/api/session/{}/blocks/{}", ROUTE_VIEWER, .session = show_block},
	{.path = NULL},
};
