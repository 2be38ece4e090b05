/* Opens with O_PATH, checks the type, and then reopens the descriptor: so FIFOs and devices are never opened. */
#include "shell/files/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <openssl/evp.h>
#include <unistd.h>

#define GROW ((size_t)64 << 10)

int content_open(const struct place *p, const char *path, struct content *ret)
{
	struct content c;
	int path_fd = place_open(p, path, O_PATH, 0), rc = 0;
	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &c.st) < 0)
		rc = -errno;
	else if (!S_ISREG(c.st.st_mode))
		rc = S_ISDIR(c.st.st_mode) ? -EISDIR : -EINVAL;
	if (rc == 0)
		rc = c.fd = place_reopen(path_fd, O_RDONLY);
	close(path_fd);
	if (rc < 0)
		return rc;
	*ret = c;
	return 0;
}

void content_close(struct content *c)
{
	close(c->fd);
	c->fd = -1;
}

int content_read(struct content *c, uint64_t offset, void *bytes, size_t size, size_t *ret_length)
{
	size_t length = 0;
	while (length < size) {
		ssize_t n = pread(
			c->fd, (char *)bytes + length, size - length, (off_t)(offset + length));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) /* callers report EAGAIN as a lack of resources */
			return errno == EAGAIN ? -EBUSY : -errno;
		if (n == 0)
			break;
		length += (size_t)n;
	}
	*ret_length = length;
	return 0;
}

int content_load(struct content *c, size_t max, char **ret_bytes, size_t *ret_length)
{
	uint64_t expected = (uint64_t)c->st.st_size;
	if (expected > max) {
		*ret_length = (size_t)expected;
		return -EFBIG;
	}
	/* One byte more than expected, so that a short read means the end. */
	size_t capacity = (size_t)expected + 1 > GROW ? (size_t)expected + 1 : GROW, length = 0,
	       n = 0;
	char *bytes = malloc(capacity + 1);
	int rc = bytes ? 0 : -ENOMEM;
	while (rc == 0) {
		rc = content_read(c, length, bytes + length, capacity - length, &n);
		if (rc < 0)
			break;
		length += n;
		if (length < capacity)
			break;
		capacity *= 2;
		char *more = length <= max ? realloc(bytes, capacity + 1) : NULL;
		if (more)
			bytes = more;
		else
			rc = length <= max ? -ENOMEM : -EFBIG;
	}
	if (rc == 0 && length > max)
		rc = -EFBIG;
	if (rc == 0) {
		bytes[length] = '\0';
		*ret_bytes = bytes;
	} else {
		free(bytes);
	}
	if (rc == 0 || rc == -EFBIG)
		*ret_length = length;
	return rc;
}

bool content_exists(const struct place *p, const char *path)
{
	int fd = place_open(p, path, O_PATH, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int content_hash(const void *bytes, size_t length, char ret_hash[CONTENT_HASH_SIZE])
{
	unsigned char digest[32];
	if (EVP_Digest(bytes, length, digest, NULL, EVP_sha256(), NULL) != 1)
		return -ENOMEM; /* SHA-256 is always available */
	for (size_t i = 0; i < sizeof digest; i++)
		snprintf(ret_hash + 2 * i, 3, "%02x", digest[i]);
	return 0;
}

int content_inspect(const struct place *p, const char *path, struct stat *ret_st, bool *ret_readable)
{
	char link[32];
	struct stat st;
	int fd = place_open(p, path, O_PATH, 0);
	if (fd < 0)
		return fd;
	int rc = fstat(fd, &st) < 0 ? -errno : 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	bool readable = rc == 0 && faccessat(AT_FDCWD, link, R_OK, AT_EACCESS) == 0;
	close(fd);
	if (rc < 0)
		return rc;
	*ret_st = st;
	*ret_readable = readable;
	return 0;
}
