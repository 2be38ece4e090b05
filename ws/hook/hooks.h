/*
 * Webhooks: who is told, by HTTP, when a session needs somebody: its state and its journal (shell/activity) as events, which the
 * courier brings. Told at least once: again and again until the receiver says that it has it, as far as backlog.h goes. What the
 * receiver has got and not said so comes twice, under the same id.
 *
 * Nothing is kept on disk. What has not arrived when the server ends has a second (HOOK_FAREWELL_MS), and is lost then, which the
 * log says; when the server is killed it is lost in silence. What happens while there is no server is not told. What waits for
 * somebody then is told anew by the next server, under another id.
 */
#pragma once

#include "shell/activity/activities.h"
#include "ws/hook/courier.h"

struct hooks;

struct hooks_options {
	struct courier_options courier;
	const char *const *url; /* where people find the server; *url may be set later, and be NULL */
};

int hooks_open(uv_loop_t *loop, const struct hooks_options *options,
	const struct courier_callbacks *callbacks, void *user, struct hooks **ret_hooks);

/* Clients are served: from now on states are told, beginning with those that have been reached meanwhile. hooks may be NULL, here and below. */
void hooks_begin(struct hooks *h, const struct sessions *sessions, const struct activities *a);

/* What a session is at has changed. */
void hooks_take_state(struct hooks *h, const struct activity *a);

/* Something has happened in it. */
void hooks_take_entry(struct hooks *h, const struct activity *a, const struct journal_entry *entry);

/* Returns false when there are no webhooks. */
bool hooks_look(struct hooks *h, struct backlog_counts *ret_counts);

/* As courier_close(). */
unsigned hooks_close(struct hooks *h);
