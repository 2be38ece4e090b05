/*
 * A file with a line of JSON for each thing that has happened, which outlives the server. Lines are put behind those
 * that are there; now and then the file is written anew with what is still wanted. What cannot be written, for want of
 * room, is made up for later: then all of it is written anew.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct lines_writer;

/* Tell all that is still wanted, by lines_put(), in the order of the file. */
typedef void (*lines_tell_cb)(void *user, struct lines_writer *w);

/* What a file of a kind is like; it outlives those who use it. */
struct lines_kind {
	const char *name; /* of the file */
	size_t max;       /* bytes; one that is longer is not read */
	size_t compact;   /* bytes above which it is written anew */
	bool doubled; /* and then not before it is twice as long as it was when that was done last */
	lines_tell_cb tell; /* during lines_append() and lines_catch_up() */
};

/* What is known of a file; zero to begin with. */
struct lines {
	bool behind;      /* something could not be written: all of it is to be written anew */
	bool frozen;      /* not all of it could be read, so it never is */
	size_t compacted; /* bytes when it was written anew last */
};

/* Another line. Takes line; NULL stands for one that there was no memory for. Returns 0 or a negative errno. */
int lines_append(
	struct lines *l, const struct lines_kind *kind, int dir_fd, json_t *line, void *user);

/*
 * Write down what there was no room for. Returns whether there was something; then *ret_error is 0, or a negative
 * errno and it is still missing.
 */
bool lines_catch_up(
	struct lines *l, const struct lines_kind *kind, int dir_fd, void *user, int *ret_error);

/* One more line of a file that is written anew. Takes line; NULL, and nothing at all is written. */
void lines_put(struct lines_writer *w, json_t *line);

/*
 * Read a file, which may be missing: each line that is JSON goes to take(), which borrows it. A last line that was
 * not finished is closed, so that the next one is not part of it. Where memory is short lines are left out, and l is frozen.
 */
void lines_load(struct lines *l, const struct lines_kind *kind, int dir_fd,
	void (*take)(void *user, json_t *line), void *user);
