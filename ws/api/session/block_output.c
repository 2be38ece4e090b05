/*
 * The output of blocks. The loop copies it; a thread renders, cuts and formats it. All links share
 * one turn: a request of a link waits for it, and keeps it until the thread is done, even if the
 * client disconnects. Session and block are looked up again after the wait.
 */
#include "ring/utf8.h"
#include "shell/block/output.h"
#include "ws/api/api.h"
#include "ws/json/block.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/api/session/block.h"
#include "ws/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_MAX ((size_t)8 << 20) /* bytes of text in an answer */
#define OUTPUT_DEFAULT ((size_t)1 << 20)

/* Parsing */

struct wanted {
	enum block_format format;
	bool json;
	uint64_t from, to, head, tail;
	bool limited;
};

static bool parse_wanted(struct request *r, const struct block *b, struct wanted *w)
{
	static const char *const names[] = {"text", "ansi", "bytes", "json"};
	unsigned i = 0;
	*w = (struct wanted){.from = b->start, .to = UINT64_MAX, .head = OUTPUT_DEFAULT};
	if (!query_choice(r, "format", names, 4, &i))
		return false;
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

/* Keep only the head and the tail of the text. Returns the number of removed bytes. */
static size_t cut(struct block_output *o, const struct wanted *w, size_t *ret_head)
{
	size_t head = (size_t)w->head, tail = (size_t)w->tail;
	*ret_head = o->length;
	if (o->length <= head + tail)
		return 0;
	size_t from = o->length - tail;
	if (w->format != BLOCK_BYTES) { /* keep characters whole */
		head = utf8_cut(o->text, o->length, head);
		from += utf8_leading_continuations(o->text + from, o->length - from, SIZE_MAX);
	}
	size_t omitted = from - head;
	memmove(o->text + head, o->text + from, o->length - from);
	o->length -= omitted;
	*ret_head = head;
	return omitted;
}

/* Rendering */

struct drawing {
	uv_work_t work;
	struct shift shift;
	struct request *request; /* our reference; NULL: the client has disconnected */
	char session[NAME_ID_MAX + 1];
	uint64_t epoch; /* of the session */
	struct wanted wanted;
	uint64_t worked_ns;         /* so far */
	bool busy;                  /* the thread uses the fields below */
	struct block_output output; /* finally the body of the answer */
	json_t *figures;            /* of format=json; owned */
	size_t head, omitted;
	bool stopped; /* rendering ended early */
	int error;    /* 0 or -ENOMEM */
};

static void destroy(struct drawing *d)
{
	json_decref(d->figures);
	free(d->output.text);
	free(d);
}

/* Replace the text by the JSON answer. */
static int write_json(struct drawing *d)
{
	struct text_decoder decoder = {0};
	struct block_output *o = &d->output;
	json_t *answer = json_pack("{s:o, s:b, s:I, s:I, s:I}", "text",
		text_json(&decoder, o->text, o->length, true), "truncated",
		d->omitted > 0 || d->stopped, "omitted", (json_int_t)d->omitted, "head",
		(json_int_t)d->head, "to", (json_int_t)o->to);
	json_object_update(answer, d->figures);
	answer = success_json(answer);
	char *text = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	if (!text)
		return -ENOMEM;
	free(o->text);
	o->text = text;
	o->length = strlen(text);
	return 0;
}

/* On a thread: uses only d. */
static void on_work(uv_work_t *work)
{
	struct drawing *d = work->data;
	uint64_t began = uv_hrtime(), to = d->output.to;
	d->error = block_output_draw(&d->output, d->wanted.format);
	d->stopped = d->output.to < to;
	if (d->error == 0)
		d->omitted = cut(&d->output, &d->wanted, &d->head);
	if (d->error == 0 && d->wanted.json)
		d->error = write_json(d);
	d->worked_ns += uv_hrtime() - began;
}

static void add_headers(struct request *r, const struct drawing *d)
{
	reply_header_number(r, "Ringside-From", d->output.from);
	reply_header_number(r, "Ringside-To", d->output.to);
	reply_header_number(r, "Ringside-Lost", d->output.lost);
	if (d->omitted == 0)
		return;
	reply_header_number(r, "Ringside-Head", d->head);
	reply_header_number(r, "Ringside-Omitted", d->omitted);
}

static void answer(struct drawing *d, struct request *r)
{
	struct block_output *o = &d->output;
	const char *type = d->wanted.json         ? "application/json"
		: d->wanted.format == BLOCK_BYTES ? "application/octet-stream"
						  : "text/plain; charset=utf-8";
	if (d->error < 0) {
		reply_error(r, "OUT_OF_MEMORY", "Out of memory", NULL);
		return;
	}
	if (!d->wanted.json && request_may_answer(r))
		add_headers(r, d);
	char *text = o->text;
	o->text = NULL;
	reply_bytes(r, 200, type, text, o->length, text);
}

static void on_drawn(uv_work_t *work, int status)
{
	struct drawing *d = work->data;
	struct request *r = d->request;
	(void)status; /* never cancelled */
	shift_end(&d->shift, d->worked_ns);
	if (r) {
		r->gone = NULL;
		answer(d, r);
		request_unref(r);
	}
	destroy(d);
}

/* Copy the output and start the thread. Returns false after it has answered the request. */
static bool begin(struct drawing *d, struct session *s)
{
	struct request *r = d->request;
	uint64_t began = uv_hrtime();
	const struct block *b = api_find_block(r, s);
	if (!b)
		return false;
	if (block_output(&s->pane, b, d->wanted.from, d->wanted.to, &d->output) < 0)
		return refuse_memory(r);
	if (d->wanted.json)
		d->figures = json_pack("{s:I, s:b, s:I, s:o}", "from", (json_int_t)d->output.from,
			"exact", b->done && b->exact, "lost", (json_int_t)d->output.lost, "block",
			block_json(s, b));
	d->worked_ns = uv_hrtime() - began;
	d->busy = true;
	d->work.data = d;
	uv_queue_work(api_of(r)->announce.loop, &d->work, on_work, on_drawn);
	return true;
}

static void give_up(struct drawing *d)
{
	shift_end(&d->shift, d->worked_ns);
	request_unref(d->request);
	destroy(d);
}

static void on_gone(void *user)
{
	struct drawing *d = user;
	if (!d->busy) {
		give_up(d);
		return;
	}
	request_unref(d->request);
	d->request = NULL;
}

static void on_shift(void *user)
{
	struct drawing *d = user;
	struct request *r = d->request;
	struct session *s = sessions_find(api_of(r)->sessions, d->session);
	bool good = s && session_epoch(s) == d->epoch;
	r->gone = NULL;
	if (good && begin(d, s)) {
		r->gone = on_gone;
		return;
	}
	if (!good)
		reply_error(r, "SESSION_DESTROYED", "The session has been deleted", NULL);
	give_up(d);
}

static void show_block_output(struct request *r, struct session *s)
{
	struct wanted w;
	const struct block *b = api_find_block(r, s);
	if (!b || !parse_wanted(r, b, &w))
		return;
	struct drawing *d = calloc(1, sizeof *d);
	int rc = d ? 1 : -ENOMEM;
	if (d && r->principal.link[0]) {
		d->shift = (struct shift){.begin = on_shift, .user = d};
		rc = shift_request(&api_of(r)->drawing_rota, r->principal.link, &d->shift);
	}
	if (rc < 0) {
		free(d);
		refuse_memory(r);
		return;
	}
	d->wanted = w;
	d->request = request_ref(r);
	d->epoch = session_epoch(s);
	snprintf(d->session, sizeof d->session, "%s", session_id(s));
	if (rc > 0 && !begin(d, s)) {
		give_up(d);
		return;
	}
	r->gone = on_gone;
	r->gone_user = d;
}

const struct route_row api_block_output_rows[] = {
	{METHOD_GET, "/api/session/{}/blocks/{}/output", ROUTE_VIEWER, .session = show_block_output},
	{.path = NULL},
};
