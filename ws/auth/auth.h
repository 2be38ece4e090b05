/*
 * Authentication. The owner's token is a random secret in the runtime directory, or is given by an option. Share links are
 * signed (ws/auth/links.h). Browsers exchange either for an HttpOnly cookie, which refers to an entry of the ledger of
 * logins (ws/auth/logins.h). Programs send them as "Authorization: Bearer".
 */
#pragma once

#include "ws/auth/ended.h"
#include "ws/auth/limiter.h"
#include "ws/auth/links.h"
#include "ws/auth/logins.h"

#include <stdbool.h>
#include <stdint.h>

#define AUTH_TOKEN_MAX 512u /* characters */
#define AUTH_TOKEN_MIN 16u
#define AUTH_COOKIE_DAYS 30u
#define AUTH_COOKIE_SIZE 512u
#define AUTH_NODE_SIZE 64u /* name of a node of a fleet, with its NUL */
#define AUTH_COOKIE_NAME_SIZE 80u
#define AUTH_KEY_SIZE 32u

/* The authenticated identity of a request. */
struct principal {
	enum role role;
	bool by_cookie; /* browsers send cookies by themselves, so the Origin must be checked */
	char session[NAME_ID_MAX + 1]; /* the one session it is for; "" = all */
	uint64_t epoch;                /* of that session */
	char link[LINK_ID_SIZE];       /* the share link, or "" */
	char login[LOGIN_ID_SIZE];     /* the login of the cookie, or "" */
	uint64_t expires_ms;           /* wall clock; 0 = never */
	/*
	 * The link belongs to this node of the fleet, which alone knows its rights: all its requests go there. Here it has none;
	 * session is no id. "" = this server's.
	 */
	char node[AUTH_NODE_SIZE];
	bool forwarded;       /* by another node, which has authenticated the client */
	bool login_elsewhere; /* another node has the entry of the owner's login */
	/* It may only answer this prompt at the terminal while it waits (session_prompt_is_open()); role is viewer. */
	bool answers;
	struct prompt_id prompt;
};

/* Result of a check of credentials. */

enum auth_result {
	AUTH_OK,
	AUTH_MISSING, /* no credentials were sent */
	AUTH_WRONG,   /* invalid credentials */
	AUTH_LIMITED, /* invalid credentials, and this peer has failed too often */
};

/* Credentials of a request. NULL for those that were not sent. */
struct credentials {
	const char *authorization; /* the header's value */
	const char *cookie;        /* the header's value */
	const char *link; /* "link" of the query: the id of the link whose cookie is used */
	const char *peer; /* address, for the limit of failures */
	bool owner;       /* authenticated as the owner by the transport */
	bool secure;      /* over TLS: only the cookie with the prefix __Host- is accepted */
	bool terminal;    /* opens a terminal socket, which uses up a single-use link */
};

/* Parameters of a login. */
struct auth_request {
	const char *token;              /* the owner's, or a link's */
	const char *peer;               /* address of the client */
	const char *agent;              /* User-Agent, or "" */
	const struct principal *before; /* principal of the login request itself, or NULL */
	bool secure;                    /* over TLS */
};

/* The credentials that the server accepts. */
struct auth {
	bool open;  /* --no-auth */
	int dir_fd; /* runtime directory; owned */
	char token[AUTH_TOKEN_MAX + 1];
	char fingerprint[LOGIN_OWNER_SIZE]; /* of the token; the owner's logins refer to it */
	char cookie[32]; /* name of the owner's cookie, different for each runtime directory */
	struct links links;
	struct logins logins;
	struct limiter limiter;
	char node[AUTH_NODE_SIZE]; /* of this server in a fleet; "" = there is no fleet */
	struct ended_logins ended; /* of the fleet */
};

/* Options of auth_open(). All is borrowed for the call. */
struct auth_options {
	const char *runtime_dir; /* existing, 0700 */
	const char *token_file;  /* NULL = none */
	const char *token;       /* from the environment; NULL = none */
	/* Of a fleet, or NULL: this node's name, and the secret from which the keys and the default token are derived. */
	const char *node, *secret;
	bool open;
	uv_loop_t *loop; /* for writing files in the background; NULL: write synchronously */
};

/*
 * Load or make the token, the signing key, the links and the logins. Returns 0, -EINVAL if a given token is too short or
 * too long or has a byte that is not visible ASCII, or another negative errno.
 */
int auth_open(struct auth *a, const struct auth_options *options);

/* Check a file of --token-file as auth_open() does. Returns 0 or a negative errno. */
int auth_check_token_file(const char *path);

/* Free everything, and wipe the token. */
void auth_close(struct auth *a);

/* Derive a key for a purpose (a literal). It is the same in every server of this runtime directory. */
void auth_derive(const struct auth *a, const char *purpose, unsigned char key[AUTH_KEY_SIZE]);

/* Authenticate a request. Secrets are compared in constant time. */
enum auth_result auth_check(
	struct auth *a, const struct credentials *c, struct principal *ret_principal);

/*
 * Get the principal of a link of this server by its id; terminal: for a terminal socket, which uses up a single-use link.
 * Returns false if the link has ended, or is used up.
 */
bool auth_of_link(struct auth *a, const char *id, bool terminal, struct principal *ret_principal);

/* Get the principal of a login at this server by its id. Returns false if it has ended. */
bool auth_of_login(struct auth *a, const char *id, struct principal *ret_principal);

/* Whether token is a valid link of another node; writes its name. */
bool auth_is_elsewhere(const struct auth *a, const char *token, char ret_node[AUTH_NODE_SIZE]);

/* Whether the value of an Authorization header has a token or a link of this server. No failure is counted. */
bool auth_header_is_valid(const struct auth *a, const char *authorization);

/* Write the name of a principal as an author, see shell/name.h. */
void auth_author(const struct principal *p, char author[NAME_AUTHOR_MAX + 1]);

/* The role to report to a client: a principal that may answer a prompt is shown as a driver, because it may type. */
enum role auth_shown_role(const struct principal *p);

/* Whether a principal has access to this session. */
bool auth_may_see(const struct principal *p, const char *session, uint64_t epoch);

/* Whether a principal's link and login are neither revoked nor expired. now_ms: wall clock. */
bool auth_is_current(const struct auth *a, const struct principal *p, uint64_t now_ms);

/* A number that changes whenever a link or a login is removed. */
uint64_t auth_revoked(const struct auth *a);

/*
 * Exchange a token or a link for a cookie. cookie: the value of a Set-Cookie header, to be sent after logins_store() has
 * stored the login. If the request came with a login for the same token or link, the new login replaces it and keeps its id.
 * Returns as auth_check().
 */
enum auth_result auth_login(struct auth *a, const struct auth_request *request,
	struct principal *ret_principal, char cookie[AUTH_COOKIE_SIZE]);

/*
 * End p's login at once. cookie: the value of a Set-Cookie header that deletes the cookie. Returns whether there was a
 * login; then the caller stores the ledger.
 */
bool auth_logout(
	struct auth *a, const struct principal *p, bool secure, char cookie[AUTH_COOKIE_SIZE]);

/* An owner's login of any node of the fleet has ended. expires_ms: of its cookie. */
void auth_end_login(struct auth *a, const char *id, uint64_t expires_ms);

/* The registry of the fleet tells that one has ended. */
void auth_learn_ended(struct auth *a, const char *id, uint64_t expires_ms);

/* Remove logins that have expired, or whose link or token is not valid any more. */
void auth_prune(struct auth *a);

/* Copy the value of cookie `name` in a Cookie header. Returns false if it is missing or too long. Pure. */
bool auth_find_cookie(const char *header, const char *name, char *value, size_t size);
