/* See remains.h: removals without a holder, each on its own. */
#include "shell/held/remains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct remains {
	struct remains *prev, *next;
	struct removal removal;
	struct removals *table;
	remains_cleared *cleared;
	void *user;
	char *directory;
};

static void forget(struct remains *m)
{
	removal_cancel(&m->removal);
	DL_DELETE(m->table->remains, m);
	free(m->directory);
	free(m);
}

static void on_done(void *user, int error)
{
	struct remains *m = user;
	m->cleared(m->user, m->directory, error);
	forget(m);
}

int remains_add(struct removals *t, const char *directory, remains_cleared *cleared, void *user)
{
	struct remains *m = calloc(1, sizeof *m);
	if (!m)
		return -ENOMEM;
	m->directory = strdup(directory);
	if (!m->directory) {
		free(m);
		return -ENOMEM;
	}
	m->table = t;
	m->cleared = cleared;
	m->user = user;
	m->removal = (struct removal){.done = on_done,
		.user = m,
		.dir_fd = -1,
		.directory = m->directory,
		.holder = -1,
		.mark = removal_mark(directory)};
	DL_APPEND(t->remains, m);
	removal_start(t, &m->removal, 0);
	return 0;
}

bool remains_has(const struct removals *t, const char *directory)
{
	const struct remains *m;
	DL_FOREACH (t->remains, m)
		if (strcmp(m->directory, directory) == 0)
			return true;
	return false;
}

void remains_close(struct removals *t)
{
	struct remains *m, *next;
	DL_FOREACH_SAFE (t->remains, m, next)
		forget(m);
}
