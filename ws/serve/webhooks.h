/* Opens the webhooks (ws/hook) of the options, and hides their URLs from the command line. */
#pragma once

#include "ws/hook/hooks.h"
#include "ws/serve/options.h"
#include "ws/serve/reports.h"

/*
 * Open the webhooks; *ret_hooks stays NULL if there are none. The URLs are wiped from the options, and so from argv, which
 * other processes can read. url: as in hooks_options. Returns 0, or -1 after printing an error.
 */
int webhooks_open(struct serve_options *options, uv_loop_t *loop, const char *const *url,
	struct reports *reports, struct hooks **ret_hooks);

/* Close the webhooks, and log how many events were not delivered. */
void webhooks_close(struct hooks *hooks);

/* Check the file of keys. Returns 0, or -1 after printing an error. */
int webhooks_check(const struct serve_options *options);
