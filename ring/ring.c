/* Laying out, sealing and checking the memfd. See stream.c for the streams in it. */
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

_Static_assert(sizeof(struct ring_header) <= 4096, "the header is one page");

size_t ring_round_size(size_t size)
{
	size_t rounded = RING_SIZE_MIN;
	while (rounded < size && rounded < RING_SIZE_MAX)
		rounded *= 2;
	return rounded;
}

static int map_streams(struct ring *r, int fd, bool writable)
{
	int rc = stream_map(&r->bytes, &r->header->bytes, fd, writable);
	if (rc < 0)
		return rc;
	rc = stream_map(&r->events, &r->header->events, fd, writable);
	if (rc < 0)
		stream_unmap(&r->bytes);
	return rc;
}

static int fill_header(struct ring_header *h, const struct ring_options *options, size_t size)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	*h = (struct ring_header){
		.magic = RING_MAGIC,
		.version = RING_VERSION,
		.header_size = sizeof *h,
		.created_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
		.holder_pid = getpid(),
		.rows = (uint16_t)options->rows,
		.cols = (uint16_t)options->cols,
		.geometry = (uint32_t)options->rows << 16 | (uint32_t)options->cols,
		.events = {.size = RING_EVENTS_SIZE, .position = PAGE},
		.bytes = {.size = size, .position = PAGE + RING_EVENTS_SIZE},
	};
	if (getrandom(&h->epoch, sizeof h->epoch, 0) != sizeof h->epoch)
		return -errno;
	return 0;
}

int ring_create(struct ring *r, const struct ring_options *options, int *ret_fd)
{
	size_t size = ring_round_size(options->size);
	int rc;
	*r = (struct ring){0};
	int fd = memfd_create("ringside-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)(PAGE + RING_EVENTS_SIZE + size)) < 0) {
		rc = -errno;
		goto err_fd;
	}
	r->header = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->header == MAP_FAILED) {
		rc = -errno;
		goto err_fd;
	}
	rc = fill_header(r->header, options, size);
	if (rc < 0)
		goto err_header;
	rc = map_streams(r, fd, true);
	if (rc < 0)
		goto err_header;
	if (fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0) {
		rc = -errno;
		goto err_streams;
	}
	*ret_fd = fd;
	return 0;
err_streams:
	stream_unmap(&r->bytes);
	stream_unmap(&r->events);
err_header:
	munmap(r->header, PAGE);
err_fd:
	close(fd);
	*r = (struct ring){0};
	return rc;
}

/* A stream's storage lies inside the file, and its size is one that masks and the largest reads work with. */
static bool stream_is_sane(const struct stream_shared *s, uint64_t least, uint64_t file_size)
{
	return s->size >= least && s->size <= RING_SIZE_MAX && (s->size & (s->size - 1)) == 0 &&
		s->position % PAGE == 0 && s->position <= file_size &&
		s->size <= file_size - s->position;
}

int ring_open(struct ring *r, int fd)
{
	struct stat st;
	int rc;
	*r = (struct ring){0};
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0)
		return errno == EINVAL ? -EPROTO : -errno;
	/* Without these two a peer that truncates the file would kill us with SIGBUS. */
	if ((seals & SEALS) != SEALS)
		return -EPROTO;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((size_t)st.st_size < PAGE)
		return -EPROTO;
	r->header = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (r->header == MAP_FAILED) {
		*r = (struct ring){0};
		return -errno;
	}
	rc = -EPROTO;
	if (r->header->magic != RING_MAGIC || r->header->version != RING_VERSION ||
		!stream_is_sane(&r->header->bytes, RING_SIZE_MIN, (uint64_t)st.st_size) ||
		!stream_is_sane(&r->header->events, 2 * PAGE, (uint64_t)st.st_size))
		goto err_header;
	rc = map_streams(r, fd, false);
	if (rc < 0)
		goto err_header;
	return 0;
err_header:
	munmap(r->header, PAGE);
	*r = (struct ring){0};
	return rc;
}

void ring_close(struct ring *r)
{
	stream_unmap(&r->bytes);
	stream_unmap(&r->events);
	if (r->header)
		munmap(r->header, PAGE);
	*r = (struct ring){0};
}
