/* See sandbox.h. Directories are made and removed by threads (shell/files/crew.h), with the rights of those whose they are. */
#include "ws/api/bridge/sandbox.h"

#include "shell/bounds.h"
#include "shell/files/copy.h"
#include "shell/files/crew.h"
#include "shell/proc/marked.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/workspace.h"
#include "ws/error.h"
#include "ws/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define FOLDER ".sandboxes" /* of the workspace */
#define ENTER_SUFFIX ".enter"
#define ENTER_SIZE (2 * PLACE_PATH_MAX + 2048)
#define SANDBOX_MARK "RINGSIDE_SANDBOX" /* variable: its directory, of all that runs in there */
#define KILL_MS 5000u /* for all that is killed to be gone; then the tree is removed anyway */
#define IDLE_MS (UINT64_C(10) * 60 * 1000)

/*
 * What starts everything in a sandbox: a command, or a shell. Among mounts of its own, where bubblewrap can make them, the directory
 * is at /workspace; elsewhere words that are paths in there are given by their real name.
 */
static const char enter_text[] =
	"at=${RINGSIDE_SANDBOX_AT-} shell=${RINGSIDE_SANDBOX_SHELL:-bash}\n"
	"[[ $at != . ]] || at=\n"
	"unset RINGSIDE_SANDBOX_AT RINGSIDE_SANDBOX_SHELL\n"
	"export " SANDBOX_MARK "=$root\n"
	"view=(bwrap --die-with-parent)\n"
	"((EUID)) || view+=(--cap-add ALL)\n"
	"for each in /*; do\n"
	"	[[ $each == /workspace ]] || view+=(--dev-bind-try \"$each\" \"$each\")\n"
	"done\n"
	"view+=(--bind \"$root\" /workspace)\n"
	"if \"${view[@]}\" true 2>/dev/null; then\n"
	"	view+=(--chdir \"/workspace${at:+/$at}\")\n"
	"	(($#)) || exec \"${view[@]}\" \"$shell\"\n"
	"	exec \"${view[@]}\" bash -c '\"$@\"' bash \"$@\"\n"
	"fi\n"
	"cd -- \"$root/$at\" || exit 1\n"
	"(($#)) || exec \"$shell\"\n"
	"words=()\n"
	"for each; do\n"
	"	[[ $each == /workspace || $each == /workspace/* ]] && each=$root${each#/workspace}\n"
	"	words+=(\"$each\")\n"
	"done\n"
	"exec bash -c '\"$@\"' bash \"${words[@]}\"\n";

void sandbox_refuse(struct request *r, int status, const char *code, const char *message)
{
	reply_json(r, status, json_pack("{s:s, s:s}", "error", message, "code", code));
}

void sandbox_refuse_error(struct request *r, const char *code, const char *what, int error)
{
	char message[PLACE_PATH_MAX + 128];
	int status = error == -EXDEV ? 403 : error == -EUSERS ? 429 : 502;
	snprintf(message, sizeof message, "%s: %s", what,
		error == -EXDEV            ? "it leads out of /workspace"
			: error == -EUSERS ? "too much is under way already"
					   : error_text(error));
	sandbox_refuse(r, status,
		error == -EXDEV            ? "invalid_request"
			: error == -EUSERS ? "capacity_exceeded"
					   : code,
		message);
}

bool sandbox_has_way(struct request *r)
{
	bool has = !r->transport || r->transport->downloading;
	if (!has)
		sandbox_refuse(r, 501, "not_implemented", "This is served by HTTP alone");
	return has;
}

bool sandbox_is_id(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz234567");
	return length > 0 && length <= NAME_ID_MAX && !text[length];
}

bool sandbox_is_session(const char *text)
{
	size_t length = strspn(
		text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
	return length > 0 && length <= NAME_ID_MAX && !text[length] && !strstr(text, "..");
}

bool sandbox_path(const char *path, char ret_path[PLACE_PATH_MAX])
{
	char joined[BODY_PATH_MAX];
	if (!workspace_join(WORKSPACE_ALIAS, path, joined) ||
		!workspace_has(WORKSPACE_ALIAS, joined))
		return false;
	const char *below = joined + sizeof WORKSPACE_ALIAS - 1;
	snprintf(ret_path, PLACE_PATH_MAX, "%s", below[0] ? below + 1 : ".");
	return true;
}

bool sandbox_place(const char *root, struct place *p)
{
	bool fits = place_of_directory(p, root);
	p->beneath = true;
	return fits;
}

struct sandbox *sandbox_find(const struct bridge *b, const char *id)
{
	struct sandbox *s;
	DL_FOREACH (b->list, s)
		if (strcmp(s->id, id) == 0)
			return s;
	return NULL;
}

static void refuse_full(struct request *r)
{
	sandbox_refuse(r, 429, "capacity_exceeded", "There are too many sandboxes");
}

/* The list is in the order in which they were used last. */
static void use(const struct api *a, struct sandbox *s)
{
	struct bridge *b = a->bridge;
	s->used_ms = uv_now(a->sessions->loop);
	DL_DELETE(b->list, s);
	DL_APPEND(b->list, s);
}

static void forget(struct bridge *b, struct sandbox *s)
{
	struct sandbox_session *each, *next;
	DL_FOREACH_SAFE (s->sessions, each, next) {
		json_decref(each->env);
		free(each);
	}
	DL_DELETE(b->list, s);
	b->count--;
	free(s);
}

static bool is_idle(const struct api *a, const struct sandbox *s)
{
	for (unsigned i = 0; i < SANDBOX_TERMINALS_MAX; i++)
		if (s->terminals[i][0])
			return false;
	return !s->runs && !s->sessions && !s->removing &&
		uv_now(a->sessions->loop) >= s->used_ms + IDLE_MS;
}

/* Of one that is idle nothing is known but its directory, where it is found again: the one that was used longest ago makes room. */
static bool has_room(const struct api *a)
{
	struct sandbox *s;
	if (a->bridge->count < SANDBOXES_MAX)
		return true;
	DL_FOREACH (a->bridge->list, s)
		if (is_idle(a, s)) {
			forget(a->bridge, s);
			return true;
		}
	return false;
}

static void refuse_deleted(struct request *r)
{
	sandbox_refuse(r, 409, "exec_transport_error", "The sandbox is being deleted");
}

struct sandbox *sandbox_again(struct bridge *b, struct request *r)
{
	struct sandbox *s = sandbox_find(b, r->match.id);
	if (s && !s->removing) {
		use(api_of(r), s);
		return s;
	}
	refuse_deleted(r);
	return NULL;
}

bool sandbox_session_of(
	struct request *r, struct sandbox *s, const struct sandbox_session **ret_session)
{
	const char *id = r->session_hint[0] ? r->session_hint : request_param(r, "session");
	struct sandbox_session *each;
	*ret_session = NULL;
	if (!id && !r->session_hint_wrong)
		return true;
	if (r->session_hint_wrong || !sandbox_is_session(id)) {
		sandbox_refuse(r, 400, "invalid_request", "Invalid session ID format");
		return false;
	}
	DL_FOREACH (s->sessions, each)
		if (strcmp(each->id, id) == 0)
			*ret_session = each;
	return true;
}

/* A deletion. */
struct removing {
	struct job job;
	struct removing *prev, *next;
	struct api *api;
	struct request *request; /* our reference */
	struct sandbox *sandbox; /* NULL: not in the table */
	char id[NAME_ID_MAX + 1];
	char folder[PLACE_PATH_MAX];
	char root[PLACE_PATH_MAX + NAME_ID_MAX + 2]; /* in there: its directory */
	struct session_waiter waiters[SANDBOX_TERMINALS_MAX];
	unsigned awaited; /* terminals that have not ended yet, and those who are making it */
	bool begun;
	int error;
};

static void maybe_remove(struct removing *m);

/* Making one */

struct making {
	struct job job;
	struct making *prev, *next;
	struct removing *overtaken; /* by a deletion, which waits for it; or NULL */
	struct api *api;
	struct request *request; /* our reference */
	sandbox_fn *fn;
	void *user;
	sandbox_look_fn *look; /* in place of fn: it is not made, and not kept */
	char id[NAME_ID_MAX + 1];
	char folder[PLACE_PATH_MAX];
	int error;
};

static int write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, text, length);
		if (n < 0 && errno != EINTR)
			return -errno;
		text += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The script, written anew each time, for nobody else's may take its place, and whole: commands read it meanwhile. */
static int write_enter(int dir_fd, const struct making *m)
{
	char name[NAME_ID_MAX + sizeof ENTER_SUFFIX], beside[sizeof name + 4], text[ENTER_SIZE];
	size_t at = (size_t)snprintf(text, sizeof text, "#!/bin/bash\nroot='");
	for (const char *c = m->folder; *c; c++)
		at += (size_t)snprintf(text + at, sizeof text - at, *c == '\'' ? "'\\''" : "%c", *c);
	at += (size_t)snprintf(text + at, sizeof text - at, "/%s'\n%s", m->id, enter_text);
	if (at >= sizeof text)
		return -ENAMETOOLONG;
	snprintf(name, sizeof name, "%s%s", m->id, ENTER_SUFFIX);
	snprintf(beside, sizeof beside, "%s.new", name);
	unlinkat(dir_fd, beside, 0);
	int fd = openat(dir_fd, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0)
		return -errno;
	int rc = write_all(fd, text, at);
	close(fd);
	if (rc == 0 && renameat(dir_fd, beside, dir_fd, name) < 0)
		rc = -errno;
	if (rc < 0)
		unlinkat(dir_fd, beside, 0);
	return rc;
}

static bool has_enter(int dir_fd, const char *id)
{
	char name[NAME_ID_MAX + sizeof ENTER_SUFFIX];
	snprintf(name, sizeof name, "%s%s", id, ENTER_SUFFIX);
	return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int make(const struct making *m)
{
	struct stat st;
	if (!m->look && mkdir(m->folder, 0755) < 0 && errno != EEXIST)
		return -errno;
	int rc = 0, fd = open(m->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	bool there = fstatat(fd, m->id, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!there && (errno != ENOENT || m->look))
		rc = -errno;
	else if (there && (!S_ISDIR(st.st_mode) || !has_enter(fd, m->id)))
		rc = -EEXIST; /* somebody else's */
	if (m->look) {
		close(fd);
		return rc;
	}
	/* First: a server that is killed in between leaves what the next one knows as ours. */
	if (rc == 0)
		rc = write_enter(fd, m);
	if (rc == 0 && !there && mkdirat(fd, m->id, 0755) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* One at a time: who finds a directory without its script takes it for somebody else's. */
static void on_make(struct job *job)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	struct making *m = (struct making *)job;
	pthread_mutex_lock(&making);
	m->error = make(m);
	pthread_mutex_unlock(&making);
}

static struct sandbox *add(const struct api *a, const char *folder, const char *id)
{
	struct bridge *b = a->bridge;
	struct sandbox *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->bridge = b;
	s->used_ms = uv_now(a->sessions->loop);
	snprintf(s->id, sizeof s->id, "%s", id);
	int n = snprintf(s->root, sizeof s->root, "%s/%s", folder, id);
	if (n < 0 || (size_t)n >= sizeof s->root) {
		free(s);
		return NULL;
	}
	DL_APPEND(b->list, s);
	b->count++;
	return s;
}

static void on_made(struct job *job, int error)
{
	struct making *m = (struct making *)job;
	struct request *r = m->request;
	struct bridge *b = m->api->bridge;
	struct removing *overtaken = m->overtaken;
	struct sandbox *s = sandbox_find(b, m->id);
	DL_DELETE(b->makings, m);
	if (error == 0)
		error = m->error;
	bool room = s || overtaken || m->look || has_room(m->api);
	if (error == 0 && !s && !overtaken && !m->look && room)
		s = add(m->api, m->folder, m->id);
	/* Nothing begins for those whose access has ended meanwhile. */
	bool good = error == 0 && s && !overtaken && !r->cut;
	if (m->look && !r->done && !r->cut)
		m->look(r, error == 0 && !overtaken);
	else if (good)
		m->fn(r, s, m->user);
	else if (!r->done && overtaken)
		refuse_deleted(r);
	else if (!r->done && !room)
		refuse_full(r);
	else if (!r->done && error < 0)
		sandbox_refuse_error(r, "exec_transport_error", "The sandbox cannot be made", error);
	else if (!r->done)
		sandbox_refuse(r, 502, "exec_transport_error", "There is no memory");
	if (!good || m->look)
		free(m->user);
	if (overtaken) {
		overtaken->awaited--;
		maybe_remove(overtaken);
	}
	request_unref(r);
	free(m);
}

/* Whether there can be any. With --isolate the workspace has to be let in. Otherwise r has been answered. */
static bool are_possible(struct api *a, struct request *r)
{
	if (!sandbox_is_id(r->match.id)) {
		sandbox_refuse(r, 400, "invalid_request", "Invalid sandbox ID format");
		return false;
	}
	if (!a->sessions->config.bounds->isolation ||
		strcmp(a->workspace, a->sessions->config.cwd) == 0)
		return true;
	sandbox_refuse(r, 501, "not_implemented",
		"With --isolate the workspace has to be let in: see --bind");
	return false;
}

/* Returns whether that goes on; otherwise r has been answered. */
static bool begin_making(struct request *r, const struct making *wanted)
{
	struct api *a = api_of(r);
	struct making *m = malloc(sizeof *m);
	if (!m) {
		refuse_memory(r);
		return false;
	}
	*m = *wanted;
	m->job.work = on_make;
	m->job.done = on_made;
	m->api = a;
	m->request = request_ref(r);
	memcpy(m->id, r->match.id, sizeof m->id);
	int n = snprintf(m->folder, sizeof m->folder, "%s/%s", a->workspace, FOLDER);
	int rc = n < 0 || (size_t)n >= sizeof m->folder - NAME_ID_MAX - sizeof ENTER_SUFFIX
		? -ENAMETOOLONG
		: crew_send(a->crew, &m->job);
	if (rc == 0) {
		DL_APPEND(a->bridge->makings, m);
		return true;
	}
	sandbox_refuse_error(r, "exec_transport_error", "The sandbox cannot be made", rc);
	request_unref(r);
	free(m);
	return false;
}

static struct removing *find_removing(const struct bridge *b, const char *id)
{
	struct removing *m;
	DL_FOREACH (b->removings, m)
		if (strcmp(m->id, id) == 0)
			return m;
	return NULL;
}

void sandbox_look(struct request *r, sandbox_look_fn *look)
{
	struct bridge *b = api_of(r)->bridge;
	struct sandbox *s = sandbox_find(b, r->match.id);
	if (!are_possible(api_of(r), r))
		return;
	if (find_removing(b, r->match.id))
		look(r, false);
	else if (s)
		look(r, true);
	else
		begin_making(r, &(struct making){.look = look});
}

void sandbox_use(struct request *r, sandbox_fn *fn, void *user)
{
	struct api *a = api_of(r);
	struct sandbox *s;
	if (!are_possible(a, r))
		goto err_user;
	if (find_removing(a->bridge, r->match.id)) {
		refuse_deleted(r);
		goto err_user;
	}
	s = sandbox_find(a->bridge, r->match.id);
	if (s) {
		use(a, s);
		fn(r, s, user);
		return;
	}
	if (a->sessions->draining) {
		sandbox_refuse_error(
			r, "exec_transport_error", "The sandbox cannot be made", -ESHUTDOWN);
		goto err_user;
	}
	if (!has_room(a)) {
		refuse_full(r);
		goto err_user;
	}
	if (begin_making(r, &(struct making){.fn = fn, .user = user}))
		return;
err_user:
	free(user);
}

/* The end */

/* What commands have left in the background, also for an earlier server. */
static void kill_all(const struct removing *m)
{
	char mark[sizeof SANDBOX_MARK + sizeof m->root + 1];
	snprintf(mark, sizeof mark, SANDBOX_MARK "=%s", m->root);
	marked_kill(mark, KILL_MS);
}

static void on_remove(struct job *job)
{
	struct removing *m = (struct removing *)job;
	char name[NAME_ID_MAX + sizeof ENTER_SUFFIX];
	kill_all(m);
	int fd = open(m->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	/* What is not ours stays. */
	if (has_enter(fd, m->id)) {
		m->error = copy_remove_tree(fd, m->id);
		snprintf(name, sizeof name, "%s%s", m->id, ENTER_SUFFIX);
		if (m->error == 0 || m->error == -ENOENT)
			unlinkat(fd, name, 0);
	}
	close(fd);
}

static void end_removing(struct removing *m, int error)
{
	if (error < 0 && error != -ENOENT)
		log_write(LOG_WARN, "bridge", "a sandbox cannot be removed", "id", m->id, "error",
			error_text(error), NULL);
	if (m->sandbox)
		forget(m->api->bridge, m->sandbox);
	DL_DELETE(m->api->bridge->removings, m);
	if (!m->request->done)
		reply_bytes(m->request, 204, NULL, "", 0, NULL);
	request_unref(m->request);
	free(m);
}

static void on_removed(struct job *job, int error)
{
	struct removing *m = (struct removing *)job;
	end_removing(m, error < 0 ? error : m->error);
}

/* What still runs could make files while they are removed. */
static void maybe_remove(struct removing *m)
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
	(void)error; /* what cannot be ended is not waited for */
	m->awaited--;
	maybe_remove(m);
}

/* A terminal in there, also one of an earlier server, of which only its directory is known. */
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
	m->awaited++; /* what ends at once does not end all of it */
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

void sandbox_enter(struct sandbox *s, struct sandbox_run *run, void (*end)(struct sandbox_run *run))
{
	run->sandbox = s;
	run->end = end;
	DL_APPEND(s->runs, run);
}

void sandbox_leave(struct sandbox_run *run)
{
	struct sandbox *s = run->sandbox;
	if (!s)
		return;
	run->sandbox = NULL;
	DL_DELETE(s->runs, run);
	if (s->removing)
		maybe_remove(s->removing);
}

void sandbox_delete(struct request *r)
{
	struct api *a = api_of(r);
	struct removing *m;
	if (!are_possible(a, r))
		return;
	struct sandbox *s = sandbox_find(a->bridge, r->match.id);
	struct making *making;
	if (find_removing(a->bridge, r->match.id)) {
		reply_bytes(r, 204, NULL, "", 0, NULL);
		return;
	}
	m = calloc(1, sizeof *m);
	if (!m) {
		refuse_memory(r);
		return;
	}
	a->bridge->deleted = true;
	m->api = a;
	m->request = request_ref(r);
	m->sandbox = s;
	memcpy(m->id, r->match.id, sizeof m->id);
	snprintf(m->folder, sizeof m->folder, "%s/%s", a->workspace, FOLDER);
	snprintf(m->root, sizeof m->root, "%s/%s", m->folder, m->id);
	DL_APPEND(a->bridge->removings, m);
	DL_FOREACH (a->bridge->makings, making) {
		if (strcmp(making->id, m->id) != 0)
			continue;
		making->overtaken = m;
		m->awaited++;
	}
	if (s)
		s->removing = m;
	end_all(m);
	maybe_remove(m);
}

struct bridge *bridge_create(void)
{
	return calloc(1, sizeof(struct bridge));
}

/* Finds the sandboxes of an earlier server, because a terminal can only be opened in a known one. */
struct finding {
	struct job job;
	struct api *api;
	char folder[PLACE_PATH_MAX];
	char ids[SANDBOXES_MAX][NAME_ID_MAX + 1];
	unsigned count;
};

static void on_find(struct job *job)
{
	struct finding *f = (struct finding *)job;
	char id[NAME_ID_MAX + sizeof ENTER_SUFFIX];
	struct stat st;
	DIR *dir = opendir(f->folder);
	for (const struct dirent *e; dir && f->count < SANDBOXES_MAX && (e = readdir(dir));) {
		size_t length = strlen(e->d_name), suffix = sizeof ENTER_SUFFIX - 1;
		if (length <= suffix || length >= sizeof id ||
			strcmp(e->d_name + length - suffix, ENTER_SUFFIX) != 0)
			continue;
		snprintf(id, sizeof id, "%.*s", (int)(length - suffix), e->d_name);
		if (sandbox_is_id(id) && fstatat(dirfd(dir), id, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode))
			memcpy(f->ids[f->count++], id, NAME_ID_MAX + 1);
	}
	if (dir)
		closedir(dir);
}

static void on_found(struct job *job, int error)
{
	struct finding *f = (struct finding *)job;
	struct bridge *b = f->api->bridge;
	/* One that has been deleted meanwhile was found before that. */
	for (unsigned i = 0; error == 0 && !b->deleted && i < f->count && b->count < SANDBOXES_MAX;
		i++)
		if (!sandbox_find(b, f->ids[i]) && !find_removing(b, f->ids[i]))
			add(f->api, f->folder, f->ids[i]);
	free(f);
}

void bridge_find(struct api *a)
{
	struct finding *f = calloc(1, sizeof *f);
	if (!f)
		return;
	f->job = (struct job){.work = on_find, .done = on_found};
	f->api = a;
	int n = snprintf(f->folder, sizeof f->folder, "%s/%s", a->workspace, FOLDER);
	if (n < 0 || (size_t)n >= sizeof f->folder || crew_send(a->crew, &f->job) < 0)
		free(f);
}

void bridge_destroy(struct bridge *b)
{
	struct sandbox *s, *next;
	struct removing *m, *after;
	if (!b)
		return;
	DL_FOREACH_SAFE (b->removings, m, after)
		if (!m->begun) { /* otherwise a thread that is stuck has it for ever */
			request_unref(m->request);
			free(m);
		}
	DL_FOREACH_SAFE (b->list, s, next)
		forget(b, s);
	free(b);
}
