/* A buffer that doubles. After one failed allocation all writes fail. */
#include "shell/memory_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define FIRST_SIZE 256u

struct stream {
	char **ret_text;
	size_t *ret_length;
	char *text;
	size_t length, size;
	bool failed;
};

static bool reserve(struct stream *s, size_t length)
{
	size_t size = s->size ? s->size : FIRST_SIZE;
	while (size - s->length <= length) {
		if (size > SIZE_MAX / 2)
			return false;
		size *= 2;
	}
	if (size == s->size)
		return true;
	char *text = realloc(s->text, size);
	if (!text)
		return false;
	s->text = text;
	s->size = size;
	return true;
}

static ssize_t on_write(void *user, const char *bytes, size_t length)
{
	struct stream *s = user;
	if (s->failed || !reserve(s, length)) {
		s->failed = true;
		errno = ENOMEM;
		return 0;
	}
	memcpy(s->text + s->length, bytes, length);
	s->length += length;
	s->text[s->length] = '\0';
	*s->ret_text = s->text;
	*s->ret_length = s->length;
	return (ssize_t)length;
}

static int on_close(void *user)
{
	struct stream *s = user;
	bool failed = s->failed || !reserve(s, 0);
	if (failed) {
		free(s->text);
		*s->ret_text = NULL;
		*s->ret_length = 0;
	} else {
		s->text[s->length] = '\0';
		*s->ret_text = s->text;
		*s->ret_length = s->length;
	}
	free(s);
	return failed ? EOF : 0;
}

FILE *memory_stream(char **ret_text, size_t *ret_length)
{
	static const cookie_io_functions_t functions = {.write = on_write, .close = on_close};
	struct stream *s = calloc(1, sizeof *s);
	*ret_text = NULL;
	*ret_length = 0;
	if (!s)
		return NULL;
	s->ret_text = ret_text;
	s->ret_length = ret_length;
	FILE *f = fopencookie(s, "w", functions);
	if (!f)
		free(s);
	return f;
}
