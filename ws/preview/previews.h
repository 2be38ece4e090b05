/*
 * Previews: ports of this machine with a host name that has a secret token. Any client that has the name can connect,
 * until the preview is revoked. Previews made by owners are kept on disk and outlive the server. A preview ends with
 * the link that made it, and with its session.
 *
 * Connections that use a preview (ws/net) are attached to it, and end with it.
 */
#pragma once

#include "shell/claim.h"
#include "shell/session/sessions.h"
#include "ws/auth/durable.h"
#include "ws/preview/preview_name.h"

#include <stdint.h>

#define PREVIEWS_MAX 256u        /* in all */
#define PREVIEWS_OF_LINK 32u     /* made by one link */
#define PREVIEWS_OF_LINKS 128u   /* made by all links; the rest is for owners */
#define PREVIEW_USERS_MAX 256u   /* simultaneous connections of one preview */
#define PREVIEWS_USERS_MAX 1024u /* of all previews and the path form together */
#define PREVIEW_OWN_PORTS_MAX 64u
#define PREVIEWS_STALE_MAX 256u /* remembered names of previews that ended with their session */

struct preview;

/* A connection that uses a preview or the path form. */
struct preview_user {
	struct preview_user *prev, *next;
	struct previews *previews; /* NULL: not attached */
	struct preview *preview;   /* NULL: the path form, or not attached */
	void (*ended)(void *user); /* the preview was revoked; the user is detached already */
	void *user;
};

/* A preview. */
struct preview {
	struct preview *prev, *next;
	struct preview_name name;
	char session[NAME_ID_MAX + 1]; /* the session that it ends with, or "" */
	uint64_t epoch;                /* of the session */
	char title[NAME_BYTES_MAX + 1];
	char author[NAME_AUTHOR_MAX + 1];
	char link[64];       /* the link that made it, or "": an owner */
	uint64_t created_ms; /* wall clock */
	struct claim *claim; /* of that link, or NULL */
	struct previews *previews;
	struct preview_user *users; /* list */
	size_t users_count;
};

/* All previews. */
struct previews {
	struct sessions *sessions; /* borrowed; NULL: previews do not end with sessions */
	struct preview *list;
	size_t count;
	struct preview_place place; /* --preview-domain; domain "": previews have no hosts */
	bool owners_only; /* not for drivers, because sandboxes have no access to this machine's ports */
	struct preview_user *path_users;           /* list of users of the path form */
	size_t users_count;                        /* of all previews and the path form */
	size_t users_max;                          /* their limit, at most PREVIEWS_USERS_MAX */
	unsigned own_ports[PREVIEW_OWN_PORTS_MAX]; /* this server's own listeners */
	size_t own_ports_count;
	struct preview_name stale[PREVIEWS_STALE_MAX]; /* circular; port 0: none */
	size_t stale_next;
	char instance[17]; /* random id of this server in Via, to detect loops */
	struct durable file;
};

/*
 * Load the previews from dir_fd, which is borrowed. The caller has set place, owners_only and users_max; the rest is
 * zero. loop: see ws/auth/durable.h. Returns 0 or a negative errno.
 */
int previews_open(struct previews *all, struct sessions *sessions, uv_loop_t *loop, int dir_fd);

/* Free everything. No user may be attached, and no write may be under way. */
void previews_close(struct previews *all);

/* Exclude a port of this server itself from previews. */
void previews_add_own(struct previews *all, unsigned port);

/* Whether a port was excluded by previews_add_own(). */
bool previews_is_own(const struct previews *all, unsigned port);

/*
 * Make a preview. terms: port, session, epoch, title, author, link, a token ("": a random one), and claim, which is
 * taken in any case. Returns 0, -EEXIST (another preview has the token), -ERR_LIMIT (too many), or another negative
 * errno.
 */
int previews_add(struct previews *all, const struct preview *terms, struct preview **ret_preview);

/* Find the preview of a name, or NULL. Constant time with regard to the token. */
struct preview *previews_find(struct previews *all, const struct preview_name *name);

/* Whether a name is remembered of a preview that ended with its session. */
bool previews_is_stale(const struct previews *all, const struct preview_name *name);

/* Find an existing preview of this port and session, made by this link; or NULL. */
struct preview *previews_find_same(
	struct previews *all, unsigned port, const char *session, const char *link);

/* Revoke the previews whose sessions have ended. */
void previews_prune(struct previews *all);

/* Revoke a preview and free it; its users are detached and their ended() is called. */
void preview_revoke(struct preview *p);

/* Write the list. done: see durable_save(). */
void previews_store(struct previews *all, durable_done done, void *user);

/*
 * Attach a user of a preview, or (NULL) of the path form. u: borrowed until detached. Returns false if there are too
 * many.
 */
bool preview_attach(struct previews *all, struct preview *p, struct preview_user *u);

/* Detach a user. Harmless if it is not attached. */
void preview_detach(struct preview_user *u);
