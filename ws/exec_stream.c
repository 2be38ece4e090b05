#include "ws/exec_stream.h"

#include "shell/clock.h"
#include "shell/sessions.h"
#include "ws/base64.h"
#include "ws/exec_json.h"
#include "ws/text.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define STEP ((size_t)16 << 10) /* bytes of the ring that are read at once */

struct item {
	struct item *prev, *next;
	char *json;
};

struct follower {
	struct request *request;
	struct exec *exec; /* NULL once it is forgotten */
	struct exec_watcher watcher;
	enum exec_stream_kind kind;
	bool bytes; /* output as base64 */
	struct outline outline;
	bool outlined, start_told, end_told;
	struct text_decoder decoders[EXEC_STREAMS];
	struct item *items; /* what the last step has given */
};

static void put(struct follower *f, json_t *event)
{
	char now[CLOCK_TEXT_SIZE];
	struct item *item = calloc(1, sizeof *item);
	clock_format(clock_wall_ms(), now);
	if (event)
		json_object_set_new(event, "timestamp", json_string(now));
	char *text = event && item ? json_dumps(event, JSON_COMPACT) : NULL;
	json_decref(event);
	if (!text) {
		free(item);
		return;
	}
	item->json = text;
	DL_APPEND(f->items, item);
}

static const char *stream_name(const struct follower *f, int stream)
{
	if (stream == EXEC_ERROR)
		return "stderr";
	return f->kind == EXEC_STREAM_NATIVE && f->exec->plan.streams == EXEC_TERMINAL ? "output"
										       : "stdout";
}

static void put_text(struct follower *f, int stream, const void *bytes, size_t length, bool last)
{
	json_t *text = f->bytes ? base64_json(bytes, length)
				: text_json(&f->decoders[stream], bytes, length, last);
	if (text && json_string_length(text) > 0)
		put(f, json_pack("{s:s, s:O}", "type", stream_name(f, stream), "data", text));
	json_decref(text);
}

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	struct follower *f = user;
	enum exec_stream stream = exec_keeps(f->exec, source, offset, &bytes, &length);
	if (stream != EXEC_STREAMS)
		put_text(f, stream, bytes, length, false);
}

static void on_lost(void *user, uint64_t bytes)
{
	struct follower *f = user;
	put(f, json_pack("{s:s, s:I}", "type", "truncated", "bytes", (json_int_t)bytes));
}

static void on_mark(void *user, const struct mark *mark)
{
	(void)user;
	(void)mark;
}

static void on_record(void *user, const struct record *record, const struct event_header *event,
	uint64_t position)
{
	(void)user;
	(void)record;
	(void)event;
	(void)position;
}

static const struct outline_callbacks callbacks = {
	.text = on_text, .mark = on_mark, .record = on_record, .lost = on_lost};

static void tell_start(struct follower *f)
{
	struct exec *e = f->exec;
	f->start_told = true;
	if (f->kind == EXEC_STREAM_NATIVE)
		put(f, json_pack("{s:s, s:o}", "type", "start", "data", exec_json(e)));
	else
		put(f,
			json_pack("{s:s, s:s, s:s}", "type", "start", "command", e->command,
				"sessionId", e->executor->session->id));
}

static void tell_end(struct follower *f)
{
	struct exec *e = f->exec;
	f->end_told = true;
	for (int i = 0; i < EXEC_STREAMS; i++)
		put_text(f, i, "", 0, true);
	if (f->kind == EXEC_STREAM_NATIVE)
		put(f, json_pack("{s:s, s:o}", "type", "end", "data", exec_json(e)));
	else if (e->end <= EXEC_END_PROMPT || exec_outlived(e))
		put(f, json_pack("{s:s, s:i}", "type", "complete", "exitCode", e->status));
	else
		put(f,
			json_pack("{s:s, s:s, s:o}", "type", "error", "data", exec_end_reason(e),
				"exitCode", e->status < 0 ? json_null() : json_integer(e->status)));
	reply_stream_complete(f->request);
}

/* One step. Returns whether there may be another one at once. */
static bool step(struct follower *f)
{
	struct exec *e = f->exec;
	if (!f->outlined && (e->state == EXEC_RUNNING || e->state == EXEC_DONE)) {
		f->outlined = true;
		exec_outline(e, &f->outline);
	}
	if (!f->start_told && (e->state == EXEC_RUNNING || e->state == EXEC_DONE)) {
		tell_start(f);
		return true;
	}
	bool more = f->outlined && e->executor->open &&
		outline_read(&f->outline, &e->executor->session->link.ring, exec_readable(e), STEP,
			&callbacks, f);
	if (!more && e->state == EXEC_DONE)
		tell_end(f);
	return more;
}

static char *next(void *user)
{
	struct follower *f = user;
	while (!f->items && f->exec && !f->end_told && step(f))
		;
	struct item *item = f->items;
	if (!item)
		return NULL;
	char *json = item->json;
	DL_DELETE(f->items, item);
	free(item);
	return json;
}

static void on_changed(void *user, struct exec *e)
{
	struct follower *f = user;
	(void)e;
	if (f->request->transport)
		f->request->transport->more(f->request->transport_user);
}

static void on_gone(void *user)
{
	struct follower *f = user;
	if (!f->end_told && !f->items)
		put(f, json_pack("{s:s, s:s}", "type", "error", "data", "The session is no more"));
	f->exec = NULL;
	if (!f->end_told)
		reply_stream_complete(f->request);
	f->end_told = true;
}

static void on_closed(void *user)
{
	struct follower *f = user;
	struct request *r = f->request;
	struct item *item, *next_item;
	if (f->exec)
		exec_unwatch(f->exec, &f->watcher);
	DL_FOREACH_SAFE (f->items, item, next_item) {
		free(item->json);
		free(item);
	}
	free(f);
	request_unref(r);
}

void exec_stream_open(struct request *r, struct exec *e, enum exec_stream_kind kind, bool bytes)
{
	struct follower *f = calloc(1, sizeof *f);
	if (!f) {
		reply_error(r, "INTERNAL_ERROR", "Out of memory", NULL);
		return;
	}
	f->request = request_ref(r);
	f->exec = e;
	f->kind = kind;
	f->bytes = bytes;
	f->watcher = (struct exec_watcher){.changed = on_changed, .gone = on_gone, .user = f};
	exec_watch(e, &f->watcher);
	reply_stream(r, &(struct event_stream){.next = next, .closed = on_closed, .user = f});
}
