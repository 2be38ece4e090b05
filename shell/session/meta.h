/* meta.json: what is known of a session beside its holder, so that the next server knows it too. */
#pragma once

#include "shell/session/session.h"

/* Write RUNTIME/sessions/DIR/meta.json, whole or not at all. Returns 0, -EILSEQ when the
 * directory or the shell is no UTF-8, or another negative errno. */
int meta_save(int dir_fd, const struct session *session);

/*
 * Read it into a session whose fields are empty; cwd and shell become owned by it. A size policy that is
 * missing or unknown is the default one, and so is what happens when its shell ends, and what its characters take.
 * Returns 0, a negative errno, or -EBADMSG when it makes no sense.
 */
int meta_load(int dir_fd, struct session *session);
