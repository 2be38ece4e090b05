/*
 * Resources of the system that the server acquires first. Functions that return int return 0, or -1 after printing an error.
 */
#pragma once

#include "shell/bounds.h"
#include "shell/isolation.h"
#include "shell/user.h"
#include "ws/serve/options.h"

#include <limits.h>
#include <uv.h>

/*
 * Make the runtime directory, or refuse one that another user could control. given: NULL = the default one. ret_dir: its
 * resolved path.
 */
int resources_runtime_dir(const char *given, char ret_dir[PATH_MAX]);

/* Path of the file with the owner's token from systemd (LoadCredential=ringside.token), or NULL. Static memory. */
const char *resources_token_file(void);

/* Find ringside-holder: beside ringside-server, or at $RINGSIDE_HOLDER. */
int resources_holder(char ret_path[PATH_MAX]);

/* Raise the limit of descriptors. Returns the new limit; *ret_before: the old one, 0 if unknown. */
unsigned resources_raise_descriptors(long *ret_before);

/*
 * Make the loop allocate its table of descriptors now. It grows with the highest watched descriptor, and libuv aborts if
 * there is no memory for it (maybe_resize() in its src/unix/core.c).
 */
void resources_prepare_loop(uv_loop_t *loop, unsigned descriptors);

/* The number of connections that these descriptors allow, at most wanted. */
unsigned resources_connections(unsigned wanted, unsigned descriptors, bool tls);

/* The number of threads for screens: $RINGSIDE_THREADS (0: none), or a number that suits this machine. */
unsigned resources_threads(void);

/* Open the isolation of --isolate, with the holder and the user of bounds; *ret stays NULL without that option. */
int resources_isolation(const struct serve_options *options, const char *runtime_dir,
	const struct bounds *bounds, struct isolation **ret);

/* Find the user of --session-user: *ret_user, for user_finish(), and *ret_bounds, which points to it. */
int resources_find_user(
	const struct serve_options *options, struct user *ret_user, struct bounds *ret_bounds);

/*
 * Set our own environment to that of the user of bounds, let that user traverse the runtime directory, and check that it can
 * reach the directory and the holder.
 */
int resources_admit_user(const char *runtime_dir, const struct bounds *bounds);

/* Get the workspace, resolved: --workspace, the home of the user of bounds, or the working directory. */
int resources_workspace(const struct serve_options *options, const char *runtime_dir,
	const struct bounds *bounds, char ret_dir[PATH_MAX]);

/*
 * Set the limits of the options in *ret_bounds. Call it before anything is started, because it may move this process to
 * another control group.
 */
int resources_limits(const struct serve_options *options, struct bounds *ret_bounds);
