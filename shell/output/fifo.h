/*
 * Where standard input is written that a command reads meanwhile: FIFOs of RUNTIME/stdin with random names. Nothing of it is
 * ever on disk. inlet.h names the writers.
 */
#pragma once

#define FIFO_ID_SIZE 33u

/*
 * Make one. *ret_place is the caller's to close: by it the FIFO is found wherever it has been moved to (O_PATH). Returns 0 or
 * a negative errno.
 */
int fifo_create(const char *runtime_dir, char ret_id[FIFO_ID_SIZE], int *ret_place);

/* Remove it. Returns 0 or a negative errno: -ENOENT, a command has taken it. */
int fifo_remove(const char *runtime_dir, const char *id);

/* Remove those of an earlier server, to which nothing is written any more. */
void fifo_clear(const char *runtime_dir);

/* Make it the file `name` of a directory. Returns 0 or a negative errno. */
int fifo_move(const char *runtime_dir, const char *id, int dir_fd, const char *name);
