/* Types of files: by their name, else by what is in them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MIME_SIZE 128u                     /* of a type with its NUL */
#define MIME_SNIFF_MAX ((size_t)256 << 10) /* bytes of a beginning that are looked at */

/* The type that a name's extension stands for, in lower case alone; NULL: none does. Pure. */
const char *mime_of_name(const char *path);

/*
 * The type of a beginning, by libmagic, whose tables are loaded for the first one; "application/octet-stream" where that fails.
 * Not on a loop: this takes time.
 */
void mime_of_bytes(const void *bytes, size_t length, char ret_type[MIME_SIZE]);

/* Whether files of a type are text. Pure. */
bool mime_is_text(const char *type);
