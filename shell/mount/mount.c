/* What somebody has chosen reaches the script by variables only. */
#include "shell/mount/mount.h"

#include "shell/mount/script_text.h"

int mount_start(struct runs *all, const struct mount_options *o,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run)
{
	const char *const names[] = {"RINGSIDE_MOUNT_DO", "RINGSIDE_MOUNT_PATH",
		"RINGSIDE_MOUNT_ONLY", "RINGSIDE_MOUNT_SOURCE", "RINGSIDE_MOUNT_OPTIONS",
		"RINGSIDE_MOUNT_LOG", "RINGSIDE_MOUNT_VERIFY"};
	const char *const values[] = {o->action, o->path, o->only ? "1" : "0",
		o->source ? o->source : "", o->options ? o->options : "", o->log ? o->log : "",
		o->verify ? "1" : "0"};
	const struct run_options run = {.command = mount_script,
		.command_length = mount_script_length,
		.cwd = o->cwd,
		.env_names = names,
		.env_values = values,
		.env_count = sizeof names / sizeof *names,
		.timeout_ms = MOUNT_TIMEOUT_MS,
		.output_max = MOUNT_TEXT_MAX,
		.spares = true /* s3fs */};
	return run_start(all, &run, callbacks, user, ret_run);
}
