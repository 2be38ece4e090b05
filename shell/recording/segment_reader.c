/*
 * Keeps a window of the file, of at most one part, and the records of the last unpacked frame. The file may be
 * written meanwhile: an incomplete part counts as its end.
 */
#include "shell/recording/segment_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct segment_reader {
	int fd;
	struct segment_codec *codec;
	struct segment_head head;
	uint64_t position; /* of the window in the file */
	size_t filled;     /* bytes in it */
	size_t length, at; /* bytes of records; those that were returned */
	uint8_t window[SEGMENT_PART_MAX];
	uint8_t records[SEGMENT_FRAME_MAX];
};

/* Fill the window from the file, as far as possible. Returns 0 or a negative errno. */
static int fill(struct segment_reader *r)
{
	while (r->filled < sizeof r->window) {
		ssize_t n = pread(r->fd, r->window + r->filled, sizeof r->window - r->filled,
			(off_t)(r->position + r->filled));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		r->filled += (size_t)n;
	}
	return 0;
}

/* Parse the part at the beginning of the window. Returns 1, 0 if it is incomplete, or a negative errno. */
static int parse_part(struct segment_reader *r, enum segment_part *ret_part, size_t *ret_size)
{
	int rc = segment_find_part(r->window, r->filled, ret_part, ret_size);
	if (rc != 0 || r->filled == sizeof r->window)
		return rc;
	rc = fill(r);
	return rc < 0 ? rc : segment_find_part(r->window, r->filled, ret_part, ret_size);
}

static void drop(struct segment_reader *r, size_t size)
{
	r->filled -= size;
	r->position += size;
	memmove(r->window, r->window + size, r->filled);
}

static int read_head(struct segment_reader *r)
{
	enum segment_part part;
	size_t size;
	int rc = parse_part(r, &part, &size);
	if (rc < 0)
		return rc;
	if (rc == 0 || part != SEGMENT_PART_HEAD)
		return -EBADMSG;
	rc = segment_get_head(r->window, size, &r->head);
	if (rc == 0)
		drop(r, size);
	return rc;
}

int segment_reader_open(int dir_fd, const char *name, struct segment_reader **ret_reader)
{
	struct stat st;
	int rc = 0, fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = -EBADMSG;
	struct segment_reader *r = rc == 0 ? malloc(sizeof *r) : NULL;
	if (!r) {
		close(fd);
		return rc < 0 ? rc : -ENOMEM;
	}
	r->fd = fd;
	r->position = 0;
	r->filled = r->length = r->at = 0;
	r->codec = segment_codec_create();
	rc = r->codec ? read_head(r) : -ENOMEM;
	if (rc < 0) {
		segment_reader_close(r);
		return rc;
	}
	*ret_reader = r;
	return 0;
}

void segment_reader_close(struct segment_reader *r)
{
	if (!r)
		return;
	segment_codec_destroy(r->codec);
	close(r->fd);
	free(r);
}

const struct segment_head *segment_reader_head(const struct segment_reader *r)
{
	return &r->head;
}

uint64_t segment_reader_whole(const struct segment_reader *r)
{
	return r->position;
}

/* Whether all records of a frame are valid, so that a frame is used as a whole or not at all. */
static bool are_records(const uint8_t *bytes, size_t length)
{
	struct segment_record record;
	size_t at = 0;
	int rc;
	while ((rc = segment_get_record(bytes, length, &at, &record)) > 0)
		;
	return rc == 0;
}

/* Unpack the next frame. Returns 1, 0 at the end, or a negative errno. */
static int unpack(struct segment_reader *r)
{
	for (;;) {
		enum segment_part part;
		size_t size;
		int rc = parse_part(r, &part, &size);
		if (rc <= 0)
			return rc;
		if (part == SEGMENT_PART_HEAD)
			return -EBADMSG;
		if (part == SEGMENT_PART_FRAME) {
			long length = segment_unpack(r->codec, r->window, size, r->records);
			if (length < 0)
				return (int)length;
			if (!are_records(r->records, (size_t)length))
				return -EBADMSG;
			r->length = (size_t)length;
			r->at = 0;
		}
		drop(r, size);
		if (part == SEGMENT_PART_FRAME)
			return 1;
	}
}

int segment_reader_next(struct segment_reader *r, struct segment_record *ret_record)
{
	for (;;) {
		int rc = segment_get_record(r->records, r->length, &r->at, ret_record);
		if (rc != 0)
			return rc;
		rc = unpack(r);
		if (rc <= 0)
			return rc;
	}
}

int segment_reader_index(struct segment_reader *r, uint8_t **ret_index, size_t *ret_count)
{
	uint8_t footer[SEGMENT_FOOTER];
	off_t end = lseek(r->fd, 0, SEEK_END);
	*ret_index = NULL;
	*ret_count = 0;
	if (end < (off_t)sizeof footer)
		return end < 0 ? -errno : 0;
	if (pread(r->fd, footer, sizeof footer, end - (off_t)sizeof footer) != sizeof footer)
		return -EIO;
	size_t size = segment_parse_footer(footer);
	if (size == 0 || (off_t)size > end)
		return 0;
	uint8_t *index = malloc(size);
	if (!index)
		return -ENOMEM;
	if (pread(r->fd, index, size, end - (off_t)size) != (ssize_t)size) {
		free(index);
		return -EIO;
	}
	*ret_count = segment_count_entries(index, size);
	*ret_index = index;
	return 0;
}
