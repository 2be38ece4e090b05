/* A stdio stream into memory. Unlike with open_memstream(3), fclose() reports a failed allocation. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Open a stream. After a flush *ret_text (by malloc(), with a NUL that does not count) and *ret_length are valid; after
 * fclose() the caller owns the text. If any write failed, fclose() returns EOF and sets *ret_text to NULL, so one check
 * of either is enough. Returns NULL, with *ret_text NULL, if memory is short.
 */
FILE *memory_stream(char **ret_text, size_t *ret_length);
