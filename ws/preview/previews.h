/*
 * Previews: ports of this machine that have been given a name and a token by which anybody may reach them, until they are
 * revoked. Those that owners have made are kept on disk and outlive the server; those of a link end with it, and those of a
 * session with that.
 *
 * Who uses one (a connection in ws/net) is attached to it, and is ended with it.
 */
#pragma once

#include "shell/claim.h"
#include "shell/session/sessions.h"
#include "ws/auth/durable.h"
#include "ws/preview/preview_name.h"

#include <stdint.h>

#define PREVIEWS_MAX 256u        /* in all */
#define PREVIEWS_OF_LINK 32u     /* of those, that were made by one link */
#define PREVIEWS_OF_LINKS 128u   /* and by all links: the rest is the owners' */
#define PREVIEW_USERS_MAX 256u   /* connections of one preview at once */
#define PREVIEWS_USERS_MAX 1024u /* of all, and by the path form, together */
#define PREVIEW_OWN_PORTS_MAX 64u
#define PREVIEWS_STALE_MAX \
	256u /* names that are remembered of those that have ended with their session */

struct preview;

/* One who uses a preview, or the path form (preview: NULL). */
struct preview_user {
	struct preview_user *prev, *next;
	struct previews *previews;
	struct preview *preview;   /* NULL: by the path form, or not attached any more */
	void (*ended)(void *user); /* the preview has been revoked; it is detached already */
	void *user;
};

struct preview {
	struct preview *prev, *next;
	struct preview_name name;
	char session[NAME_ID_MAX + 1]; /* that it ends with, or "" */
	uint64_t epoch;                /* of that */
	char title[NAME_BYTES_MAX + 1];
	char author[NAME_AUTHOR_MAX + 1];
	char link[64];       /* by which it was made, or "": an owner's */
	uint64_t created_ms; /* wall clock */
	struct claim *claim; /* of that link, or NULL */
	struct previews *previews;
	struct preview_user *users; /* list */
	size_t users_count;
};

struct previews {
	struct sessions *sessions; /* borrowed; NULL: none is looked for */
	struct preview *list;
	size_t count;
	struct preview_place place; /* --preview-domain; domain "": there are no hosts of previews */
	bool place_is_default;
	bool owners_only; /* no driver has one: rooms of sessions do not see the ports of this machine */
	struct preview_user *path_users; /* list: by the path form */
	size_t users_count, users_max;   /* of all; there may be fewer than PREVIEWS_USERS_MAX */
	unsigned own_ports[PREVIEW_OWN_PORTS_MAX]; /* that this server listens at */
	size_t own_ports_count;
	struct preview_name stale[PREVIEWS_STALE_MAX]; /* a circle; port 0: none */
	size_t stale_next;
	char instance[17]; /* how this server calls itself to programs, so that it knows itself again */
	struct durable file;
};

/* Load those that were there; place, owners_only and users_max are set, the rest is zero. loop, dir_fd: see ws/auth/durable.h. Returns 0 or a negative errno. */
int previews_open(struct previews *all, struct sessions *sessions, uv_loop_t *loop, int dir_fd);
/* Nobody uses one any more. */
void previews_close(struct previews *all);

/* This server listens there: nothing of that is ever previewed. */
void previews_add_own(struct previews *all, unsigned port);
bool previews_is_own(const struct previews *all, unsigned port);

/*
 * Make one. terms: port, session, epoch, title, author, link and claim (taken in any case); a token, or "" for a random one.
 * Returns 0; -EEXIST when the token is that of another; -EUSERS when there are too many; or another negative errno.
 */
int previews_add(struct previews *all, const struct preview *terms, struct preview **ret_preview);

/* The one that a host names, or NULL. Constant time with regard to the token. */
struct preview *previews_find(struct previews *all, const struct preview_name *name);

/* Whether a host names one that has ended with its session, as far as that is remembered. */
bool previews_is_stale(const struct previews *all, const struct preview_name *name);

/* One of this port and session, and made by this link, that is there already; or NULL. */
struct preview *previews_same(
	struct previews *all, unsigned port, const char *session, const char *link);

/* Revoke the previews whose sessions have gone; their connections end. */
void previews_prune(struct previews *all);

/* Revoke one: who uses it is ended, now. */
void preview_revoke(struct preview *p);

/* Write the list. done: as of durable_save(). */
void previews_store(struct previews *all, durable_done done, void *user);

/* Attach one who uses a preview, or (NULL) the path form. Returns whether there is a place. u: borrowed until it detaches. */
bool preview_attach(struct previews *all, struct preview *p, struct preview_user *u);
/* Harmless when it is not attached. */
void preview_detach(struct preview_user *u);
