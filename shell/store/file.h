/* Small files of the runtime directory, read and written whole. */
#pragma once

#include <stddef.h>

/* Read a file of at most max bytes. *ret_text: owned, NUL-terminated. 0 or a negative errno. */
int file_load(int dir_fd, const char *name, size_t max, char **ret_text, size_t *ret_length);

/* Replace a file (mode 0600) atomically, by rename. Returns 0 or a negative errno. */
int file_save(int dir_fd, const char *name, const char *text, size_t length);

/* As file_save(), and 0 means that the file survives a power failure. Never on the loop. */
int file_save_durably(int dir_fd, const char *name, const char *text, size_t length);

/*
 * Append a text to a file (mode 0600), which is created if missing. Appends all of it or, on
 * failure, nothing. *ret_size: the file's size afterwards. Returns 0 or a negative errno.
 */
int file_append(int dir_fd, const char *name, const char *text, size_t length, size_t *ret_size);
