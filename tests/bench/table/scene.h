/* What all rows share: a server with default options, a relay, and the figures. */
#pragma once

#include "figures.h"
#include "path.h"
#include "relay.h"
#include "target.h"

struct scene {
	struct target target;
	struct relay relay;
	struct figures figures;
};

/* program: path of ringside. */
void scene_open(struct scene *s, const char *program);
void scene_close(struct scene *s);

/* Start a script by a way. id: of the session, for WAY_RINGSIDE. */
struct path scene_path(const struct scene *s, enum way way, const char *id, const char *script);

/* CPU seconds so far of this process, of the relay, or of the server and its holders, by the way. */
double scene_cpu(const struct scene *s, enum way way, const struct path *paths, unsigned count);

/* Add p50 and p99 of microseconds to the figures "NAME, p50" and "NAME, p99". Sorts them. */
void scene_add_times(struct scene *s, const char *row, const char *name, enum way way, double *us,
	unsigned count);
