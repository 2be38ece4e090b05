/*
 * Who may do what. The owner's token is a random secret kept in the runtime directory (or given); share
 * links are signed (ws/auth/links.h). Browsers exchange either for an HttpOnly cookie, which stands for an entry of the
 * ledger of logins (ws/auth/logins.h); programs send them as "Authorization: Bearer".
 */
#pragma once

#include "shell/session/presence.h"
#include "ws/auth/limiter.h"
#include "ws/auth/links.h"
#include "ws/auth/logins.h"

#include <stdbool.h>
#include <stdint.h>

#define AUTH_TOKEN_MAX 512u /* characters of a token that is given */
#define AUTH_TOKEN_MIN 16u
#define AUTH_COOKIE_DAYS 30u
#define AUTH_COOKIE_SIZE 512u
#define AUTH_COOKIE_NAME_SIZE 80u
#define AUTH_KEY_SIZE 32u

/* On whose behalf a request is made. */
struct principal {
	enum role role;
	bool by_cookie; /* the browser sent it by itself: the Origin has to be checked */
	char session[NAME_ID_MAX + 1]; /* the one session it is for; "" = all */
	uint64_t epoch;                /* of that session */
	char link[LINK_ID_SIZE];       /* the share link, or "" */
	char login[LOGIN_ID_SIZE];     /* the login whose cookie it was, or "" */
	uint64_t expires_ms;           /* wall clock; 0 = never */
	/* A viewer who may answer this prompt at the terminal while it waits (session_prompt_is_open()), and do nothing else. */
	bool answers;
	struct session_prompt prompt;
};

enum auth_result {
	AUTH_OK,
	AUTH_MISSING, /* no credentials were sent */
	AUTH_WRONG,   /* they are not valid */
	AUTH_LIMITED, /* they are not valid, and this peer has tried too often */
};

/* What a request carries. NULL where there is none. */
struct credentials {
	const char *authorization; /* the header's value */
	const char *cookie;        /* the header's value */
	const char *link;          /* the query's "link": which link's cookie counts */
	const char *peer;          /* address, for the limit of failures */
	bool owner;                /* the transport knows that it is: none are needed */
	bool secure;   /* it came by TLS: only a cookie that never goes without counts */
	bool terminal; /* a terminal socket is opened by it, which spends a link that is good once */
};

/* A login. */
struct auth_request {
	const char *token;              /* the owner's, or a link's */
	const char *peer, *agent;       /* where from; the User-Agent, or "" */
	const struct principal *before; /* on whose behalf it is made, if that is known; otherwise NULL */
	bool secure;                    /* as of credentials */
};

struct auth {
	bool open;  /* --no-auth */
	int dir_fd; /* runtime directory; owned */
	char token[AUTH_TOKEN_MAX + 1];
	char fingerprint[LOGIN_OWNER_SIZE]; /* of the token: what an owner's login stands for */
	char cookie[32]; /* name of the owner's cookie, different for each runtime directory */
	struct links links;
	struct logins logins;
	struct limiter limiter;
};

struct auth_options {
	const char *runtime_dir; /* existing, 0700 */
	const char *token_file;  /* NULL = none */
	const char *token;       /* from the environment; NULL = none */
	bool open;
	uv_loop_t *loop; /* of what is written meanwhile; NULL: it is written at once */
};

/*
 * Load or make the token, the signing key and the links. Returns 0, -EINVAL when a given token is too
 * short or too long, or another negative errno.
 */
int auth_open(struct auth *a, const struct auth_options *options);
void auth_close(struct auth *a);

/* A key for a purpose (a literal), the same in every server of this runtime directory. */
void auth_derive(const struct auth *a, const char *purpose, unsigned char key[AUTH_KEY_SIZE]);

/* Find out on whose behalf a request is made. Constant time where secrets are compared. */
enum auth_result auth_check(
	struct auth *a, const struct credentials *c, struct principal *ret_principal);

/* Whether the value of an Authorization header is worth something here. Nothing is counted. */
bool auth_knows(const struct auth *a, const char *authorization);

/* What a principal is called where it is told who did something, see shell/name.h. */
void auth_author(const struct principal *p, char author[NAME_AUTHOR_MAX + 1]);

/* The role that a client is told: who may answer a prompt may type, and is told when that is over. */
enum role auth_shown_role(const struct principal *p);

/* Whether a principal may do things in this session at all. */
bool auth_may_see(const struct principal *p, const char *session, uint64_t epoch);

/* Whether the link and the login that a principal came by are still good: neither revoked nor expired. now_ms: wall clock. */
bool auth_is_current(const struct auth *a, const struct principal *p, uint64_t now_ms);

/* A number that changes whenever a link or a login is no longer good for another reason than the time. */
uint64_t auth_revoked(const struct auth *a);

/*
 * Exchange a token or a link for a cookie: the value of a Set-Cookie header goes to cookie, to be given out once
 * logins_store() has stored it. A login of the same kind by which the request comes makes room for the new one, which keeps
 * its id. The results are those of auth_check.
 */
enum auth_result auth_login(struct auth *a, const struct auth_request *request,
	struct principal *ret_principal, char cookie[AUTH_COOKIE_SIZE]);

/*
 * Log p out: its login counts no longer, at once. The value of a Set-Cookie header that forgets its cookie goes to cookie.
 * Returns whether there was a login, and the ledger is to be stored.
 */
bool auth_logout(
	struct auth *a, const struct principal *p, bool secure, char cookie[AUTH_COOKIE_SIZE]);

/* Forget logins that have expired, or whose link or token is no longer good. */
void auth_prune(struct auth *a);

/* The value of cookie `name` in a Cookie header. Returns false when it is not there or too long. Pure. */
bool auth_find_cookie(const char *header, const char *name, char *value, size_t size);
