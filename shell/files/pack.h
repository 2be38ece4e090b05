/*
 * Writes a directory as a tar archive (pax), in pieces. Each piece is made when the caller asks for it, so
 * memory is bounded by one piece and the table of hard links, and no thread waits for a slow client. Nanosecond
 * times, holes, hard links and names of any bytes are kept. Sockets, FIFOs and devices, which unpack() refuses,
 * are left out, and so are unfinished uploads.
 *
 * Files that cannot be read, or change their size meanwhile, are reported by pack_losses(); the archive remains
 * valid. For threads (shell/files/crew.h), one at a time.
 */
#pragma once

#include "shell/files/place.h"

#include <stddef.h>

/* Bytes after which a piece ends; it may be up to twice as long. */
#define PACK_PIECE ((size_t)256 << 10)
/* Files with several names that are remembered; further ones are stored once for each name. */
#define PACK_LINKS_MAX 65536u
/* Holes of a file; if there are more, they are stored as zeros. */
#define PACK_HOLES_MAX 4096u

struct pack;

/* Whether to leave out a name in the tree, "a/b", and all below it. */
typedef bool (*pack_excludes)(void *user, const char *name);

/* What to pack. */
struct pack_options {
	pack_excludes excludes; /* NULL: leave out nothing */
	void *user;
};

/* Files that are missing or damaged in the archive. */
struct pack_losses {
	unsigned count;
	int error; /* of the first: a negative errno; -ERR_CHANGED: its size changed */
	char name[PLACE_PATH_MAX]; /* of the first */
};

/*
 * Start to pack the directory at a path, links followed. options: copied; NULL: the defaults. Returns 0 with
 * *ret for pack_close(), -ENOTDIR, or another negative errno.
 */
int pack_open(const struct place *p, const char *path, const struct pack_options *options,
	struct pack **ret);

/*
 * Make the next piece. *ret_bytes: valid until the next call. If *ret_length is 0 and *ret_over false, call
 * again: many entries were skipped. Returns 0 or a negative errno (out of memory).
 */
int pack_next(struct pack *k, const char **ret_bytes, size_t *ret_length, bool *ret_over);

/* What was lost so far. */
const struct pack_losses *pack_losses(const struct pack *k);

/* Free it. NULL is fine. */
void pack_close(struct pack *k);
