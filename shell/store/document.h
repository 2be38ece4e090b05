/* A file that is one JSON document: saved whole, by rename, and read whole. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Save it for a reader, too. Takes root; NULL stands for one that there was no memory for. Returns 0 or a negative errno. */
int document_save(int dir_fd, const char *name, json_t *root);

/* The same by file_save_durably(): not on a loop. */
int document_save_durably(int dir_fd, const char *name, json_t *root);

/*
 * Read one of at most max bytes. Returns 0, -EBADMSG when it is no JSON or tells something twice, or another negative
 * errno. *ret_root: a new reference.
 */
int document_load(int dir_fd, const char *name, size_t max, json_t **ret_root);
