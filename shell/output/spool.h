/*
 * Standard input that is too large for one request: it comes in pieces into a file of RUNTIME/stdin, from where the
 * command takes it, which begins with all of it, or through a FIFO there while the command runs. The files know all that there is to know, so the server may be killed
 * meanwhile. One that nobody has written to for SPOOL_IDLE_S is removed when another is made.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SPOOL_ID_SIZE 33u
#define SPOOL_PATH_MAX 4200u
#define SPOOLS_MAX 64u                 /* at a time */
#define SPOOL_MAX (UINT64_C(16) << 30) /* bytes of one */
#define SPOOL_IDLE_S 3600

/* Make a new, empty one. Returns 0 or a negative errno: -EUSERS, there are too many. */
int spool_create(const char *runtime_dir, char ret_id[SPOOL_ID_SIZE]);

/*
 * Add what comes at offset, unless it is there already: a piece may be sent twice. Returns 0 and the size, or a
 * negative errno: -ENOENT, -EFBIG, -ESPIPE (something is missing before it; *ret_size says from where), -ENOSPC ...
 */
int spool_add(const char *runtime_dir, const char *id, uint64_t offset, const void *bytes,
	size_t length, uint64_t *ret_size);

/*
 * Make one that is a FIFO: what is written while the command reads it, see inlet.h. *ret_place is the caller's to close: by
 * it the FIFO is found wherever it has been moved to (O_PATH). Returns 0 or a negative errno: -EUSERS, there are too many.
 */
int spool_create_pipe(const char *runtime_dir, char ret_id[SPOOL_ID_SIZE], int *ret_place);

/* Remove it, unless somebody has taken or moved it: then -ENOENT. */
int spool_remove(const char *runtime_dir, const char *id);

/* Remove the FIFOs of an earlier server, to which nobody writes any more. */
void spool_clear_pipes(const char *runtime_dir);

/* Open for reading, and let nobody else have it. Returns a descriptor or a negative errno. */
int spool_take(const char *runtime_dir, const char *id);

/* Make it the file `name` of a directory. Returns 0 or a negative errno. */
int spool_move(const char *runtime_dir, const char *id, int dir_fd, const char *name);
