/*
 * The ledger of logins: one for each cookie that has been given out. A cookie is worth something only while it stands
 * here, so logging out is real, for its copies as well. Kept on disk, as digests: what is there opens nothing.
 */
#pragma once

#include "ws/auth/durable.h"
#include "ws/auth/limiter.h"
#include "ws/auth/links.h"

#include <stddef.h>
#include <stdint.h>

#define LOGIN_ID_SIZE 33u     /* 128 random bits in hexadecimal, and NUL */
#define LOGIN_SECRET_SIZE 65u /* 256 */
#define LOGIN_VALUE_SIZE 98u  /* id, a full stop, and the secret, with NUL */
#define LOGIN_AGENT_SIZE 81u  /* of a User-Agent, cut */
#define LOGIN_OWNER_SIZE 33u  /* the fingerprint of the owner's token */
#define LOGINS_OF_OWNER 256u  /* beyond, the one that was used least recently makes room */
#define LOGINS_OF_LINK 16u    /* the same of each link */
#define LOGINS_OF_LINKS 1024u /* and of all links together */
#define LOGINS_MAX (LOGINS_OF_OWNER + LOGINS_OF_LINKS)
#define LOGINS_NOTE_MS UINT64_C(3600000) /* how old the disk's word of when it was used may be */

struct login_entry {
	char id[LOGIN_ID_SIZE];
	char digest[LOGIN_SECRET_SIZE];           /* SHA-256 of the secret, in hexadecimal */
	char link[LINK_ID_SIZE];                  /* whose link it was; "" = the owner's token */
	char owner[LOGIN_OWNER_SIZE];             /* which token of the owner's; "" = a link */
	uint64_t created_ms, used_ms, expires_ms; /* wall clock */
	uint64_t noted_ms;                        /* used_ms, as the disk has it */
	char peer[LIMITER_PEER_MAX];              /* where from */
	char agent[LOGIN_AGENT_SIZE];             /* printable ASCII */
};

struct logins {
	struct login_entry *entries;
	size_t count;
	uint64_t removed; /* entries, ever */
	struct durable file;
};

/* Load the ledger from dir_fd. loop: see ws/auth/durable.h. A missing file is an empty one. Returns 0 or a negative errno. */
int logins_open(struct logins *l, uv_loop_t *loop, int dir_fd);
void logins_close(struct logins *l);

/*
 * Add one, by what of terms is not digest, used_ms and noted_ms; without an id it gets one. value: that of the cookie.
 * Stored by logins_store() only. Returns the entry, or NULL when there is no randomness to be had.
 */
const struct login_entry *logins_add(
	struct logins *l, const struct login_entry *terms, char value[LOGIN_VALUE_SIZE]);

/* The login that a cookie's value stands for, which is used now; or NULL. */
const struct login_entry *logins_use(struct logins *l, const char *value, uint64_t now_ms);

/* The entry of this id, or NULL. */
const struct login_entry *logins_find(const struct logins *l, const char *id);

/* Forget one, or those that expired by now_ms: they count no longer, at once. Returns whether there was any. */
bool logins_remove(struct logins *l, const char *id);
bool logins_expire(struct logins *l, uint64_t now_ms);

/* Write the ledger. done: when it is on the disk; NULL: nobody waits. See durable_save(). */
void logins_store(struct logins *l, durable_done done, void *user);
