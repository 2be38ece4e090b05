/* Reading a command's output from the ring again, or at a reader's own pace. */
#include "shell/exec/internal.h"

struct rereading {
	const struct exec *e;
	struct excerpt *output;
	size_t budget;
	uint64_t lost;
};

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	struct rereading *r = user;
	enum exec_stream stream = exec_clip_output(r->e, source, offset, &bytes, &length);
	if (stream != EXEC_STREAMS)
		excerpt_add(&r->output[stream], bytes, length, &r->budget);
}

static void on_lost(void *user, uint64_t bytes)
{
	struct rereading *r = user;
	r->lost += bytes;
}

static const struct outline_callbacks callbacks = {.text = on_text, .lost = on_lost};

void exec_outline(
	const struct exec *e, const struct outline_place *from, struct outline *ret_outline)
{
	/* At that place the current source is the terminal. */
	const struct outline_place begin = {.offset = e->typed_offset,
		.position = e->typed_position,
		.source = EVENT_SOURCE_TERMINAL};
	const struct outline_place *at = from ? from : &begin;
	outline_init(ret_outline, e->executor->nonce, at->offset, at->position, at->source);
}

bool exec_has_ring(const struct exec *e)
{
	return e->executor->open;
}

uint64_t exec_readable(const struct exec *e)
{
	if (e->state == EXEC_DONE)
		return e->over_offset > e->end_offset ? e->over_offset : e->end_offset;
	return e->state == EXEC_QUEUED ? 0 : e->executor->outline.offset;
}

uint64_t exec_delivered(const struct exec *e)
{
	const struct outline *o = &e->executor->outline;
	return e->state == EXEC_DONE ? e->end_offset : o->offset - o->marks.length;
}

uint64_t exec_reread(struct exec *e, size_t limit, struct excerpt output[EXEC_STREAMS])
{
	struct outline outline;
	struct rereading r = {.e = e, .output = output, .budget = EXEC_STREAMS * limit};
	for (int i = 0; i < EXEC_STREAMS; i++)
		excerpt_init(&output[i], limit);
	if (e->state == EXEC_QUEUED || !exec_has_ring(e))
		return 0;
	exec_outline(e, NULL, &outline);
	outline_read(&outline, &e->executor->pane->held.link.ring, exec_readable(e), SIZE_MAX,
		&callbacks, &r);
	return r.lost;
}
