/*
 * See outline.h. Reads the bytes up to the next event, then the event, which may change the source
 * of the bytes. Lost bytes are reported, lost events are counted, and reading continues.
 */
#include "shell/output/outline.h"

#include <string.h>

bool outline_place(const struct outline *o, struct outline_place *ret_place)
{
	*ret_place = (struct outline_place){o->offset, o->position, o->streams.source};
	return o->marks.length == 0 && !o->streams.cr && o->records.length == 0;
}

struct reader {
	struct outline *o;
	const struct outline_callbacks *callbacks;
	void *user;
	const struct event *event; /* the current event */
	uint64_t position;         /* where it begins */
};

void outline_init(struct outline *o, const char *nonce, uint64_t offset, uint64_t position,
	enum event_source source)
{
	*o = (struct outline){.nonce = nonce, .offset = offset, .position = position};
	streams_init(&o->streams, source);
}

static void on_text(void *user, uint64_t offset, const void *bytes, size_t length)
{
	struct reader *r = user;
	r->callbacks->text(r->user, EVENT_SOURCE_TERMINAL, offset, bytes, length);
}

static void on_mark(void *user, const struct mark *mark)
{
	struct reader *r = user;
	if (r->callbacks->mark)
		r->callbacks->mark(r->user, mark);
}

static void on_record(void *user, const struct record *record)
{
	struct reader *r = user;
	if (r->callbacks->record)
		r->callbacks->record(r->user, record, &r->event->header, r->position);
}

static void on_stream(void *user, enum event_source source, const uint8_t *bytes, size_t length)
{
	struct reader *r = user;
	r->callbacks->text(r->user, source, r->o->offset - length, bytes, length);
}

/* Read the bytes up to limit, all of one source. */
static void read_bytes(struct reader *r, const struct stream *s, uint64_t limit)
{
	struct outline *o = r->o;
	const struct marks_callbacks callbacks = {.text = on_text, .mark = on_mark, .user = r};
	while (o->offset < limit) {
		uint8_t copy[4096];
		size_t length = limit - o->offset < sizeof copy ? (size_t)(limit - o->offset)
								: sizeof copy;
		if (!stream_copy(s, o->offset, copy, length)) {
			uint64_t to = stream_skip(s, o->offset, limit);
			r->callbacks->lost(r->user, to - o->offset);
			o->offset = to;
			continue;
		}
		uint64_t offset = o->offset;
		o->offset += length;
		if (o->streams.source == EVENT_SOURCE_TERMINAL)
			marks_feed(&o->marks, o->nonce, offset, copy, length, &callbacks);
		else
			streams_feed(&o->streams, copy, length, on_stream, r);
	}
}

static void handle_event(struct reader *r, const struct event *e)
{
	struct outline *o = r->o;
	struct event_shell shell;
	uint32_t source;
	if (e->header.type == EVENT_SOURCE && e->header.length == sizeof source) {
		memcpy(&source, e->payload, sizeof source);
		if (source <= EVENT_SOURCE_STDERR_PTY)
			streams_label(&o->streams, (enum event_source)source, on_stream, r);
	} else if (e->header.type == EVENT_FIFO) {
		/* The holder never separates a CR that it has added from its LF. */
		streams_label(&o->streams, o->streams.source, on_stream, r);
		r->event = e;
		record_feed(&o->records, o->nonce, e->payload, e->header.length, on_record, r);
	} else if (e->header.type == EVENT_SHELL && e->header.length >= sizeof shell &&
		r->callbacks->shell) {
		memcpy(&shell, e->payload, sizeof shell);
		r->callbacks->shell(r->user, &shell, &e->header);
	}
}

bool outline_read(struct outline *o, const struct ring *ring, uint64_t limit, size_t budget,
	const struct outline_callbacks *callbacks, void *user)
{
	struct reader r = {.o = o, .callbacks = callbacks, .user = user};
	struct event e;
	if (limit < o->offset)
		return false;
	uint64_t end = limit - o->offset > budget ? o->offset + budget : limit;
	/* Bounded: a malicious process could add events as fast as they are read. */
	for (size_t left = event_log_max(&ring->events); left > 0; left--) {
		uint64_t next = o->position;
		int rc = event_read(&ring->events, &next, &e);
		if (rc < 0) {
			o->events_lost++;
			o->position = next;
			continue;
		}
		uint64_t to = rc > 0 && e.header.offset < end ? e.header.offset : end;
		read_bytes(&r, &ring->bytes, to);
		if (rc == 0 || e.header.offset > end)
			break;
		r.position = o->position;
		o->position = next;
		handle_event(&r, &e);
	}
	return o->offset < limit;
}
