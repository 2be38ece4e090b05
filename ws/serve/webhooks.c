/* Errors and log lines never contain more of a URL than scheme, host and port. */
#include "ws/serve/webhooks.h"

#include "shell/store/file.h"
#include "ws/log.h"
#include "ws/serve/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_keys(const char *path, struct hook_keys *ret_keys)
{
	char *text;
	size_t length;
	int rc = file_load(AT_FDCWD, path, HOOK_KEYS_TEXT_MAX, &text, &length);
	if (rc == 0) {
		rc = strlen(text) == length ? hook_keys_parse(text, ret_keys) : -EINVAL;
		explicit_bzero(text, length);
		free(text);
	}
	if (rc == -EINVAL || rc == -EFBIG)
		return serve_fail("--webhook-key-file",
			"must have 1 to 4 keys, one a line, each of 24 to 64 bytes in base64; openssl rand -base64 32 makes one");
	return rc < 0 ? serve_fail("--webhook-key-file", strerror(-rc)) : 0;
}

int webhooks_open(struct serve_options *o, uv_loop_t *loop, const char *const *url,
	struct reports *reports, struct hooks **ret_hooks)
{
	char agent[COURIER_AGENT_SIZE];
	struct hooks_options options = {.url = url,
		.courier = {.urls = o->webhooks.items,
			.count = o->webhooks.count,
			.plain_anywhere = o->webhook_http,
			.timeout_s = o->webhook_wait_s,
			.agent = agent}};
	if (o->webhooks.count == 0)
		return 0;
	snprintf(agent, sizeof agent, "ringside/%s", reports->api->version);
	if (o->webhook_key_file && read_keys(o->webhook_key_file, &options.courier.keys) < 0)
		return -1;
	int rc = hooks_open(loop, &options, &reports_of_hooks, reports, ret_hooks);
	hook_keys_wipe(&options.courier.keys);
	/* The texts belong to argv, which is writable. */
	for (size_t i = 0; i < o->webhooks.count; i++)
		explicit_bzero((char *)o->webhooks.items[i], strlen(o->webhooks.items[i]));
	o->webhooks.count = 0;
	return rc < 0 ? serve_fail("webhooks", strerror(-rc)) : 0;
}

void webhooks_close(struct hooks *hooks)
{
	char text[16];
	unsigned lost = hooks_close(hooks);
	if (lost == 0)
		return;
	snprintf(text, sizeof text, "%u", lost);
	log_write(LOG_WARN, "webhook", "events were not delivered before the server ended",
		"events", text, NULL);
}

int webhooks_check(const struct serve_options *o)
{
	struct hook_keys keys = {0};
	int rc = o->webhook_key_file ? read_keys(o->webhook_key_file, &keys) : 0;
	hook_keys_wipe(&keys);
	return rc;
}
