/* The control memfd: written by the server, read by the holder. */
#include "ring/control.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

_Static_assert(sizeof(struct control_page) <= 4096, "the control page is one page");

int control_create(struct control *ret_control, size_t size, int *ret_fd)
{
	int rc;
	int fd = memfd_create("ringside-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0) {
		rc = -errno;
		goto err_fd;
	}
	struct control_page *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		rc = -errno;
		goto err_fd;
	}
	page->magic = CONTROL_MAGIC;
	page->version = CONTROL_VERSION;
	page->size = size;
	*ret_control = (struct control){page, size};
	*ret_fd = fd;
	return 0;
err_fd:
	close(fd);
	return rc;
}

int control_open(struct control *ret_control, int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	uint64_t size = (uint64_t)st.st_size;
	if (size < sizeof(struct control_page) || size > CONTROL_SIZE_MAX)
		return -EPROTO;
	struct control_page *page = mmap(
		NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (page->magic != CONTROL_MAGIC || page->version != CONTROL_VERSION || page->size != size) {
		munmap(page, (size_t)size);
		return -EPROTO;
	}
	*ret_control = (struct control){page, (size_t)size};
	return 0;
}

void control_close(struct control *c)
{
	if (c->page)
		munmap(c->page, c->size);
	*c = (struct control){0};
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

uint64_t control_tail(const struct control *c, uint64_t head)
{
	return at_most(atomic_load_explicit(&c->page->tail, memory_order_acquire), head);
}

uint64_t control_events_tail(const struct control *c, uint64_t head)
{
	return at_most(atomic_load_explicit(&c->page->events_tail, memory_order_acquire), head);
}

void control_note_answered(const struct control *c, uint64_t offset)
{
	atomic_store_explicit(&c->page->answered, offset + 1, memory_order_release);
}

uint64_t control_answered(const struct control *c, uint64_t head)
{
	uint64_t answered = atomic_load_explicit(&c->page->answered, memory_order_acquire);
	return answered > 0 ? at_most(answered - 1, head) : head;
}

void control_note_active(const struct control *c, uint64_t wall_ms)
{
	atomic_store_explicit(&c->page->active_ms, wall_ms, memory_order_relaxed);
}

uint64_t control_active(const struct control *c, uint64_t now_ms)
{
	return at_most(atomic_load_explicit(&c->page->active_ms, memory_order_relaxed), now_ms);
}

void control_note_paste(const struct control *c, uint64_t typist, uint64_t place)
{
	if (!c->page)
		return;
	atomic_store(&c->page->paste_place, place);
	atomic_store(&c->page->paste_typist, typist);
}

bool control_paste(const struct control *c, uint64_t written, uint64_t *ret_typist)
{
	*ret_typist = c->page ? atomic_load(&c->page->paste_typist) : 0;
	return !c->page || written >= atomic_load(&c->page->paste_place);
}
