/* MIME types of files: by name, else by content. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MIME_SIZE 128u                     /* bytes of a type, with its NUL */
#define MIME_SNIFF_MAX ((size_t)256 << 10) /* bytes at the start of a file that are examined */

/* The type for a name's extension, which must be lower case, or NULL. Pure. */
const char *mime_of_name(const char *path);

/*
 * The type of a file that starts with these bytes, by libmagic; "application/octet-stream" if that fails. The
 * first call loads libmagic's tables. Slow: not for the loop.
 */
void mime_of_bytes(const void *bytes, size_t length, char ret_type[MIME_SIZE]);

/* Whether files of a type are text. Pure. */
bool mime_is_text(const char *type);
