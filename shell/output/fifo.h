/*
 * FIFOs for the standard input of commands: files in RUNTIME/stdin with random names. Input never
 * goes to disk. inlet.h has the writing end.
 */
#pragma once

#define FIFO_ID_SIZE 33u

/*
 * Create a FIFO. *ret_place: an O_PATH descriptor, owned by the caller, which refers to the FIFO
 * even after it was moved. Returns 0 or a negative errno.
 */
int fifo_create(const char *runtime_dir, char ret_id[FIFO_ID_SIZE], int *ret_place);

/* Remove a FIFO. Returns 0 or a negative errno: -ENOENT if a command has taken it. */
int fifo_remove(const char *runtime_dir, const char *id);

/* Remove all FIFOs that an earlier server has left. */
void fifo_clear(const char *runtime_dir);

/* Move a FIFO to the file `name` of a directory. Returns 0 or a negative errno. */
int fifo_move(const char *runtime_dir, const char *id, int dir_fd, const char *name);
