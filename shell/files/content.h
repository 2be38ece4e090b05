/* Reading files, opened without blocking on FIFOs and devices. For threads (shell/files/crew.h). */
#pragma once

#include "shell/files/place.h"

#include <stddef.h>
#include <stdint.h>

/* An open file. */
struct content {
	int fd;
	struct stat st; /* when it was opened */
};

/*
 * Open a regular file for reading. Returns 0, -EISDIR, -EINVAL (a device, a FIFO, a socket) or another negative
 * errno.
 */
int content_open(const struct place *p, const char *path, struct content *ret);

/* Close what content_open() opened. */
void content_close(struct content *c);

/*
 * Read all of a file, also if its size is unknown (/proc). *ret_bytes: owned by the caller, followed by a NUL
 * that *ret_length does not count. Returns 0, -EFBIG if there is more than max (*ret_length: the size, as far
 * as it is known), or another negative errno.
 */
int content_load(struct content *c, size_t max, char **ret_bytes, size_t *ret_length);

/* Read up to size bytes at an offset; fewer only at the end of the file. Returns 0 or a negative errno. */
int content_read(struct content *c, uint64_t offset, void *bytes, size_t size, size_t *ret_length);

/* Bytes of a SHA-256 in hexadecimal, with its NUL. */
#define CONTENT_HASH_SIZE 65u

/* Compute the SHA-256 of bytes, in hexadecimal. Returns 0 or -ENOMEM. */
int content_hash(const void *bytes, size_t length, char ret_hash[CONTENT_HASH_SIZE]);

/* Whether a path exists, of any type, links followed. */
bool content_exists(const struct place *p, const char *path);

/*
 * Look at a file or directory without opening it; links are followed. *ret_readable: whether the calling thread may
 * read it. Returns 0 or a negative errno.
 */
int content_inspect(
	const struct place *p, const char *path, struct stat *ret_st, bool *ret_readable);
