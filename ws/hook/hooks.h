/*
 * Webhooks: makes events from the states and journals of sessions (shell/activity), which the courier delivers at least once,
 * within the limits of backlog.h. If an acknowledgement is lost, the receiver gets the event twice, with the same id.
 *
 * Nothing is kept on disk. Events that wait when the server ends have HOOK_FAREWELL_MS; then they are lost, which is logged. A
 * killed server loses them silently. What happens while there is no server causes no event, but a session that waits for
 * input when the next server starts causes a new one.
 */
#pragma once

#include "shell/activity/activities.h"
#include "ws/hook/courier.h"

struct hooks;

/* Options of hooks_open(). */
struct hooks_options {
	struct courier_options courier;
	const char *const *url; /* the page's address, borrowed; *url may be NULL, and be set later */
};

/* Open the webhooks. Returns 0 or a negative errno. */
int hooks_open(uv_loop_t *loop, const struct hooks_options *options,
	const struct courier_callbacks *callbacks, void *user, struct hooks **ret_hooks);

/* Send events about states from now on, beginning with the present ones. h may be NULL, here and below. */
void hooks_begin(struct hooks *h, const struct sessions *sessions, const struct activities *a);

/* The state of a session has changed. */
void hooks_report_state(struct hooks *h, const struct activity *a);

/* The journal of a session has a new entry. */
void hooks_report_entry(
	struct hooks *h, const struct activity *a, const struct journal_entry *entry);

/* Get the counts of all webhooks. Returns false if h is NULL. */
bool hooks_get_counts(struct hooks *h, struct backlog_counts *ret_counts);

/* Close the webhooks, as courier_close() does; frees h. */
unsigned hooks_close(struct hooks *h);
