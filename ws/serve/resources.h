/* What the server takes from the system before it opens anything of its own. */
#pragma once

#include "shell/bounds.h"
#include "shell/isolation.h"
#include "shell/user.h"
#include "ws/serve/options.h"

#include <limits.h>
#include <uv.h>

/*
 * Make the runtime directory, or refuse one that others could have prepared for us. given: NULL = the default one.
 * ret_dir: its path, resolved. Returns 0, or -1 after it has said why.
 */
int resources_runtime_dir(const char *given, char ret_dir[PATH_MAX]);

/*
 * The file with the owner's token that systemd has for us (LoadCredential=ringside.token), or NULL. It lives as long as
 * the program.
 */
const char *resources_credential(void);

/* Find ringside-holder: beside ringside-server, or where $RINGSIDE_HOLDER says. Returns 0, or -1 after it has said why. */
int resources_holder(char ret_path[PATH_MAX]);

/* Use as many descriptors as we may; *ret_before: the limit that we were started with, 0 if unknown. */
unsigned resources_raise_descriptors(long *ret_before);

/*
 * Let the loop have its table of descriptors. It grows with the highest one that is watched, and libuv ends the program where
 * memory is short then (maybe_resize() in its src/unix/core.c).
 */
void resources_prepare_loop(uv_loop_t *loop, unsigned descriptors);

/* How many connections so many descriptors allow, of those that are wanted. */
unsigned resources_connections(unsigned wanted, unsigned descriptors, bool tls);

/*
 * How many threads are to follow screens: as many as suit this machine, or as $RINGSIDE_THREADS says, 0 for none. Returns
 * what was found, and says when that is no number.
 */
unsigned resources_threads(void);

/*
 * What sessions are to live in, as asked for, with the holder and the user of the bounds; *ret stays NULL where nothing is asked for. Returns 0, or -1 after it has
 * said why there is none.
 */
int resources_isolation(const struct serve_options *options, const char *runtime_dir,
	const struct bounds *bounds, struct isolation **ret);

/* Whose sessions are to be, as asked for: into *ret_user, for user_finish(), and *ret_bounds. Returns 0, or -1 after it has said why not. */
int resources_find_user(
	const struct serve_options *options, struct user *ret_user, struct bounds *ret_bounds);

/*
 * Our own environment becomes that of the user of the bounds, where the holder is known, and the runtime directory may be gone
 * through. Returns 0, or -1 after it has said why not.
 */
int resources_admit_user(const char *runtime_dir, const struct bounds *bounds);

/*
 * Where those begin that name no directory, as asked for, into ret_dir, by its real name: --workspace, or the user's home, or where
 * we are. Returns 0, or -1 after it has said why not.
 */
int resources_workspace(const struct serve_options *options, const char *runtime_dir,
	const struct bounds *bounds, char ret_dir[PATH_MAX]);

/*
 * Within what limits sessions are to live, as asked for, into *ret_bounds. To be called before anything is started, for it may
 * move this process. Returns 0, or -1 after it has said what is missing.
 */
int resources_limits(const struct serve_options *options, struct bounds *ret_bounds);
