/* Sealing a segment: writing its records to another file, better compressed and with an index. Blocking I/O. */
#pragma once

#include "shell/recording/segment.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Write the complete part of the segment `file` to `to`, both in dir_fd. Returns 0 or a negative errno: then
 * `to` is incomplete or missing.
 */
int sealing_write(int dir_fd, const char *file, const char *to, struct segment_codec *codec);
