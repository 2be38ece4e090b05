#include "ws/api/files/type.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int file_type_find(struct content *content, const char *path, const char *bytes, size_t length,
	char ret_type[MIME_SIZE])
{
	const char *known = mime_of_name(path);
	if (known || bytes) {
		if (known)
			snprintf(ret_type, MIME_SIZE, "%s", known);
		else
			mime_of_bytes(bytes, length, ret_type);
		return 0;
	}
	char *beginning = malloc(MIME_SNIFF_MAX);
	int rc = beginning ? content_read(content, 0, beginning, MIME_SNIFF_MAX, &length) : -ENOMEM;
	if (rc == 0)
		mime_of_bytes(beginning, length, ret_type);
	free(beginning);
	return rc;
}

bool file_type_is_binary(const char *type, const char *encoding)
{
	if (encoding && strcmp(encoding, "base64") == 0)
		return true;
	if (encoding && (strcmp(encoding, "utf-8") == 0 || strcmp(encoding, "utf8") == 0))
		return false;
	return !mime_is_text(type);
}

size_t file_type_bom_length(const char *bytes, size_t length)
{
	return length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}
