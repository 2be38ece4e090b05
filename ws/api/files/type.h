/* What an answer says of a file's type, and whether it comes as text. For threads. */
#pragma once

#include "shell/files/content.h"
#include "shell/files/mime.h"

/*
 * The type of an open file, by its name, else by its beginning: bytes, of which there are length; NULL: they are read.
 * Returns 0 or a negative errno.
 */
int file_type_find(struct content *content, const char *path, const char *bytes, size_t length,
	char ret_type[MIME_SIZE]);

/* Whether it is told as base64: as was asked for ("base64", "utf-8", "utf8"), else as its type is. encoding: or NULL. */
bool file_type_is_binary(const char *type, const char *encoding);

/* What a text begins with that does not belong to it: the bytes of a byte order mark, 0 or 3. */
size_t file_type_mark(const char *bytes, size_t length);
