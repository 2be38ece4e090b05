/*
 * Whether a file that another process has made may be mapped: one that is truncated, or has no pages to give, would kill
 * whoever reads it with SIGBUS.
 */
#pragma once

#include <stdint.h>

/* The page that begins a file of ours, and the unit of what follows. */
#define SEALED_PAGE ((uint64_t)4096)

/*
 * Check that fd is a memfd of ordinary pages, at least one, whose size can never change. Returns 0 and the size, -EPROTO
 * when it is not, or another negative errno.
 */
int sealed_check(int fd, uint64_t *ret_size);
