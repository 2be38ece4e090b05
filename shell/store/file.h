/* Small files of the runtime directory, read and written whole. */
#pragma once

#include <stddef.h>

/* Read a file of at most max bytes. *ret_text: owned by the caller, NUL-terminated. 0 or a negative errno. */
int file_load(int dir_fd, const char *name, size_t max, char **ret_text, size_t *ret_length);

/* Replace a file (0600) by rename, so that it is old or new, never half. Returns 0 or a negative errno. */
int file_save(int dir_fd, const char *name, const char *text, size_t length);

/* The same, and wait for the disk: once it has returned 0 the file survives a loss of power. Not on a loop: this takes time. */
int file_save_durably(int dir_fd, const char *name, const char *text, size_t length);

/*
 * Put a text behind what a file (0600) has, which is made if there is none: all of it or, on failure, nothing.
 * *ret_size: of the file afterwards. Returns 0 or a negative errno.
 */
int file_append(int dir_fd, const char *name, const char *text, size_t length, size_t *ret_size);
