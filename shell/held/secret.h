/*
 * The secret of the runtime directory: each holder is known by a key that is made of it (see pty/proof.h). It is in the
 * file "holders.key" (0600), which the first server makes; no room of a session shows it (see shell/isolation.h). A line
 * for each directory that was there before it tells whose holders know no key, for an older server has started them:
 * these are adopted without. Everybody else has to know theirs.
 */
#pragma once

#include "pty/proof.h"

#include <stdbool.h>
#include <stddef.h>

#define SECRET_FILE "holders.key"

/* Zero is one that holds for nobody. */
struct secret {
	struct proof_key key;
	bool known; /* there is one */
	char **old; /* "sessions/NAME" of those without a key; owned */
	size_t count;
};

/*
 * Read the secret of a runtime directory (locked; its descriptor is borrowed), or make one. Returns 0, -EBADMSG when the
 * file makes no sense, -EACCES when it is not ours alone, or another negative errno; then nothing is held.
 */
int secret_open(struct secret *s, int runtime_fd);

void secret_close(struct secret *s);

/* The key of what has its directory in this folder of the runtime directory. Returns false when it has none. */
bool secret_key(const struct secret *s, const char *folder, const char *directory,
	struct proof_key *ret_key);
