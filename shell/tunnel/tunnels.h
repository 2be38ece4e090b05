/*
 * Tunnels: ports of this machine that are reached from the internet by cloudflared, one program for each, as runs
 * (shell/run/run.h) beside every session. A tunnel ends with the server. One is ready once its program says that it is connected,
 * and, where Cloudflare chooses the address (a quick one), what that is.
 */
#pragma once

#include "shell/name.h"
#include "shell/run/run.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define TUNNELS_MAX 16u        /* at once */
#define TUNNEL_READY_MS 90000u /* until it is given up */
#define TUNNEL_READY_MAX_MS 600000u
#define TUNNEL_GRACE_MS 3000u /* between TERM and KILL */
#define TUNNEL_GRACE_MAX_MS 60000u
#define TUNNEL_TOKEN_MAX 8192u /* bytes */
#define TUNNEL_WHY_SIZE 256u   /* bytes of what went wrong, with the NUL */

struct tunnels;
struct tunnel;

/* One of them. All is borrowed for the call. */
struct tunnel_view {
	const char *id, *run; /* run: which attempt at it; "" */
	bool named, ready;
	unsigned port;
	const char *url, *hostname; /* of a quick one that is ready; "" */
	uint64_t started_ms;        /* wall clock */
};

enum tunnel_end {
	TUNNEL_READY,
	TUNNEL_FAILED,  /* it has ended before that, or has taken too long */
	TUNNEL_MISSING, /* there is no cloudflared */
};

/* Who waits for a tunnel: embedded in what does. */
struct tunnel_waiter {
	struct tunnel_waiter *prev, *next;
	struct tunnel *tunnel;
	/* It is ready, or is not going to be: why, for people. Once, not from inside tunnels_start(). */
	void (*done)(struct tunnel_waiter *w, enum tunnel_end end, const struct tunnel_view *view,
		const char *why);
};

struct tunnel_request {
	const char *id, *run;
	bool named;
	unsigned port;
	const char *token; /* of a named one; what it is known by to Cloudflare is in there */
	const char *cwd;   /* where its program is started */
	uint64_t ready_ms; /* 0: TUNNEL_READY_MS */
	unsigned grace_ms; /* 0: TUNNEL_GRACE_MS */
};

/* One that was ready, and was not asked to end, has ended: with that code, or -1 by a signal. */
typedef void (*tunnels_exited)(void *user, const struct tunnel_view *view, int code);

/* Returns owned, or NULL when memory is short. */
struct tunnels *tunnels_open(uv_loop_t *loop, struct runs *runs);

/* Whom to tell; NULL: nobody. */
void tunnels_tell(struct tunnels *all, tunnels_exited exited, void *user);

/* After runs_close(): none is left then. NULL is fine. */
void tunnels_close(struct tunnels *all);

/*
 * Start one; w waits for it, or NULL. *ret_started is false where that very attempt is under way already. Returns 0, -EEXIST (another
 * attempt at it, or none that has a name, is under way), -EUSERS (TUNNELS_MAX), or as run_start().
 */
int tunnels_start(struct tunnels *all, const struct tunnel_request *request,
	struct tunnel_waiter *w, bool *ret_started);

/* w does not wait any more. */
void tunnel_waiter_forget(struct tunnel_waiter *w);

/* Who waits for one to be gone: embedded in what does. */
struct tunnel_farewell {
	struct tunnel_farewell *prev, *next;
	struct tunnel *tunnel;
	void (*gone)(struct tunnel_farewell *f); /* once, not from inside tunnels_stop() */
};

/* End one; run NULL: whichever attempt it is. Returns 0, or -ENOENT: there is none, or another attempt. */
int tunnels_stop(struct tunnels *all, const char *id, const char *run, struct tunnel_farewell *f);

/* f does not wait any more. */
void tunnel_farewell_forget(struct tunnel_farewell *f);

/* Go through all of them, in the order in which they were started. */
void tunnels_list(const struct tunnels *all,
	void (*each)(void *user, const struct tunnel_view *view), void *user);
