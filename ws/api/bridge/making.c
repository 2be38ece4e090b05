/*
 * Creates sandboxes on first use, on threads with the rights of the sessions' user
 * (shell/files/crew.h), and finds the sandboxes of an earlier server.
 */
#include "ws/api/bridge/sandbox_internal.h"

#include "shell/own_error.h"
#include "shell/write_all.h"
#include "ws/api/read/refuse.h"

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

#define ENTER_SIZE (2 * PLACE_PATH_MAX + 2048)

/*
 * The script that starts a command or a shell in a sandbox. With bubblewrap, the directory is
 * mounted at /workspace. Without it, words that begin with /workspace are replaced by the real
 * path.
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

struct making {
	struct job job;
	struct making *prev, *next;
	struct removing *overtaken; /* the deletion that waits for this, or NULL */
	struct api *api;
	struct request *request; /* our reference */
	sandbox_fn *fn;
	void *user;
	sandbox_exists_fn *look; /* instead of fn: only test for existence */
	char id[NAME_ID_MAX + 1];
	char folder[PLACE_PATH_MAX];
	json_t *sessions; /* loaded; owned, or NULL */
	int error;
};

/* Rewrite the script on each use, in case it was replaced; by rename, as commands may read it. */
static int write_enter(int dir_fd, const struct making *m)
{
	char name[NAME_ID_MAX + sizeof SANDBOX_ENTER], beside[sizeof name + 4], text[ENTER_SIZE];
	size_t at = (size_t)snprintf(text, sizeof text, "#!/bin/bash\nroot='");
	for (const char *c = m->folder; *c; c++)
		at += (size_t)snprintf(text + at, sizeof text - at, *c == '\'' ? "'\\''" : "%c", *c);
	at += (size_t)snprintf(text + at, sizeof text - at, "/%s'\n%s", m->id, enter_text);
	if (at >= sizeof text)
		return -ENAMETOOLONG;
	snprintf(name, sizeof name, "%s%s", m->id, SANDBOX_ENTER);
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

bool sandbox_is_ours(int dir_fd, const char *id)
{
	char name[NAME_ID_MAX + sizeof SANDBOX_ENTER];
	snprintf(name, sizeof name, "%s%s", id, SANDBOX_ENTER);
	return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int make(struct making *m)
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
	else if (there && (!S_ISDIR(st.st_mode) || !sandbox_is_ours(fd, m->id)))
		rc = -EEXIST; /* not a sandbox */
	if (m->look) {
		close(fd);
		return rc;
	}
	if (rc == 0 && !there) /* leftovers of an interrupted deletion */
		sandbox_sessions_remove(fd, m->id);
	/* First the script: if the server is killed here, the directory is never without it. */
	if (rc == 0)
		rc = write_enter(fd, m);
	if (rc == 0 && !there && mkdirat(fd, m->id, 0755) < 0)
		rc = -errno;
	if (rc == 0)
		rc = sandbox_sessions_load(fd, m->id, &m->sessions);
	close(fd);
	return rc;
}

/* One at a time, because a directory without its script counts as foreign. */
static void on_make(struct job *job)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	struct making *m = (struct making *)job;
	pthread_mutex_lock(&making);
	m->error = make(m);
	pthread_mutex_unlock(&making);
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
	bool has_space = s || overtaken || m->look || sandbox_reserve(m->api);
	if (error == 0 && !s && !overtaken && !m->look && has_space) {
		s = sandbox_add(m->api, m->folder, m->id, m->sessions);
		m->sessions = NULL;
	}
	/* r->cut: the access was revoked meanwhile. */
	bool good = error == 0 && s && !overtaken && !r->cut;
	if (m->look && !r->done && !r->cut)
		m->look(r, error == 0 && !overtaken);
	else if (good)
		m->fn(r, s, m->user);
	else if (!r->done && overtaken)
		sandbox_refuse_deleted(r);
	else if (!r->done && !has_space)
		sandbox_refuse_full(r);
	else if (!r->done && error < 0)
		sandbox_refuse_error(
			r, "exec_transport_error", "The sandbox cannot be created", error);
	else if (!r->done)
		sandbox_refuse(r, 502, "exec_transport_error", "Out of memory");
	if (!good || m->look)
		free(m->user);
	if (overtaken) {
		overtaken->awaited--;
		sandbox_maybe_remove(overtaken);
	}
	json_decref(m->sessions);
	request_unref(r);
	free(m);
}

/* Send the job to a thread. Returns false after it has answered r. */
static bool begin_making(struct request *r, const struct making *wanted)
{
	struct api *a = api_of(r);
	struct making *m = malloc(sizeof *m);
	if (!m)
		return refuse_memory(r);
	*m = *wanted;
	m->job.work = on_make;
	m->job.done = on_made;
	m->api = a;
	m->request = request_ref(r);
	memcpy(m->id, r->match.id, sizeof m->id);
	int n = snprintf(m->folder, sizeof m->folder, "%s/%s", a->workspace, SANDBOX_FOLDER);
	int rc = n < 0 || (size_t)n >= sizeof m->folder - NAME_ID_MAX - sizeof SANDBOX_ENTER
		? -ENAMETOOLONG
		: crew_send(a->crew, &m->job);
	if (rc == 0) {
		DL_APPEND(a->bridge->makings, m);
		return true;
	}
	sandbox_refuse_error(r, "exec_transport_error", "The sandbox cannot be created", rc);
	request_unref(r);
	free(m);
	return false;
}

void sandbox_cancel_making(struct removing *by)
{
	struct making *m;
	DL_FOREACH (by->api->bridge->makings, m) {
		if (strcmp(m->id, by->id) != 0)
			continue;
		m->overtaken = by;
		by->awaited++;
	}
}

void sandbox_check_exists(struct request *r, sandbox_exists_fn *look)
{
	struct bridge *b = api_of(r)->bridge;
	struct sandbox *s = sandbox_find(b, r->match.id);
	if (!sandbox_check_request(api_of(r), r))
		return;
	if (sandbox_find_removing(b, r->match.id))
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
	if (!sandbox_check_request(a, r))
		goto err_user;
	if (sandbox_find_removing(a->bridge, r->match.id)) {
		sandbox_refuse_deleted(r);
		goto err_user;
	}
	s = sandbox_find(a->bridge, r->match.id);
	if (s) {
		sandbox_touch(a, s);
		fn(r, s, user);
		return;
	}
	if (a->sessions->draining) {
		sandbox_refuse_error(
			r, "exec_transport_error", "The sandbox cannot be created", -ERR_DRAINING);
		goto err_user;
	}
	if (!sandbox_reserve(a)) {
		sandbox_refuse_full(r);
		goto err_user;
	}
	if (begin_making(r, &(struct making){.fn = fn, .user = user}))
		return;
err_user:
	free(user);
}

/* Finds the sandboxes of an earlier server: terminals need a sandbox that is in the table. */
struct finding {
	struct job job;
	struct api *api;
	char folder[PLACE_PATH_MAX];
	char ids[SANDBOXES_MAX][NAME_ID_MAX + 1];
	json_t *sessions[SANDBOXES_MAX]; /* of each; owned, or NULL */
	unsigned count;
};

static void on_find(struct job *job)
{
	struct finding *f = (struct finding *)job;
	char id[NAME_ID_MAX + sizeof SANDBOX_ENTER];
	struct stat st;
	DIR *dir = opendir(f->folder);
	for (const struct dirent *e; dir && f->count < SANDBOXES_MAX && (e = readdir(dir));) {
		size_t length = strlen(e->d_name), suffix = sizeof SANDBOX_ENTER - 1;
		if (length <= suffix || length >= sizeof id ||
			strcmp(e->d_name + length - suffix, SANDBOX_ENTER) != 0)
			continue;
		snprintf(id, sizeof id, "%.*s", (int)(length - suffix), e->d_name);
		if (sandbox_is_id(id) && fstatat(dirfd(dir), id, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode)) {
			if (sandbox_sessions_load(dirfd(dir), id, &f->sessions[f->count]) == 0)
				memcpy(f->ids[f->count++], id, NAME_ID_MAX + 1);
		}
	}
	if (dir)
		closedir(dir);
}

static void on_found(struct job *job, int error)
{
	struct finding *f = (struct finding *)job;
	struct bridge *b = f->api->bridge;
	/* After a deletion the list may be stale. */
	for (unsigned i = 0; i < f->count; i++) {
		bool good = error == 0 && !b->deleted && b->count < SANDBOXES_MAX;
		if (good && !sandbox_find(b, f->ids[i]) && !sandbox_find_removing(b, f->ids[i]))
			sandbox_add(f->api, f->folder, f->ids[i], f->sessions[i]);
		else
			json_decref(f->sessions[i]);
	}
	free(f);
}

void bridge_load(struct api *a)
{
	struct finding *f = calloc(1, sizeof *f);
	if (!f)
		return;
	f->job = (struct job){.work = on_find, .done = on_found};
	f->api = a;
	int n = snprintf(f->folder, sizeof f->folder, "%s/%s", a->workspace, SANDBOX_FOLDER);
	if (n < 0 || (size_t)n >= sizeof f->folder || crew_send(a->crew, &f->job) < 0)
		free(f);
}
