/*
 * Unpacks a tar archive into a place: directories, files and links; devices and FIFOs are refused. Nothing is
 * written outside: names that are absolute, have ".." or lead through a link are refused, and so are hard links
 * to the outside. Symbolic links may point anywhere; they are not followed here. Modes (without set-id bits),
 * times, holes and names of any bytes are kept; owners are not. For threads (shell/files/crew.h).
 */
#pragma once

#include "shell/files/copy.h"
#include "shell/files/place.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of a reported name, with its NUL. */
#define UNPACK_NAME_MAX 256u
/* Entries, and directories that are made for the names of other entries. */
#define UNPACK_ENTRIES_MAX 200000u
/* Nested directories; fewer than COPY_DEPTH_MAX, so that copy_remove_tree() can remove them. */
#define UNPACK_DEPTH_MAX (COPY_DEPTH_MAX - 8u)
/* Memory for the names, modes and times of directories. */
#define UNPACK_DIRECTORIES_BYTES_MAX ((size_t)32 << 20)

/*
 * Read the next bytes of the archive. *ret_bytes: valid until the next call. Returns their number, 0 at the
 * end, or a negative errno.
 */
typedef ssize_t (*unpack_read)(void *user, const void **ret_bytes);

/* What to unpack. */
struct unpack_options {
	unpack_read read;
	void *user;
	uint64_t bytes_max; /* size of all files: an archive may be sparse */
};

/* What was unpacked. */
struct unpack_result {
	char name[UNPACK_NAME_MAX]; /* of the entry that failed, or "" */
	unsigned entries;           /* made so far */
	uint64_t bytes;             /* of all files */
	char *directories;          /* their modes and times, for unpack_apply_directories() */
	size_t directories_count;
	size_t directories_length, directories_capacity; /* bytes of directories */
};

/*
 * Read and unpack until read() returns 0. Call unpack_apply_directories() after success, and unpack_finish() in any case.
 * Returns 0, -EBADMSG (not a tar archive), -EXDEV (a name leads out), -EPERM (an entry of a refused type),
 * -ELOOP (too deep), -EFBIG (a limit), the error of read(), or another negative errno; a part is unpacked then.
 */
int unpack(const struct place *p, const struct unpack_options *options, struct unpack_result *ret);

/*
 * Give directories their modes and times from the archive, after their content is complete. dir_fd: where they
 * were unpacked; itself: apply an entry for dir_fd itself, too.
 */
void unpack_apply_directories(int dir_fd, const struct unpack_result *result, bool itself);

/* Free a result. */
void unpack_finish(struct unpack_result *result);

/* Unpack and settle an archive in memory. Returns as unpack(). */
int unpack_bytes(const struct place *p, const void *bytes, size_t length, uint64_t bytes_max,
	struct unpack_result *ret);
