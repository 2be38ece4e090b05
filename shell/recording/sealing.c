/*
 * The index has an entry for each frame, so that reading can start there, and for each record that is not
 * output, up to its limits. The new file is synced before it replaces the old one.
 */
#include "shell/recording/sealing.h"

#include "shell/recording/segment_reader.h"
#include "shell/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define SEAL_FRAME ((size_t)256 << 10) /* bytes of records in a frame of a sealed segment */
#define SEAL_FRAMES_MAX 1024u          /* entries kept for frames */

struct seal {
	int fd;
	struct segment_codec *codec;
	uint64_t position;
	size_t length, count;
	bool fresh; /* the frame has no record yet */
	uint8_t *frame;
	size_t capacity;
	struct segment_entry entries[SEGMENT_INDEX_MAX];
	uint8_t index[SEGMENT_ENTRY * SEGMENT_INDEX_MAX + 64];
	uint8_t records[SEAL_FRAME + SEGMENT_RECORD_HEAD + SEGMENT_PAYLOAD_MAX];
};

static int put(struct seal *s, const uint8_t *bytes, size_t length)
{
	s->position += length;
	return write_all(s->fd, bytes, length);
}

static int put_frame(struct seal *s)
{
	if (s->length == 0)
		return 0;
	size_t size = segment_pack(s->codec, true, s->records, s->length, s->frame, s->capacity);
	s->length = 0;
	return size > 0 ? put(s, s->frame, size) : -ENOMEM;
}

static void note_place(struct seal *s, uint32_t kind, const struct segment_record *r)
{
	size_t most = SEGMENT_INDEX_MAX - (kind == SEGMENT_FRAME ? 0 : SEAL_FRAMES_MAX);
	if (s->count < most)
		s->entries[s->count++] = (struct segment_entry){.kind = kind,
			.position = s->position,
			.offset = r->offset,
			.time_us = r->time_us};
}

static int seal_record(struct seal *s, const struct segment_record *r)
{
	if (s->length == 0)
		note_place(s, SEGMENT_FRAME, r);
	if (r->type != SEGMENT_OUTPUT)
		note_place(s, r->type, r);
	s->length += segment_put_record(r, s->records + s->length, sizeof s->records - s->length);
	return s->length >= SEAL_FRAME ? put_frame(s) : 0;
}

/* Write head, records and index. */
static int seal_all(struct seal *s, struct segment_reader *reader)
{
	uint8_t head[SEGMENT_HEAD_MAX];
	struct segment_record r;
	int rc = put(s, head, segment_put_head(segment_reader_head(reader), head));
	while (rc == 0 && (rc = segment_reader_next(reader, &r)) > 0)
		rc = seal_record(s, &r);
	/* The segment ends at its first invalid part. */
	if (rc == 0 || rc == -EBADMSG)
		rc = put_frame(s);
	if (rc == 0) {
		segment_put_index(s->entries, s->count, s->index);
		rc = put(s, s->index, segment_index_size(s->count));
	}
	return rc == 0 && fsync(s->fd) < 0 ? -errno : rc;
}

int sealing_write(int dir_fd, const char *file, const char *to, struct segment_codec *codec)
{
	struct segment_reader *reader;
	int rc = segment_reader_open(dir_fd, file, &reader);
	if (rc < 0)
		return rc;
	struct seal *s = malloc(sizeof *s);
	uint8_t *frame = malloc(segment_frame_bound(sizeof s->records));
	int fd = openat(dir_fd, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	rc = fd < 0 ? -errno : s && frame ? 0 : -ENOMEM;
	if (rc == 0) {
		s->fd = fd;
		s->codec = codec;
		s->position = s->length = s->count = 0;
		s->frame = frame;
		s->capacity = segment_frame_bound(sizeof s->records);
		rc = seal_all(s, reader);
	}
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	free(frame);
	free(s);
	segment_reader_close(reader);
	return rc;
}
