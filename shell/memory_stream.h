/* A stdio stream into memory. Unlike with open_memstream(3), fclose() reports a failed allocation. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Open a stream. After a flush *ret_text (by malloc(), with a NUL that does not count) and *ret_length are valid; after
 * fclose() the caller owns the text. If a write failed, fclose() returns EOF and *ret_text is NULL. Returns NULL, with
 * *ret_text NULL, if memory is short.
 */
FILE *memory_stream(char **ret_text, size_t *ret_length);
