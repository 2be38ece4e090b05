/* Blocks: listing them, and reading their output. */
#include "ring/utf8.h"
#include "shell/block/output.h"
#include "ws/api/api.h"
#include "ws/api/json/block.h"
#include "ws/api/read/query.h"
#include "ws/api/rows.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 100u
#define OUTPUT_MAX ((size_t)8 << 20) /* bytes of text in an answer */
#define OUTPUT_DEFAULT ((size_t)1 << 20)

/* The block of the path; otherwise r has been answered. */
static struct block *find_block(struct request *r, struct session *s)
{
	struct block *b = blocks_find(session_blocks(s), r->match.item);
	if (!b)
		reply_error(r, "BLOCK_NOT_FOUND", "There is no such block, or it is forgotten",
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

static bool take_filter(struct request *r, struct filter *f)
{
	*f = (struct filter){.limit = LIMIT_DEFAULT, .before = UINT64_MAX};
	f->author = request_param(r, "author");
	f->label = request_param(r, "label");
	f->text = request_param(r, "text");
	f->state = request_param(r, "state");
	f->has_status = request_param(r, "status") != NULL;
	if (f->state && strcmp(f->state, "running") != 0 && strcmp(f->state, "done") != 0) {
		reply_invalid(r, "state", "Must be running or done", "invalid");
		return false;
	}
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

static void list_blocks(struct request *r, struct session *s)
{
	struct filter f;
	const struct blocks *all = session_blocks(s);
	if (!take_filter(r, &f))
		return;
	json_t *list = json_array(), *next = json_null();
	const struct block *b = all->list ? all->list->prev : NULL;
	/* The newest of them, the newest last. */
	for (; b; b = b == all->list ? NULL : b->prev) {
		if (!passes(&f, b))
			continue;
		if (json_array_size(list) == f.limit) {
			json_t *oldest = json_object_get(json_array_get(list, 0), "start");
			next = json_incref(oldest);
			break;
		}
		json_array_insert_new(list, 0, block_json(s, b));
	}
	reply_success(r, json_pack("{s:o, s:o}", "blocks", list, "next", next));
}

static void show_block(struct request *r, struct session *s)
{
	const struct block *b = find_block(r, s);
	if (b)
		reply_success(r, json_pack("{s:o}", "block", block_json(s, b)));
}

/* Output */

struct wanted {
	enum block_format format;
	bool json;
	uint64_t from, to, head, tail;
	bool limited;
};

static bool take_wanted(struct request *r, const struct block *b, struct wanted *w)
{
	static const char *const names[] = {"text", "ansi", "bytes", "json"};
	const char *format = request_param(r, "format");
	unsigned i = 0;
	*w = (struct wanted){.from = b->start, .to = UINT64_MAX, .head = OUTPUT_DEFAULT};
	while (format && i < 4 && strcmp(format, names[i]) != 0)
		i++;
	if (i == 4) {
		reply_invalid(r, "format", "Must be text, ansi, bytes or json", "invalid");
		return false;
	}
	w->json = i == 3;
	w->format = w->json ? BLOCK_TEXT : (enum block_format)i;
	w->limited = request_param(r, "head") || request_param(r, "tail");
	if (w->limited)
		w->head = 0;
	return query_number(r, "from", INT64_MAX, &w->from) &&
		query_number(r, "to", INT64_MAX, &w->to) &&
		query_number(r, "head", OUTPUT_MAX, &w->head) &&
		query_number(r, "tail", OUTPUT_MAX, &w->tail);
}

/* Head and tail of the text, with what is between them left out; returns how many bytes that is. */
static size_t cut(struct block_output *o, const struct wanted *w, size_t *ret_head)
{
	size_t head = (size_t)w->head, tail = (size_t)w->tail;
	*ret_head = o->length;
	if (o->length <= head + tail)
		return 0;
	size_t from = o->length - tail;
	if (w->format != BLOCK_BYTES) { /* between characters */
		head = utf8_cut(o->text, o->length, head);
		from += utf8_orphaned(o->text + from, o->length - from, SIZE_MAX);
	}
	size_t omitted = from - head;
	memmove(o->text + head, o->text + from, o->length - from);
	o->length -= omitted;
	*ret_head = head;
	return omitted;
}

static void reply_output_json(struct request *r, const struct session *s, const struct block *b,
	const struct block_output *o, size_t head, size_t omitted)
{
	struct text_decoder decoder = {0};
	reply_success(r,
		json_pack("{s:o, s:b, s:I, s:I, s:I, s:I, s:b, s:I, s:o}", "text",
			text_json(&decoder, o->text, o->length, true), "truncated", omitted > 0,
			"omitted", (json_int_t)omitted, "head", (json_int_t)head, "from",
			(json_int_t)o->from, "to", (json_int_t)o->to, "exact", b->done && b->exact,
			"lost", (json_int_t)o->lost, "block", block_json(s, b)));
}

static void number_header(struct request *r, const char *name, uint64_t n)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)n);
	reply_header(r, name, text);
}

static void show_block_output(struct request *r, struct session *s)
{
	struct block *b = find_block(r, s);
	struct wanted w;
	struct block_output o;
	size_t head;
	if (!b || !take_wanted(r, b, &w))
		return;
	if (block_output(&s->pane, b, w.format, w.from, w.to, &o) < 0) {
		reply_error(r, "INTERNAL_ERROR", "There is no memory for the output", NULL);
		return;
	}
	size_t omitted = cut(&o, &w, &head);
	if (w.json) {
		reply_output_json(r, s, b, &o, head, omitted);
		free(o.text);
		return;
	}
	number_header(r, "Ringside-From", o.from);
	number_header(r, "Ringside-To", o.to);
	number_header(r, "Ringside-Lost", o.lost);
	if (omitted > 0) {
		number_header(r, "Ringside-Head", head);
		number_header(r, "Ringside-Omitted", omitted);
	}
	reply_bytes(r, 200,
		w.format == BLOCK_BYTES ? "application/octet-stream" : "text/plain; charset=utf-8",
		o.text, o.length, o.text);
}

const struct route_row api_block_rows[] = {
	{METHOD_GET, "/api/session/{}/blocks", WHO_VIEWER, .session = list_blocks},
	{METHOD_GET, "/api/session/{}/blocks/{}", WHO_VIEWER, .session = show_block},
	{METHOD_GET, "/api/session/{}/blocks/{}/output", WHO_VIEWER, .session = show_block_output},
	{.path = NULL},
};
