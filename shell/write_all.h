/* Writing all bytes to a descriptor, however many calls that takes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Wait while a non-blocking descriptor is full: another process may have made the client's standard
 * output non-blocking. The server passes only files. Returns 0 or a negative errno; -ENOSPC if
 * nothing could be written.
 */
int write_all(int fd, const void *bytes, size_t length);

/* The same at an offset of a file. */
int write_all_at(int fd, const void *bytes, size_t length, uint64_t offset);
