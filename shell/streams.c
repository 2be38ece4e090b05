/*
 * The holder publishes each LF of a pipe together with the CR that it puts before it. So a CR that stands
 * directly before an LF is the holder's, and one at the end of what has been published is the program's.
 */
#include "shell/streams.h"

#include <string.h>

static bool is_plain(enum event_source source)
{
	return source == EVENT_SOURCE_TERMINAL;
}

void streams_init(struct streams *s, enum event_source source)
{
	*s = (struct streams){.source = source};
}

static void flush(struct streams *s, streams_output *output, void *user)
{
	static const uint8_t cr = '\r';
	if (s->cr)
		output(user, s->source, &cr, 1);
	s->cr = false;
}

void streams_label(struct streams *s, enum event_source source, streams_output *output, void *user)
{
	flush(s, output, user);
	s->source = source;
}

void streams_feed(
	struct streams *s, const uint8_t *bytes, size_t length, streams_output *output, void *user)
{
	if (length == 0)
		return;
	if (is_plain(s->source)) {
		output(user, s->source, bytes, length);
		return;
	}
	if (s->cr && bytes[0] == '\n')
		s->cr = false;
	flush(s, output, user);
	size_t start = 0;
	for (size_t at = 0; at < length; at++) {
		const uint8_t *cr = memchr(bytes + at, '\r', length - at);
		if (!cr)
			break;
		at = (size_t)(cr - bytes);
		if (at + 1 < length && bytes[at + 1] != '\n')
			continue;
		if (at > start)
			output(user, s->source, bytes + start, at - start);
		start = at + 1;
		s->cr = start == length;
	}
	if (start < length)
		output(user, s->source, bytes + start, length - start);
}

/* Copy without the CRs before LFs. Returns the length. */
static size_t copy_exact(uint8_t *dst, const uint8_t *bytes, size_t length)
{
	size_t done = 0, start = 0;
	while (start < length) {
		const uint8_t *cr = memchr(bytes + start, '\r', length - start);
		size_t stop = cr ? (size_t)(cr - bytes) : length;
		/* The CR itself is copied unless an LF follows. */
		bool drop = cr && stop + 1 < length && bytes[stop + 1] == '\n';
		size_t n = stop - start + (cr && !drop);
		memcpy(dst + done, bytes + start, n);
		done += n;
		start = stop + (cr != NULL);
	}
	return done;
}

/* Where to stop reading a run of a pipe that goes on: not between a CR and its LF. */
static uint64_t cut(const struct stream *bytes, uint64_t from, uint64_t to, uint64_t run_end)
{
	if (to >= run_end || *stream_at(bytes, to - 1) != '\r' || *stream_at(bytes, to) != '\n')
		return to;
	return to - 1 > from ? to - 1 : to + 1;
}

/* The first byte that is there and has a known writer. */
static uint64_t first_known(const struct streams_range *r)
{
	uint64_t oldest = stream_oldest(r->bytes);
	if (oldest < r->labels->floor)
		oldest = r->labels->floor;
	return oldest < r->end ? oldest : r->end;
}

bool streams_read(const struct streams_range *r, uint64_t *cursor, uint8_t *dst, size_t cap,
	struct streams_piece *ret_piece)
{
	uint64_t run_end, oldest;
	*ret_piece = (struct streams_piece){0};
	while (*cursor < r->end) {
		oldest = first_known(r);
		if (*cursor < oldest) {
			ret_piece->lost += oldest - *cursor;
			*cursor = oldest;
			continue;
		}
		enum event_source source = labels_find(r->labels, *cursor, &run_end);
		run_end = run_end < r->end ? run_end : r->end;
		if (!(r->sources & 1u << source)) {
			*cursor = run_end;
			continue;
		}
		uint64_t to = run_end - *cursor > cap ? *cursor + cap : run_end;
		if (!is_plain(source))
			to = cut(r->bytes, *cursor, to, run_end);
		size_t length = (size_t)(to - *cursor);
		const uint8_t *from = stream_at(r->bytes, *cursor);
		if (is_plain(source))
			memcpy(dst, from, length);
		else
			length = copy_exact(dst, from, length);
		if (!stream_holds(r->bytes, *cursor))
			continue; /* it was overwritten meanwhile */
		ret_piece->source = source;
		ret_piece->length = length;
		*cursor = to;
		return true;
	}
	return false;
}
