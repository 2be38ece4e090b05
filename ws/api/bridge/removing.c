/* Deletes a sandbox: ends all its runs and terminals, then removes the directory on a thread. */
#include "ws/api/bridge/sandbox_internal.h"

#include "shell/files/copy.h"
#include "shell/own_error.h"
#include "shell/proc/marked.h"
#include "ws/api/read/refuse.h"
#include "ws/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define KILL_MS 5000u /* wait for killed processes; then remove the tree anyway */

struct removing *sandbox_find_removing(const struct bridge *b, const char *id)
{
	struct removing *m;
	DL_FOREACH (b->removings, m)
		if (strcmp(m->id, id) == 0)
			return m;
	return NULL;
}

/* Kill leftover background processes, also those of an earlier server. */
static void kill_all(const struct removing *m)
{
	char mark[sizeof SANDBOX_MARK + sizeof m->root + 1];
	snprintf(mark, sizeof mark, SANDBOX_MARK "=%s", m->root);
	marked_kill(mark, KILL_MS);
}

static void on_remove(struct job *job)
{
	struct removing *m = (struct removing *)job;
	char name[NAME_ID_MAX + sizeof SANDBOX_ENTER];
	kill_all(m);
	int fd = open(m->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		m->error = -errno;
		return;
	}
	if (sandbox_is_ours(fd, m->id)) {
		sandbox_sessions_remove(fd, m->id);
		m->error = copy_remove_tree(fd, m->id);
		snprintf(name, sizeof name, "%s%s", m->id, SANDBOX_ENTER);
		if (m->error == 0 || m->error == -ENOENT)
			unlinkat(fd, name, 0);
	}
	close(fd);
}

static void end_removing(struct removing *m, int error)
{
	bool failed = error < 0 && error != -ENOENT;
	if (failed)
		log_write(LOG_WARN, "bridge", "cannot remove sandbox", "id", m->id, "error",
			error_text(error), NULL);
	if (m->sandbox)
		sandbox_forget(m->api->bridge, m->sandbox);
	DL_DELETE(m->api->bridge->removings, m);
	if (!m->request->done && failed)
		sandbox_refuse_error(
			m->request, "exec_transport_error", "The sandbox cannot be removed", error);
	else if (!m->request->done)
		reply_bytes(m->request, 204, NULL, "", 0, NULL);
	request_unref(m->request);
	free(m);
}

static void on_removed(struct job *job, int error)
{
	struct removing *m = (struct removing *)job;
	end_removing(m, error < 0 ? error : m->error);
}

void sandbox_maybe_remove(struct removing *m)
{
	if (m->begun || m->awaited > 0 || (m->sandbox && m->sandbox->runs))
		return;
	m->begun = true;
	m->job = (struct job){.work = on_remove, .done = on_removed};
	int rc = crew_send(m->api->crew, &m->job);
	if (rc < 0)
		end_removing(m, rc);
}

static void on_terminal_ended(
	void *user, struct session *session, enum report_stage stage, int error)
{
	struct removing *m = user;
	(void)session;
	(void)stage;
	(void)error; /* remove the directory anyway */
	m->awaited--;
	sandbox_maybe_remove(m);
}

/* Whether s is a terminal of the sandbox, perhaps of an earlier server: compare directories. */
static bool is_terminal_of(const struct removing *m, const struct session *s)
{
	return strncmp(session_id(s), SANDBOX_TERMINAL_PREFIX, strlen(SANDBOX_TERMINAL_PREFIX)) ==
		0 &&
		strcmp(s->pane.cwd, m->root) == 0;
}

static void end_all(struct removing *m)
{
	struct sandbox_run *run, *next;
	struct session *terminals[SANDBOX_TERMINALS_MAX], *s = NULL;
	unsigned count = 0;
	m->awaited++; /* until all have been asked to end */
	if (m->sandbox)
		DL_FOREACH_SAFE (m->sandbox->runs, run, next)
			if (run->end)
				run->end(run);
	while (count < SANDBOX_TERMINALS_MAX && (s = session_next(m->api->sessions, s)))
		if (is_terminal_of(m, s))
			terminals[count++] = s;
	for (unsigned i = 0; i < count; i++) {
		m->awaited++;
		m->waiters[i] = (struct session_waiter){.done = on_terminal_ended, .user = m};
		sessions_end(m->api->sessions, terminals[i], &m->waiters[i]);
	}
	m->awaited--;
}

void sandbox_delete(struct request *r)
{
	struct api *a = api_of(r);
	struct removing *m;
	if (!sandbox_check_request(a, r))
		return;
	struct sandbox *s = sandbox_find(a->bridge, r->match.id);
	if (sandbox_find_removing(a->bridge, r->match.id)) {
		reply_bytes(r, 204, NULL, "", 0, NULL);
		return;
	}
	m = request_alloc(r, sizeof *m);
	if (!m)
		return;
	a->bridge->deleted = true;
	m->api = a;
	m->request = request_ref(r);
	m->sandbox = s;
	memcpy(m->id, r->match.id, sizeof m->id);
	snprintf(m->folder, sizeof m->folder, "%s/%s", a->workspace, SANDBOX_FOLDER);
	snprintf(m->root, sizeof m->root, "%s/%s", m->folder, m->id);
	DL_APPEND(a->bridge->removings, m);
	sandbox_cancel_making(m);
	if (s)
		s->removing = m;
	end_all(m);
	sandbox_maybe_remove(m);
}
