/* Writes to a descriptor that may be non-blocking. */
#pragma once

#include <stddef.h>

/*
 * Write all bytes. Waits while a non-blocking descriptor is full: another process may have made
 * our standard output non-blocking. Returns 0 or a negative errno.
 */
int write_all(int fd, const void *bytes, size_t length);
