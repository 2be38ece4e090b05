/*
 * Share links: signed, expiring permissions for one session and one role (JWT, HS256). A link is valid only while it is
 * in the register, so removing it there revokes it. The register is kept on disk.
 */
#pragma once

#include "shell/name.h"
#include "shell/prompt.h"
#include "shell/role.h"
#include "ws/auth/durable.h"

#include <stddef.h>
#include <stdint.h>

#define LINKS_MAX 1024u
#define LINK_ID_SIZE 33u /* 128 random bits in hexadecimal, and NUL */
#define LINK_EXPIRY_MAX_MS (UINT64_C(30) * 24 * 3600 * 1000)
#define LINKS_KEY_SIZE 32u
#define LINKS_NODE_SIZE 64u /* name of a node of a fleet, with its NUL */

/* An entry of the register. */
struct link_entry {
	char id[LINK_ID_SIZE];
	char session[NAME_ID_MAX + 1];
	uint64_t epoch; /* of the session, to distinguish it from a later one with the same id */
	enum role role;
	char name[NAME_BYTES_MAX + 1];   /* a label, such as a person's name; may be empty */
	uint64_t created_ms, expires_ms; /* wall clock */
	bool passing;                    /* in memory only: it ends with this server */
	bool answers; /* passing, and only for answering prompt: one login or terminal socket */
	bool spent;   /* that one use is over */
	struct prompt_id prompt;
};

/* The register. */
struct links {
	struct link_entry *entries;
	size_t count;
	uint64_t removed;                  /* entries, ever */
	struct durable file;               /* links.json */
	unsigned char key[LINKS_KEY_SIZE]; /* for signatures */
	char node[LINKS_NODE_SIZE]; /* of this server in a fleet, named in its links; "" = there is no fleet */
};

/*
 * Load the register from dir_fd, which is borrowed. loop: see ws/auth/durable.h. A missing file is an empty register.
 * Returns 0 or a negative errno.
 */
int links_open(
	struct links *l, uv_loop_t *loop, int dir_fd, const unsigned char key[LINKS_KEY_SIZE]);

/* Free everything. No write may be under way. */
void links_close(struct links *l);

/*
 * Issue a link, which is valid at once. Unless it is passing, the caller gives it out only after links_store() has
 * stored it. entry: the caller fills in all but id and created_ms. *ret_token: the signed link, owned by the caller.
 * Returns 0, -ERR_LIMIT (too many), or a negative errno.
 */
int links_issue(struct links *l, struct link_entry *entry, uint64_t now_ms, char **ret_token);

/* Sign an entry of the register. Returns the link, owned by the caller, or NULL when memory is short. */
char *links_sign(const struct links *l, const struct link_entry *entry);

/* The entry of a signed link; NULL if the link is forged, expired, revoked or spent. */
const struct link_entry *links_check(const struct links *l, const char *token, uint64_t now_ms);

/* Read a valid link of another node: its id, and the node. Returns false if it is not one. */
bool links_read_other(const struct links *l, const char *token, uint64_t now_ms,
	char ret_id[LINK_ID_SIZE], char ret_node[LINKS_NODE_SIZE]);

/* Mark a single-use link as used. Other links do not change. */
void links_mark_used(struct links *l, const char *id);

/* The entry of this id, or NULL. */
const struct link_entry *links_find(const struct links *l, const char *id);

/* Revoke a link at once; links_store() makes that survive a restart. Returns 0 or -ENOENT. */
int links_revoke(struct links *l, const char *id);

/* Remove expired links, and all links of a session that is gone (may be NULL), and store the register if it changed. */
void links_prune(struct links *l, uint64_t now_ms, const char *session);

/* Write the register. done: see durable_save(). */
void links_store(struct links *l, durable_done done, void *user);
