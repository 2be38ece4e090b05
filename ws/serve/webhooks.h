/* Webhooks (ws/hook) as the options ask for them: their keys are read, their addresses taken from the command line. */
#pragma once

#include "ws/hook/hooks.h"
#include "ws/serve/options.h"
#include "ws/serve/reports.h"

/*
 * Open them; *ret_hooks stays NULL where none is asked for. The addresses are wiped from the options, and so from what others see of
 * our command line. url: as in hooks_options. Returns 0, or -1 after it has said why not.
 */
int webhooks_open(struct serve_options *options, uv_loop_t *loop, const char *const *url,
	struct reports *reports, struct hooks **ret_hooks);

/* End them, and say what nobody has got. */
void webhooks_close(struct hooks *hooks);
