/*
 * A tar archive, unpacked into a place: directories, files and links, and nothing else (no device, no FIFO). Nothing of it gets out:
 * names with "..", absolute ones and those that lead through a link are refused, and so are hard links to elsewhere. A symbolic link
 * may point to anything: nobody here follows it out. Modes (without set-id bits), times, holes and names of any bytes are kept;
 * whose things were is not. For threads (shell/files/crew.h).
 */
#pragma once

#include "shell/files/copy.h"
#include "shell/files/place.h"

#include <stddef.h>
#include <stdint.h>

#define UNPACK_NAME_MAX 256u       /* bytes of a name that are told, with the NUL */
#define UNPACK_ENTRIES_MAX 200000u /* also directories that only the names of others ask for */
#define UNPACK_DEPTH_MAX \
	(COPY_DEPTH_MAX - 8u) /* directories below each other: what is unpacked can be removed */
#define UNPACK_DIRECTORIES_BYTES_MAX \
	((size_t)32 << 20) /* of names of directories, and what goes with them */

/* Where the archive comes from: *ret_bytes, which stay until the next call. Returns how many, 0 at its end, or a negative errno. */
typedef ssize_t (*unpack_read)(void *user, const void **ret_bytes);

struct unpack_options {
	unpack_read read;
	void *user;
	uint64_t bytes_max; /* of all files: an archive may be sparse */
};

struct unpack_result {
	char name[UNPACK_NAME_MAX]; /* of what failed; "" */
	unsigned entries;           /* that are there now */
	uint64_t bytes;             /* of all files */
	char *directories;          /* their modes and times, for unpack_settle() */
	size_t directories_count, directories_length, directories_capacity; /* of bytes */
};

/*
 * Unpack, up to the end of what is read. Returns 0, -EBADMSG (no archive), -EXDEV (a name leads out), -EPERM (something that is not
 * unpacked), -ELOOP (too deep), -EFBIG (more than the limits), what read() said, or another negative errno; then a part is there.
 * Where it returns 0, directories have yet to be settled. *ret: to be given to unpack_finish() in any case.
 */
int unpack(const struct place *p, const struct unpack_options *options, struct unpack_result *ret);

/*
 * Give directories the modes and times that they have in the archive, once all that is in them is there. dir_fd: where they are;
 * itself: that as well, if the archive has an entry for it.
 */
void unpack_settle(int dir_fd, const struct unpack_result *result, bool itself);

void unpack_finish(struct unpack_result *result);

/* All of that, of an archive in memory. */
int unpack_bytes(const struct place *p, const void *bytes, size_t length, uint64_t bytes_max,
	struct unpack_result *ret);
