/* The MIME type of a file in an answer, and whether its content is sent as text. For threads. */
#pragma once

#include "shell/files/content.h"
#include "shell/files/mime.h"

/*
 * Find the type of an open file by its name, else by its first bytes. bytes: NULL: they are read
 * from content. Returns 0 or a negative errno.
 */
int file_type_find(struct content *content, const char *path, const char *bytes, size_t length,
	char ret_type[MIME_SIZE]);

/* Whether to send base64: as encoding says ("base64", "utf-8", "utf8"), otherwise by the type. */
bool file_type_is_binary(const char *type, const char *encoding);

/* Length of the byte order mark at the beginning of a text: 0 or 3. */
size_t file_type_bom_length(const char *bytes, size_t length);
