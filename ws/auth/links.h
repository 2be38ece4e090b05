/*
 * Share links: signed, expiring permissions for one session and one role (JWT, HS256). A link counts only
 * while it is in the register, so removing it there revokes it. The register is kept on disk.
 */
#pragma once

#include "shell/session/presence.h"
#include "shell/session/session.h"
#include "ws/auth/durable.h"

#include <stddef.h>
#include <stdint.h>

#define LINKS_MAX 1024u
#define LINK_ID_SIZE 33u /* 128 random bits in hexadecimal, and NUL */
#define LINK_EXPIRY_MAX_MS (UINT64_C(30) * 24 * 3600 * 1000)
#define LINKS_KEY_SIZE 32u

struct link_entry {
	char id[LINK_ID_SIZE];
	char session[NAME_ID_MAX + 1];
	uint64_t epoch; /* of the session: a later one of the same id is another */
	enum role role;
	char name[NAME_BYTES_MAX + 1];   /* for whom; may be empty */
	uint64_t created_ms, expires_ms; /* wall clock */
	bool passing; /* of this server only: it is not on the disk, and no restart knows it */
	/* Passing, to answer this prompt and for nothing else: it is good for one login or one terminal socket. */
	bool answers, spent;
	struct session_prompt prompt;
};

struct links {
	struct link_entry *entries;
	size_t count;
	uint64_t removed;                  /* entries, ever */
	struct durable file;               /* links.json */
	unsigned char key[LINKS_KEY_SIZE]; /* signs */
};

/*
 * Load the register from dir_fd, which is borrowed. loop: see ws/auth/durable.h. A missing file is an empty register.
 * Returns 0 or a negative errno.
 */
int links_open(
	struct links *l, uv_loop_t *loop, int dir_fd, const unsigned char key[LINKS_KEY_SIZE]);
void links_close(struct links *l);

/*
 * Issue a link, which counts at once; unless it is passing it is given out only when links_store() has stored it. entry:
 * role, session, epoch, name and expires_ms filled in, passing if it is; the rest is filled by this. *ret_token: the signed
 * link, owned by the caller. Returns 0, -EUSERS (too many), or a negative errno.
 */
int links_issue(struct links *l, struct link_entry *entry, uint64_t now_ms, char **ret_token);

/* The signed link of an entry of the register; owned by the caller. NULL when memory is short. */
char *links_sign(const struct links *l, const struct link_entry *entry);

/* The entry that a token stands for, or NULL: forged, expired, revoked, spent. */
const struct link_entry *links_check(const struct links *l, const char *token, uint64_t now_ms);

/* One that is good once has been used; of others nothing happens. */
void links_spend(struct links *l, const char *id);

/* The entry of this id, or NULL. */
const struct link_entry *links_find(const struct links *l, const char *id);

/* Revoke: it counts no longer, at once; a restart knows of that once it is stored. Returns 0 or -ENOENT. */
int links_revoke(struct links *l, const char *id);

/* Forget expired links, and all of a session that is gone (session: may be NULL). What changes is stored. */
void links_prune(struct links *l, uint64_t now_ms, const char *session);

/* Write the register. done: when it is on the disk; NULL: nobody waits. See durable_save(). */
void links_store(struct links *l, durable_done done, void *user);
