/*
 * The ledger of logins: one entry for each cookie that has been given out. A cookie is valid only while its entry exists,
 * so a logout also ends copies of the cookie. The ledger is kept on disk with digests instead of secrets.
 */
#pragma once

#include "ws/auth/durable.h"
#include "ws/auth/limiter.h"
#include "ws/auth/links.h"

#include <stddef.h>
#include <stdint.h>

#define LOGIN_ID_SIZE 33u     /* 128 random bits in hexadecimal, and NUL */
#define LOGIN_SECRET_SIZE 65u /* 256 random bits in hexadecimal, and NUL */
#define LOGIN_VALUE_SIZE 98u  /* id, a full stop, and the secret, with NUL */
#define LOGIN_AGENT_SIZE 81u  /* of a User-Agent, cut */
#define LOGIN_OWNER_SIZE 33u  /* the fingerprint of the owner's token */
/* Limits for the owner, for each link and for all links, beyond which the least recently used login is dropped. */
#define LOGINS_OF_OWNER 256u
#define LOGINS_OF_LINK 16u
#define LOGINS_OF_LINKS 1024u
#define LOGINS_MAX (LOGINS_OF_OWNER + LOGINS_OF_LINKS)
#define LOGINS_USE_STORE_MS UINT64_C(3600000) /* interval of storing the time of the last use */

/* One login. */
struct login_entry {
	char id[LOGIN_ID_SIZE];
	char digest[LOGIN_SECRET_SIZE];           /* SHA-256 of the secret, in hexadecimal */
	char link[LINK_ID_SIZE];                  /* the link; "" = the owner's token */
	char owner[LOGIN_OWNER_SIZE];             /* the owner's token's fingerprint; "" = a link */
	uint64_t created_ms, used_ms, expires_ms; /* wall clock */
	uint64_t stored_used_ms;                  /* used_ms in the file */
	char peer[LIMITER_PEER_MAX];              /* address at the login */
	char agent[LOGIN_AGENT_SIZE];             /* User-Agent, printable ASCII */
};

/* Called with each login that ends before it expires. */
typedef void logins_ended_fn(void *user, const struct login_entry *entry);

/* The ledger. */
struct logins {
	struct login_entry *entries;
	size_t count;
	uint64_t removed; /* entries, ever */
	struct durable file;
	logins_ended_fn *ended; /* NULL: nothing is called */
	void *user;
};

/* Load the ledger from dir_fd, which is borrowed. loop: see ws/auth/durable.h. Returns 0 or a negative errno. */
int logins_open(struct logins *l, uv_loop_t *loop, int dir_fd);

/* Free everything. No write may be under way. */
void logins_close(struct logins *l);

/*
 * Add a login. terms: all but digest, used_ms and stored_used_ms; an empty id is replaced by a new one. value: of the cookie. The
 * caller stores it with logins_store(). Returns the entry, or NULL if there are no random bytes.
 */
const struct login_entry *logins_add(
	struct logins *l, const struct login_entry *terms, char value[LOGIN_VALUE_SIZE]);

/* Find the login of a cookie's value, and set its time of last use. Returns NULL if the value is not valid. */
const struct login_entry *logins_use(struct logins *l, const char *value, uint64_t now_ms);

/* The entry of this id, or NULL. */
const struct login_entry *logins_find(const struct logins *l, const char *id);

/* Remove a login, which ends at once. Returns whether it existed. */
bool logins_remove(struct logins *l, const char *id);

/* Remove the logins that have expired at now_ms. Returns whether there were any. */
bool logins_expire(struct logins *l, uint64_t now_ms);

/* Write the ledger. done: see durable_save(). */
void logins_store(struct logins *l, durable_done done, void *user);
