/* See output_file.h. The file has a header, the labels, the bytes. All of it is validated. */
#include "shell/output/output_file.h"

#include "shell/write_all.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x3154554f53474e52) /* "RNGSOUT1", little endian */
#define VERSION 1u
#define TIMED_OUT 1u
#define KILL_ASKED 2u
#define RESERVE_PART 8u                  /* of the file system is left free for other files, */
#define RESERVE_MAX (UINT64_C(64) << 20) /* but at most this many bytes */

/* Frozen: fields are only ever appended. */
struct header {
	uint64_t magic;       /* MAGIC */
	uint32_t version;     /* VERSION of the writer */
	uint32_t header_size; /* sizeof(struct header) of the writer */
	uint64_t oldest, head, end_offset, ended_ms;
	int32_t wait_status, error;
	uint32_t flags;
	uint32_t before; /* enum event_source of the bytes before the first label */
	uint32_t labels; /* how many follow, 8 bytes each as in struct labels, before the bytes */
	uint32_t reserved;
};

_Static_assert(sizeof(struct header) == 72, "the file's layout is frozen");

static int read_all(int fd, void *bytes, size_t length, uint64_t at)
{
	uint8_t *to = bytes;
	while (length > 0) {
		ssize_t n = pread(fd, to, length, (off_t)at);
		if (n == 0)
			return -EBADMSG;
		if (n > 0) {
			to += n;
			at += (uint64_t)n;
			length -= (size_t)n;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* Check that the reserve is left after writing length bytes. Returns 0 or a negative errno. */
static int check_space(int fd, uint64_t length)
{
	struct statvfs st;
	if (fstatvfs(fd, &st) < 0)
		return -errno;
	if (st.f_blocks == 0)
		return 0; /* no size limit, as on some tmpfs */
	uint64_t reserve = (uint64_t)st.f_blocks * st.f_frsize / RESERVE_PART;
	reserve = reserve < RESERVE_MAX ? reserve : RESERVE_MAX;
	return (uint64_t)st.f_bavail * st.f_frsize < length + reserve ? -ENOSPC : 0;
}

static int write_front(struct output_file *f, const struct labels *labels)
{
	const struct output_file_facts *facts = &f->facts;
	const struct header h = {.magic = MAGIC,
		.version = VERSION,
		.header_size = sizeof h,
		.oldest = facts->oldest,
		.head = facts->head,
		.end_offset = facts->end_offset,
		.ended_ms = facts->ended_ms,
		.wait_status = facts->wait_status,
		.error = facts->error,
		.flags = (facts->timed_out ? TIMED_OUT : 0) | (facts->kill_asked ? KILL_ASKED : 0),
		.before = labels->before,
		.labels = labels->count};
	f->bytes_at = sizeof h + labels->count * sizeof *labels->marks;
	f->written = facts->oldest;
	int rc = check_space(f->fd, f->bytes_at + (facts->head - facts->oldest));
	if (rc == 0)
		rc = write_all(f->fd, &h, sizeof h);
	/* The labels are a ring buffer: write its two parts. */
	unsigned first = labels->capacity - labels->start;
	first = first < labels->count ? first : labels->count;
	if (rc == 0 && first > 0)
		rc = write_all(f->fd, labels->marks + labels->start, first * sizeof *labels->marks);
	if (rc == 0 && first < labels->count)
		rc = write_all(
			f->fd, labels->marks, (labels->count - first) * sizeof *labels->marks);
	return rc;
}

int output_file_begin(struct output_file **ret_file, int dir_fd,
	const struct output_file_facts *facts, const struct labels *labels)
{
	assert(facts->oldest <= facts->head);
	struct output_file *f = calloc(1, sizeof *f);
	if (!f)
		return -ENOMEM;
	f->facts = *facts;
	f->fd = openat(
		dir_fd, OUTPUT_FILE_NEW, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc = f->fd < 0 ? -errno : write_front(f, labels);
	if (rc < 0) {
		output_file_abandon(f, dir_fd);
		return rc;
	}
	*ret_file = f;
	return 0;
}

int output_file_write(struct output_file *f, const struct stream *bytes)
{
	uint64_t left = f->facts.head - f->written;
	size_t length = left < OUTPUT_FILE_STEP ? (size_t)left : OUTPUT_FILE_STEP,
	       available = length;
	const uint8_t *at = stream_view(bytes, f->written, &available);
	int rc = available < length ? -ENODATA : write_all(f->fd, at, length);
	f->written += length;
	return rc < 0 ? rc : f->written < f->facts.head;
}

/* Read the labels behind the header. */
static int load_labels(struct output_file *f, const struct header *h)
{
	labels_init(&f->labels, h->oldest, (enum event_source)h->before);
	uint64_t *marks = h->labels > 0 ? malloc(h->labels * sizeof *marks) : NULL;
	if (h->labels == 0)
		return 0;
	int rc = marks ? read_all(f->fd, marks, h->labels * sizeof *marks, h->header_size) : -ENOMEM;
	if (rc == 0)
		rc = labels_set_marks(&f->labels, marks, h->labels);
	if (rc < 0)
		free(marks);
	return rc;
}

static int load(struct output_file *f)
{
	struct header h;
	struct stat st;
	int rc = read_all(f->fd, &h, sizeof h, 0);
	if (rc < 0)
		return rc;
	if (fstat(f->fd, &st) < 0)
		return -errno;
	if (h.magic != MAGIC || h.version != VERSION || h.header_size < sizeof h ||
		h.header_size > 4096 || h.oldest > h.head || h.labels > LABELS_MAX ||
		h.before > EVENT_SOURCE_STDERR_PTY || h.ended_ms == 0 || h.error > 0)
		return -EBADMSG;
	uint64_t front = h.header_size + h.labels * sizeof(uint64_t);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < front ||
		(uint64_t)st.st_size - front != h.head - h.oldest)
		return -EBADMSG;
	f->bytes_at = front;
	f->facts = (struct output_file_facts){.oldest = h.oldest,
		.head = h.head,
		.end_offset = h.end_offset,
		.ended_ms = h.ended_ms,
		.wait_status = h.wait_status,
		.error = h.error,
		.timed_out = h.flags & TIMED_OUT,
		.kill_asked = h.flags & KILL_ASKED};
	return load_labels(f, &h);
}

int output_file_commit(struct output_file *f, int dir_fd)
{
	int rc = load(f);
	if (rc < 0)
		return rc;
	return renameat(dir_fd, OUTPUT_FILE_NEW, dir_fd, OUTPUT_FILE) < 0 ? -errno : 0;
}

void output_file_abandon(struct output_file *f, int dir_fd)
{
	if (f && f->fd >= 0)
		unlinkat(dir_fd, OUTPUT_FILE_NEW, 0);
	output_file_close(f);
}

int output_file_open(struct output_file **ret_file, int dir_fd)
{
	struct output_file *f = calloc(1, sizeof *f);
	if (!f)
		return -ENOMEM;
	f->fd = openat(dir_fd, OUTPUT_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc = f->fd < 0 ? -errno : load(f);
	if (rc < 0) {
		output_file_close(f);
		return rc;
	}
	*ret_file = f;
	return 0;
}

void output_file_close(struct output_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	labels_finish(&f->labels);
	free(f);
}

const uint8_t *output_file_at(struct output_file *f, uint64_t offset, size_t length)
{
	uint64_t left = f->facts.head - offset;
	assert(length <= left && length <= sizeof f->window);
	if (offset >= f->window_start && offset - f->window_start + length <= f->window_length)
		return f->window + (offset - f->window_start);
	size_t more = left < sizeof f->window ? (size_t)left : sizeof f->window;
	f->window_start = offset;
	f->window_length = 0;
	if (read_all(f->fd, f->window, more, f->bytes_at + (offset - f->facts.oldest)) < 0)
		return NULL;
	f->window_length = more;
	return f->window;
}
