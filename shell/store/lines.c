/* A file is up to date or behind. If it is behind, the next call rewrites all of it. */
#include "shell/store/lines.h"

#include "shell/json_read.h"
#include "shell/memory_stream.h"
#include "shell/store/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines_writer {
	FILE *file;
	bool whole; /* nothing has failed yet */
};

void lines_put(struct lines_writer *w, json_t *line)
{
	w->whole = line && w->whole && json_dumpf(line, w->file, JSON_COMPACT) == 0 &&
		fputc('\n', w->file) != EOF;
	json_decref(line);
}

/* Rewrite the file with the lines that are still wanted. */
static int compact_lines(struct lines *l, const struct lines_kind *kind, int dir_fd, void *user)
{
	char *text = NULL;
	size_t length;
	struct lines_writer w = {.file = memory_stream(&text, &length), .whole = true};
	if (!w.file)
		return -ENOMEM;
	kind->tell(user, &w);
	int rc = fclose(w.file) == 0 && w.whole ? file_save(dir_fd, kind->name, text, length)
						: -ENOMEM;
	if (rc == 0)
		*l = (struct lines){.compacted = length};
	free(text);
	return rc;
}

/* Takes line. */
static int append_line(const struct lines_kind *kind, int dir_fd, json_t *line, size_t *ret_size)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
	json_decref(line);
	if (!text)
		return -ENOMEM;
	size_t length = strlen(text);
	text[length++] = '\n'; /* replaces the NUL */
	int rc = file_append(dir_fd, kind->name, text, length, ret_size);
	free(text);
	return rc;
}

static bool is_too_long(const struct lines *l, const struct lines_kind *kind, size_t size)
{
	return size > kind->compact && (!kind->doubled || size > 2 * l->compacted);
}

int lines_append(
	struct lines *l, const struct lines_kind *kind, int dir_fd, json_t *line, void *user)
{
	size_t size = 0;
	int rc = append_line(kind, dir_fd, line, &size);
	if (rc < 0)
		l->behind = true;
	else if (!l->frozen && (l->behind || is_too_long(l, kind, size)))
		rc = compact_lines(l, kind, dir_fd, user);
	return rc;
}

bool lines_retry(
	struct lines *l, const struct lines_kind *kind, int dir_fd, void *user, int *ret_error)
{
	if (!l->behind || l->frozen)
		return false;
	*ret_error = compact_lines(l, kind, dir_fd, user);
	return true;
}

void lines_load(struct lines *l, const struct lines_kind *kind, int dir_fd,
	void (*take)(void *user, json_t *line), void *user)
{
	char *text, *rest;
	size_t length;
	bool is_short;
	int rc = file_load(dir_fd, kind->name, kind->max, &text, &length);
	l->frozen = rc == -ENOMEM;
	if (rc < 0)
		return;
	bool is_torn = length > 0 && text[length - 1] != '\n';
	rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		json_t *root = json_read(line, strlen(line), 0, &is_short);
		if (root)
			take(user, root);
		json_decref(root);
		l->frozen = l->frozen || is_short;
	}
	free(text);
	if (is_torn)
		(void)file_append(dir_fd, kind->name, "\n", 1, &length);
}
