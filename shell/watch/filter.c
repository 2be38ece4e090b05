#include "shell/watch/filter.h"

#include <string.h>

static const char *const names[WATCH_TYPES] = {
	"create", "modify", "delete", "move_from", "move_to", "attrib"};

const char *watch_type_name(enum watch_type type)
{
	return type < WATCH_TYPES ? names[type] : "resync";
}

enum watch_type watch_type_parse(const char *name)
{
	unsigned type = 0;
	while (type < WATCH_TYPES && strcmp(names[type], name) != 0)
		type++;
	return type;
}

void watch_filter_default(struct watch_filter *f)
{
	static const char *const usual[] = {".git", "node_modules", ".DS_Store"};
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		path_pattern_prepare(&f->patterns[i], usual[i], strlen(usual[i]));
	f->patterns_count = sizeof usual / sizeof *usual;
	f->include = false;
	/* So a root that is itself below a node_modules can be watched. */
	f->below = true;
}

bool watch_filter_equals(const struct watch_filter *f, const struct watch_filter *other)
{
	if (f->patterns_count != other->patterns_count || f->include != other->include ||
		f->below != other->below || f->recursive != other->recursive ||
		f->types != other->types || strcmp(f->name, other->name) != 0)
		return false;
	for (unsigned i = 0; i < f->patterns_count; i++)
		if (!path_pattern_equals(&f->patterns[i], &other->patterns[i]))
			return false;
	return true;
}

static bool matches(const struct watch_filter *f, const char *path, size_t length, size_t root)
{
	size_t from = f->below ? root : 0;
	for (unsigned i = 0; i < f->patterns_count; i++)
		if (path_pattern_matches(&f->patterns[i], path + from, length - from))
			return true;
	return false;
}

bool watch_filter_prunes(const struct watch_filter *f, const char *path, size_t length, size_t root)
{
	return !f->include && matches(f, path, length, root);
}

bool watch_filter_matches(const struct watch_filter *f, enum watch_type type, const char *path,
	size_t length, size_t root)
{
	if (type == WATCH_RESYNC)
		return true;
	return (f->types & 1u << type) != 0 && matches(f, path, length, root) == f->include;
}
