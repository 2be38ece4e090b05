/*
 * A stream that is written into memory. As open_memstream(3), whose fclose() does not say when memory was short, and gives
 * a text that is cut, or none.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Open one. When it is flushed *ret_text (of malloc(), ended by a NUL that does not count) and *ret_length say what there is;
 * with fclose() the text is the caller's. If not all of it could be kept, fclose() returns EOF and *ret_text is NULL. Returns
 * NULL when memory is short; then *ret_text is NULL too.
 */
FILE *memory_stream(char **ret_text, size_t *ret_length);
