/* The memfd that goes the other way: written by the server, read by the holder. */
#include "ring/control.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

_Static_assert(sizeof(struct control) <= 4096, "the control page is one page");

int control_create(struct control **ret_control, size_t size, int *ret_fd)
{
	int rc;
	int fd = memfd_create("ringside-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0) {
		rc = -errno;
		goto err_fd;
	}
	struct control *c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED) {
		rc = -errno;
		goto err_fd;
	}
	c->magic = CONTROL_MAGIC;
	c->version = CONTROL_VERSION;
	c->size = size;
	*ret_control = c;
	*ret_fd = fd;
	return 0;
err_fd:
	close(fd);
	return rc;
}

int control_open(struct control **ret_control, int fd)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & SEALS) != SEALS)
		return -EPROTO;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((size_t)st.st_size < PAGE)
		return -EPROTO;
	size_t size = (size_t)st.st_size;
	struct control *c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED)
		return -errno;
	if (c->magic != CONTROL_MAGIC || c->version != CONTROL_VERSION || c->size != size) {
		munmap(c, size);
		return -EPROTO;
	}
	*ret_control = c;
	return 0;
}

void control_close(struct control *c)
{
	if (c)
		munmap(c, c->size);
}
