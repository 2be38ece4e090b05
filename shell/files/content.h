/* What is in a file: opened without waiting, whatever it turns out to be. For threads (shell/files/crew.h). */
#pragma once

#include "shell/files/place.h"

#include <stddef.h>
#include <stdint.h>

struct content {
	int fd;
	struct stat st; /* when it was opened */
};

/*
 * Open a regular file to be read. Returns 0 with *ret to be given to content_close(), -EISDIR, -EINVAL (a device, a FIFO,
 * a socket) or another negative errno.
 */
int content_open(const struct place *p, const char *path, struct content *ret);
void content_close(struct content *c);

/*
 * All of it, also of files that have no size (/proc). *ret_bytes: the caller's, ended by a NUL that does not count. Returns 0,
 * -EFBIG when there is more than max (then *ret_length is how much there is, as far as that is known), or another negative errno.
 */
int content_load(struct content *c, size_t max, char **ret_bytes, size_t *ret_length);

/* Up to size bytes at an offset; less only at its end. *ret_length: how many. Returns 0 or a negative errno. */
int content_read(struct content *c, uint64_t offset, void *bytes, size_t size, size_t *ret_length);

#define CONTENT_HASH_SIZE 65u

/* SHA-256 of it, in hexadecimal. Returns 0 or -ENOMEM. */
int content_hash(const void *bytes, size_t length, char ret_hash[CONTENT_HASH_SIZE]);

/* Whether there is something by that path, links followed, whatever it is. */
bool content_exists(const struct place *p, const char *path);
