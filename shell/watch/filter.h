/* Which events of which paths a watch reports. Pure. */
#pragma once

#include "shell/watch/path_pattern.h"

#include <stdbool.h>
#include <stddef.h>

#define WATCH_PATTERNS_MAX 32u

/* Types of events, in the order of their bits. */
enum watch_type {
	WATCH_CREATE,
	WATCH_MODIFY,
	WATCH_DELETE,
	WATCH_MOVE_FROM,
	WATCH_MOVE_TO,
	WATCH_ATTRIB,
	WATCH_TYPES,
	WATCH_RESYNC = WATCH_TYPES /* events were lost: read everything again */
};

/* The bits of all types but WATCH_ATTRIB. */
#define WATCH_TYPES_DEFAULT                                                                     \
	(1u << WATCH_CREATE | 1u << WATCH_MODIFY | 1u << WATCH_DELETE | 1u << WATCH_MOVE_FROM | \
		1u << WATCH_MOVE_TO)

/* The name of a type: "create" ... */
const char *watch_type_name(enum watch_type type);

/* The type of a name; WATCH_TYPES: unknown. */
enum watch_type watch_type_parse(const char *name);

/* What to report. Zero it before filling it in. */
struct watch_filter {
	struct path_pattern patterns[WATCH_PATTERNS_MAX];
	unsigned patterns_count;
	bool include;   /* report only what matches a pattern; otherwise, all else */
	bool below;     /* match only the part of a path that is below the root */
	bool recursive; /* include subdirectories */
	unsigned types; /* bits of enum watch_type */
	char name[256]; /* if not "": report only this file in the root */
};

/* Set the default patterns: exclude .git, node_modules and .DS_Store. */
void watch_filter_default(struct watch_filter *f);

/* Whether two filters are equal. */
bool watch_filter_equals(const struct watch_filter *f, const struct watch_filter *other);

/*
 * Whether nothing below a directory is reported. path: absolute, length bytes; its first root bytes are the
 * root's path.
 */
bool watch_filter_prunes(const struct watch_filter *f, const char *path, size_t length, size_t root);

/* Whether to report an event of this type and path. path: as above. */
bool watch_filter_matches(const struct watch_filter *f, enum watch_type type, const char *path,
	size_t length, size_t root);
