/* meta.json: the facts of a session that the holder does not have, for the next server. */
#pragma once

#include "shell/session/session.h"

/*
 * Write RUNTIME/sessions/DIR/meta.json atomically. Returns 0, -EILSEQ (cwd or shell is not UTF-8), or a negative errno.
 */
int meta_save(int dir_fd, const struct session *session);

/*
 * Read meta.json into a session with empty fields, which owns the strings. Missing or unknown policies get their
 * default. Returns 0, -EBADMSG if the content is invalid, or another negative errno.
 */
int meta_load(int dir_fd, struct session *session);
