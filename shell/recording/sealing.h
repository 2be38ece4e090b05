/* Sealing a segment: its records packed as well as it goes, with an index, in another file. Plain I/O that blocks. */
#pragma once

#include "shell/recording/segment.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Write what is whole of the segment `file` into `to`, both in that directory. Returns 0, or a negative errno: then `to` is of
 * no use, if it is there.
 */
int sealing_write(int dir_fd, const char *file, const char *to, struct segment_codec *codec);

/* Write all of it. Returns 0 or a negative errno. */
int sealing_write_all(int fd, const uint8_t *bytes, size_t length);
