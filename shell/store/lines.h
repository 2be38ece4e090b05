/*
 * A file with one line of JSON per event, which outlives the server. New lines are appended; when
 * the file gets too long it is rewritten with the lines that are still wanted. If a line cannot be
 * appended, for example on a full disk, the whole file is rewritten later.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct lines_writer;

/* Write all lines that are still wanted with lines_put(), in the order of the file. */
typedef void (*lines_rewrite_cb)(void *user, struct lines_writer *w);

/* Properties of one kind of file; constant. */
struct lines_kind {
	const char *name;      /* of the file */
	size_t max;            /* bytes; a longer file is not read */
	size_t compact;        /* bytes above which it is rewritten */
	bool doubled;          /* but only if it has doubled since the last rewrite */
	lines_rewrite_cb tell; /* called by lines_append() and lines_retry() */
};

/* State of a file; starts zeroed. */
struct lines {
	bool behind;      /* a line could not be written: rewrite the file */
	bool frozen;      /* the file could not be read completely, so it is never rewritten */
	size_t compacted; /* bytes after the last rewrite */
};

/* Append a line. Takes line; NULL gives -ENOMEM. Returns 0 or a negative errno. */
int lines_append(
	struct lines *l, const struct lines_kind *kind, int dir_fd, json_t *line, void *user);

/*
 * Rewrite the file if a line could not be written earlier. Returns false if nothing was missing;
 * otherwise *ret_error is 0, or a negative errno and it is still missing.
 */
bool lines_retry(
	struct lines *l, const struct lines_kind *kind, int dir_fd, void *user, int *ret_error);

/* Add a line to a file that is being rewritten. Takes line; if it is NULL the rewrite fails. */
void lines_put(struct lines_writer *w, json_t *line);

/*
 * Read a file, which may be missing, and call take() for each line that is JSON; take() borrows it.
 * A line without a newline at the end of the file gets one, so that the next line is separate. If
 * memory is short, lines are skipped and l is frozen.
 */
void lines_load(struct lines *l, const struct lines_kind *kind, int dir_fd,
	void (*take)(void *user, json_t *line), void *user);
