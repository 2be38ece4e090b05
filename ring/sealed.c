/* What cannot shrink and lives in the page cache alone is there whenever it is read. Huge pages can be short, other files cut. */
#include "ring/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

int sealed_check(int fd, uint64_t *ret_size)
{
	struct statfs fs;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0)
		return errno == EINVAL ? -EPROTO : -errno;
	if ((seals & SEALS) != SEALS)
		return -EPROTO;
	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (fs.f_type != TMPFS_MAGIC || (uint64_t)st.st_size < SEALED_PAGE)
		return -EPROTO;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}
