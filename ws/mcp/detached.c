/* A list. A command's state is looked up only when there is an answer or a tick. */
#include "ws/mcp/detached.h"

#include "shell/session/sessions.h"
#include "ws/dispatcher.h"
#include "ws/mcp/call.h"
#include "ws/mcp/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct mcp_detached_one {
	struct mcp_detached_one *prev, *next;
	uint64_t client;
	bool announced; /* its end was sent on a stream */
	char session[NAME_ID_MAX + 1], exec[NAME_ID_MAX + 1];
};

static void drop(struct mcp_detached *all, struct mcp_detached_one *one)
{
	DL_DELETE(all->all, one);
	all->count--;
	free(one);
}

static struct mcp_detached_one *find(
	struct mcp_detached *all, uint64_t client, const char *session, const char *exec)
{
	struct mcp_detached_one *one;
	DL_FOREACH (all->all, one)
		if (one->client == client && strcmp(one->exec, exec) == 0 &&
			strcmp(one->session, session) == 0)
			return one;
	return NULL;
}

/* A client with too many loses its own oldest; only if all are too many, the oldest of all goes. */
static void make_room(struct mcp_detached *all, uint64_t client)
{
	struct mcp_detached_one *one, *oldest = NULL;
	size_t count = 0;
	DL_FOREACH (all->all, one) {
		if (one->client != client)
			continue;
		oldest = oldest ? oldest : one;
		count++;
	}
	if (count >= MCP_DETACHED_MAX)
		drop(all, oldest);
	else if (all->count >= MCP_DETACHED_TOTAL)
		drop(all, all->all);
}

static void note(struct mcp_detached *all, uint64_t client, const char *session, const char *exec)
{
	struct mcp_detached_one *one = find(all, client, session, exec) ? NULL
									: calloc(1, sizeof *one);
	if (!one)
		return;
	one->client = client;
	snprintf(one->session, sizeof one->session, "%s", session);
	snprintf(one->exec, sizeof one->exec, "%s", exec);
	make_room(all, client);
	DL_APPEND(all->all, one);
	all->count++;
}

void mcp_detached_add(struct mcp_detached *all, const struct mcp_call *c)
{
	note(all, c->client, c->session, c->exec);
}

void mcp_detached_remove(struct mcp_detached *all, const struct mcp_call *c)
{
	struct mcp_detached_one *one = find(all, c->client, c->session, c->exec);
	if (one)
		drop(all, one);
}

/* State of mcp_detached_restore(). */
struct restoring {
	struct mcp_detached *all;
	const char *session;
};

static void on_unreported(void *user, const struct exec *e)
{
	const struct restoring *t = user;
	note(t->all, e->caller, t->session, e->id);
}

void mcp_detached_restore(struct mcp *m)
{
	struct sessions *sessions = m->dispatcher->sessions;
	if (sessions->executors.unreported == 0)
		return;
	for (struct session *s = NULL; (s = session_next(sessions, s));) {
		struct restoring t = {.all = &m->detached, .session = session_id(s)};
		exec_each_unreported(session_executor(s), on_unreported, &t);
	}
}

static json_t *end_text(const struct mcp_detached_one *one, const struct exec *e)
{
	if (e->status < 0)
		return json_sprintf(
			"%s/%s has ended: %s", one->session, one->exec, exec_end_name(e->end));
	return json_sprintf("%s/%s has ended: exit code %d", one->session, one->exec, e->status);
}

static const struct exec *exec_of(const struct mcp *m, const struct mcp_detached_one *one)
{
	struct session *s = sessions_find(m->dispatcher->sessions, one->session);
	return s ? exec_find(session_executor(s), one->exec) : NULL;
}

json_t *mcp_detached_next_ended(struct mcp *m, uint64_t client)
{
	struct mcp_detached_one *one;
	mcp_detached_restore(m);
	DL_FOREACH (m->detached.all, one) {
		const struct exec *e = one->client == client && !one->announced ? exec_of(m, one)
										: NULL;
		if (!e || e->state != EXEC_DONE)
			continue;
		one->announced = true;
		return end_text(one, e);
	}
	return NULL;
}

void mcp_detached_report(struct mcp_detached *all, struct mcp_call *c)
{
	struct mcp_detached_one *one, *next;
	mcp_detached_restore(c->mcp);
	DL_FOREACH_SAFE (all->all, one, next) {
		if (one->client != c->client)
			continue;
		const struct exec *e = exec_of(c->mcp, one);
		if (e && e->state != EXEC_DONE)
			continue;
		if (e)
			mcp_add_note(c, end_text(one, e));
		drop(all, one);
	}
}

void mcp_detached_close(struct mcp_detached *all)
{
	while (all->all)
		drop(all, all->all);
}
