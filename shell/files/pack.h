/*
 * A directory as a tar archive (pax), made in pieces: whoever takes one lets as much of the tree be read as it needs, so that the
 * memory is that of a piece and of the names of files that have more than one, however large the tree is, and no thread waits for
 * who takes nothing. Times to the nanosecond, holes, hard links and names of any bytes are kept. Sockets, FIFOs and devices are
 * left out, which unpack() would refuse, and so is what other uploads have not finished.
 *
 * What cannot be read, or changes its size while it is read, is told: the archive is sound and has the rest. For threads
 * (shell/files/crew.h), one at a time.
 */
#pragma once

#include "shell/files/place.h"

#include <stddef.h>
#include <stdint.h>

#define PACK_PIECE \
	((size_t)256 << 10) /* bytes, about: a piece ends behind what exceeds it, by less than as much again */
#define PACK_LINKS_MAX \
	65536u /* files with more than one name, that are remembered; others are there more than once */
#define PACK_HOLES_MAX 4096u /* of a file; where there are more, they are zeros */

struct pack;

/* Whether a name in the tree, "a/b", is left out, with all below it. */
typedef bool (*pack_excludes)(void *user, const char *name);

struct pack_options {
	pack_excludes excludes; /* NULL: nothing is */
	void *user;
};

/* What was not as it should be. */
struct pack_losses {
	unsigned count;
	int error; /* of the first: a negative errno, -ESTALE: its size has changed */
	char name[PLACE_PATH_MAX]; /* of the first */
};

/*
 * Begin with the directory at a path, links followed. options: NULL for the usual ones; copied. Returns 0 with *ret to be given to
 * pack_close(), -ENOTDIR, or another negative errno.
 */
int pack_open(const struct place *p, const char *path, const struct pack_options *options,
	struct pack **ret);

/*
 * The next piece: *ret_bytes, which stays until the next call, *ret_length of them; 0 of them: call again, where *ret_over is
 * false, for much was looked at in vain. Returns 0, or a negative errno (memory is short).
 */
int pack_next(struct pack *k, const char **ret_bytes, size_t *ret_length, bool *ret_over);

const struct pack_losses *pack_losses(const struct pack *k);

/* NULL is fine. */
void pack_close(struct pack *k);
