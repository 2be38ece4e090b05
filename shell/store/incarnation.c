#include "shell/store/incarnation.h"

#include "shell/id.h"
#include "shell/store/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "incarnation"
#define LENGTH (INCARNATION_SIZE - 1)

static int make(int runtime_fd, char ret_text[INCARNATION_SIZE])
{
	uint8_t b[16];
	int rc = id_random(b, sizeof b);
	if (rc < 0)
		return rc;
	b[6] = (uint8_t)((b[6] & 0x0fu) | 0x40u);
	b[8] = (uint8_t)((b[8] & 0x3fu) | 0x80u);
	snprintf(ret_text, INCARNATION_SIZE,
		"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		b[15]);
	return file_save(runtime_fd, FILE_NAME, ret_text, LENGTH);
}

int incarnation_load(int runtime_fd, char ret_text[INCARNATION_SIZE])
{
	char *text;
	size_t length;
	int rc = file_load(runtime_fd, FILE_NAME, LENGTH, &text, &length);
	bool good = rc == 0 && length == LENGTH && strspn(text, "0123456789abcdef-") == LENGTH;
	if (good)
		memcpy(ret_text, text, INCARNATION_SIZE);
	if (rc == 0)
		free(text);
	return good                                        ? 0
		: rc == 0 || rc == -ENOENT || rc == -EFBIG ? make(runtime_fd, ret_text)
							   : rc;
}
