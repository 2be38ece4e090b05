/* Layout, sealing and checks of the memfd. The streams in it are in stream.c. */
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

unsigned ring_clamp_side(unsigned n)
{
	return n < 1 ? 1 : n > RING_SIDE_MAX ? RING_SIDE_MAX : n;
}

static int map_streams(struct ring *r, const struct ring_header *h, int fd, bool writable)
{
	struct stream_storage storage = {
		.size = h->bytes.size, .position = h->bytes.position, .fd = fd, .writable = writable};
	int rc = stream_map(&r->bytes, &r->header->bytes, &storage);
	if (rc < 0)
		return rc;
	storage.size = h->events.size;
	storage.position = h->events.position;
	rc = stream_map(&r->events, &r->header->events, &storage);
	if (rc < 0)
		stream_unmap(&r->bytes);
	r->rows = ring_clamp_side(h->rows);
	r->cols = ring_clamp_side(h->cols);
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
	rc = map_streams(r, r->header, fd, true);
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

/* Whether the storage is inside the file and its size is a power of two within the limits. */
static bool stream_is_sane(
	const struct stream_shared *s, uint64_t least, uint64_t most, uint64_t file_size)
{
	return s->size >= least && s->size <= most && (s->size & (s->size - 1)) == 0 &&
		s->position % PAGE == 0 && s->position <= file_size &&
		s->size <= file_size - s->position;
}

int ring_open(struct ring *r, int fd)
{
	struct stat st;
	*r = (struct ring){0};
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < PAGE)
		return -EPROTO;
	r->header = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (r->header == MAP_FAILED) {
		*r = (struct ring){0};
		return -errno;
	}
	const struct ring_header *h = r->header;
	bool sane = h->magic == RING_MAGIC && h->version == RING_VERSION &&
		stream_is_sane(&h->bytes, RING_SIZE_MIN, RING_SIZE_MAX, (uint64_t)st.st_size) &&
		stream_is_sane(&h->events, 2 * PAGE, RING_EVENTS_SIZE_MAX, (uint64_t)st.st_size);
	int rc = sane ? map_streams(r, h, fd, false) : -EPROTO;
	if (rc < 0) {
		munmap(r->header, PAGE);
		*r = (struct ring){0};
	}
	return rc;
}

bool ring_exited(const struct ring *r, struct ring_exit *ret_exit)
{
	const struct ring_header *h = r->header;
	if (!atomic_load_explicit(&h->exited, memory_order_acquire))
		return false;
	*ret_exit = (struct ring_exit){.status = h->exit_status,
		.offset = h->exit_offset,
		.time_ms = h->exit_time_ns / 1000000,
		.boot_ms = h->exit_boot_ns / 1000000};
	return true;
}

void ring_geometry(const struct ring *r, unsigned *ret_rows, unsigned *ret_cols)
{
	uint32_t geometry = atomic_load(&r->header->geometry);
	*ret_rows = ring_clamp_side(geometry >> 16);
	*ret_cols = ring_clamp_side(geometry & 0xffff);
}

bool ring_is_blocked(const struct ring *r)
{
	return atomic_load_explicit(&r->header->blocked, memory_order_relaxed) != 0;
}

void ring_close(struct ring *r)
{
	stream_unmap(&r->bytes);
	stream_unmap(&r->events);
	if (r->header)
		munmap(r->header, PAGE);
	*r = (struct ring){0};
}
