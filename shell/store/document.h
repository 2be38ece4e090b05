/* A file that is one JSON document: saved whole, by rename, and read whole. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Save root, indented for people. Takes root; NULL gives -ENOMEM. Returns 0 or a negative errno. */
int document_save(int dir_fd, const char *name, json_t *root);

/* As document_save(), but with file_save_durably(): never on the loop. */
int document_save_durably(int dir_fd, const char *name, json_t *root);

/*
 * Read a document of at most max bytes. *ret_root: a new reference. Returns 0, -EBADMSG when it is
 * not JSON or has a duplicate key, or another negative errno.
 */
int document_load(int dir_fd, const char *name, size_t max, json_t **ret_root);
