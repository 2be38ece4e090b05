/* What of a tree is told: which events, of which paths. Pure. */
#pragma once

#include "shell/watch/path_pattern.h"

#include <stdbool.h>
#include <stddef.h>

#define WATCH_PATTERNS_MAX 32u

enum watch_type {
	WATCH_CREATE,
	WATCH_MODIFY,
	WATCH_DELETE,
	WATCH_MOVE_FROM,
	WATCH_MOVE_TO,
	WATCH_ATTRIB,
	WATCH_TYPES,
	WATCH_RESYNC = WATCH_TYPES /* events have been lost: look again at everything */
};

#define WATCH_TYPES_DEFAULT                                                                     \
	(1u << WATCH_CREATE | 1u << WATCH_MODIFY | 1u << WATCH_DELETE | 1u << WATCH_MOVE_FROM | \
		1u << WATCH_MOVE_TO)

/* "create" ...; and back: WATCH_TYPES when it is none. */
const char *watch_type_name(enum watch_type type);
enum watch_type watch_type_parse(const char *name);

struct watch_filter {
	struct path_pattern patterns[WATCH_PATTERNS_MAX];
	unsigned patterns_count;
	bool include;   /* the patterns say what is told; otherwise, what is not */
	bool below;     /* they are matched with what is below the root alone */
	bool recursive; /* also what is below its directories */
	unsigned types; /* bits */
	char name[256]; /* if not "": the one file in the root that this is about */
};

/* Nothing but the usual: .git, node_modules and .DS_Store are left out. */
void watch_filter_default(struct watch_filter *f);

/* Whether two let the same through. */
bool watch_filter_is(const struct watch_filter *f, const struct watch_filter *other);

/*
 * Whether nothing below this directory is told. path: absolute, of length bytes, the first root of which are those of the
 * root.
 */
bool watch_filter_prunes(const struct watch_filter *f, const char *path, size_t length, size_t root);

/* Whether an event of this type and path is told; likewise. */
bool watch_filter_tells(const struct watch_filter *f, enum watch_type type, const char *path,
	size_t length, size_t root);
