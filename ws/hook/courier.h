/*
 * The courier: a thread that delivers events to webhooks by libcurl, one at a time to each. The loop queues events and gets
 * callbacks about failures. It never waits for a receiver.
 *
 * Requests are POST, with the headers of Standard Webhooks (see hook_key.h). Redirections are not followed. Certificates are
 * verified. Plain http reaches only loopback addresses, whatever a name resolves to, unless plain_anywhere is set. Of an
 * answer only the status and Retry-After are used; the rest is discarded, up to HOOK_ANSWER_MAX.
 */
#pragma once

#include "ws/hook/backlog.h"
#include "ws/hook/hook_key.h"
#include "ws/hook/hook_url.h"

#include <uv.h>

#define HOOKS_MAX 8u
#define HOOK_ANSWER_MAX ((size_t)64 << 10)
#define HOOK_FAREWELL_MS 1000u /* for waiting events when the server ends */
#define HOOK_WHY_SIZE 160u
#define COURIER_AGENT_SIZE 64u

struct courier;

/* Options of courier_open(). Texts are copied. */
struct courier_options {
	const char *const *urls; /* valid for hook_url_check() */
	size_t count;            /* 1 to HOOKS_MAX */
	bool plain_anywhere;     /* http may go to other machines */
	unsigned timeout_s;      /* for a try */
	struct hook_keys keys;
	const char *agent; /* User-Agent */
};

/* Reports about one webhook, on the loop. name: of struct hook_url, without secrets. */
struct courier_callbacks {
	/* The first failure in a row, or an event was given up. why: a text without secrets. */
	void (*failed)(void *user, const char *name, const char *what, const char *why);
	/* An event was delivered after failures. */
	void (*recovered)(void *user, const char *name);
};

/* Start the thread. Returns 0 or a negative errno. */
int courier_open(uv_loop_t *loop, const struct courier_options *options,
	const struct courier_callbacks *callbacks, void *user, struct courier **ret_courier);

/* Queue an event for all webhooks; the reference stays the caller's. */
void courier_send(struct courier *c, struct hook_event *e);

/* Count an event as dropped that could not be created. */
void courier_count_dropped(struct courier *c);

/* Get the counts of all webhooks together. */
void courier_get_counts(struct courier *c, struct backlog_counts *ret_counts);

/*
 * End the thread. This blocks up to HOOK_FAREWELL_MS while events that are due are delivered. Returns how many events were
 * not delivered. The memory is freed after the loop has run again.
 */
unsigned courier_close(struct courier *c);
