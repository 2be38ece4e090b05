/*
 * See streams.h. The holder publishes each LF of a pipe together with the CR that it adds. So a CR
 * directly before an LF was added, and a CR at the end of the published bytes is the program's.
 */
#include "shell/output/streams.h"

#include "shell/output/output_file.h"

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

/* Remove the CRs before LFs in place. Returns the new length. */
static size_t remove_added_crs(uint8_t *bytes, size_t length)
{
	size_t done = 0, start = 0;
	while (start < length) {
		const uint8_t *cr = memchr(bytes + start, '\r', length - start);
		size_t stop = cr ? (size_t)(cr - bytes) : length;
		/* The CR itself stays unless an LF follows. */
		bool drop = cr && stop + 1 < length && bytes[stop + 1] == '\n';
		size_t n = stop - start + (cr && !drop);
		memmove(bytes + done, bytes + start, n);
		done += n;
		start = stop + (cr != NULL);
	}
	return done;
}

static uint64_t oldest_of(const struct streams_range *r)
{
	return r->file ? r->file->facts.oldest : stream_oldest(r->bytes);
}

static const struct labels *labels_of(const struct streams_range *r)
{
	return r->file ? &r->file->labels : r->labels;
}

/* Copy length bytes. Returns whether they could be read. */
static bool copy_at(const struct streams_range *r, uint64_t from, uint8_t *dst, size_t length)
{
	if (!r->file)
		return stream_copy(r->bytes, from, dst, length);
	const uint8_t *bytes = output_file_at(r->file, from, length);
	if (bytes)
		memcpy(dst, bytes, length);
	return bytes != NULL;
}

/* The first byte that is still there and has a known source. */
static uint64_t first_known(const struct streams_range *r)
{
	uint64_t oldest = oldest_of(r);
	if (oldest < labels_of(r)->floor)
		oldest = labels_of(r)->floor;
	return oldest < r->end ? oldest : r->end;
}

/* The number of bytes to read at once of a run of `run` bytes. */
static size_t limit(const struct streams_range *r, uint64_t run, size_t cap)
{
	if (r->file && cap > OUTPUT_FILE_WINDOW - 1)
		cap = OUTPUT_FILE_WINDOW - 1; /* read_run() reads one more */
	return run > cap ? cap : (size_t)run;
}

/*
 * Read about piece->length bytes of a run that ends at run_end, without splitting an added CR and
 * its LF. Sets piece->length. Returns the bytes consumed, or 0 if they could not be read.
 */
static size_t read_run(const struct streams_range *r, uint64_t from, uint64_t run_end, uint8_t *dst,
	struct streams_piece *piece)
{
	size_t length = piece->length;
	uint8_t next = 0;
	if (!copy_at(r, from, dst, length))
		return 0;
	if (is_plain(piece->source))
		return length;
	if (from + length < run_end && !copy_at(r, from + length, &next, 1))
		return 0;
	if (dst[length - 1] == '\r' && next == '\n') {
		if (length == 1) {
			dst[0] = '\n';
			return 2;
		}
		length--;
	}
	piece->length = remove_added_crs(dst, length);
	return length;
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
		ret_piece->source = labels_find(labels_of(r), *cursor, &run_end);
		run_end = run_end < r->end ? run_end : r->end;
		if (!(r->sources & 1u << ret_piece->source)) {
			*cursor = run_end;
			continue;
		}
		ret_piece->length = limit(r, run_end - *cursor, cap);
		size_t done = read_run(r, *cursor, run_end, dst, ret_piece);
		if (done > 0) {
			*cursor += done;
			return true;
		}
		uint64_t next = r->file ? *cursor + ret_piece->length
					: stream_skip(r->bytes, *cursor, r->end);
		ret_piece->lost += next - *cursor;
		*cursor = next;
	}
	return false;
}
