/*
 * The courier: a thread that brings events to webhooks, by libcurl, one at a time to each. The loop gives it events, and hears how
 * it goes; it waits for nobody, and nothing that a receiver does or leaves undone keeps it.
 *
 * Requests are POST, with the headers of Standard Webhooks (see hook_key.h); they follow no redirection, verify certificates, and
 * over plain http reach loopback alone, whatever a name resolves to, unless that is allowed. What a receiver says beyond its
 * status and Retry-After is read, up to HOOK_ANSWER_MAX, and forgotten.
 */
#pragma once

#include "ws/hook/backlog.h"
#include "ws/hook/hook_key.h"
#include "ws/hook/hook_url.h"

#include <uv.h>

#define HOOKS_MAX 8u
#define HOOK_ANSWER_MAX ((size_t)64 << 10)
#define HOOK_FAREWELL_MS 1000u /* for what waits when the server ends */
#define HOOK_WHY_SIZE 160u
#define COURIER_AGENT_SIZE 64u

struct courier;

/* Texts are copied. */
struct courier_options {
	const char *const *urls; /* that hook_url_judge() takes */
	size_t count;            /* 1 to HOOKS_MAX */
	bool plain_anywhere;     /* http may go to other machines */
	unsigned timeout_s;      /* for a try */
	struct hook_keys keys;
	const char *agent; /* User-Agent */
};

/* How it goes with one of them, on the loop. name: as people may read it. */
struct courier_callbacks {
	/* Tries fail since now, or an event was given up: why, in words without secrets. */
	void (*failed)(void *user, const char *name, const char *what, const char *why);
	/* After failures one has arrived. */
	void (*recovered)(void *user, const char *name);
};

/* Returns 0 or a negative errno, and nothing is left. */
int courier_open(uv_loop_t *loop, const struct courier_options *options,
	const struct courier_callbacks *callbacks, void *user, struct courier **ret_courier);

/* Bring it to all of them; the reference stays the caller's. */
void courier_send(struct courier *c, struct hook_event *e);

/* What could not even be made is dropped as well. */
void courier_drop(struct courier *c);

/* Of all together. */
void courier_look(struct courier *c, struct backlog_counts *ret_counts);

/*
 * End it: what may be tried at once has HOOK_FAREWELL_MS to arrive, for which this waits. Returns how many events nobody has got. The
 * memory goes once the loop has turned.
 */
unsigned courier_close(struct courier *c);
