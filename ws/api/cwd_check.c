/* States: requested -> on a thread -> done. A client's disconnect does not interrupt the thread. */
#include "ws/api/cwd_check.h"

#include "shell/files/crew.h"
#include "ws/access.h"
#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"
#include "ws/api/read/workspace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct check_job {
	struct job job;
	struct request *request; /* our reference */
	void (*fn)(void *user, bool goes_on);
	void *user;
	bool gone; /* the client has disconnected */
	int error; /* of the directory */
	char cwd[BODY_PATH_MAX];
};

static void on_gone(void *user)
{
	struct check_job *l = user;
	l->gone = true;
}

static void on_work(struct job *job)
{
	struct check_job *l = (struct check_job *)job;
	l->error = directory_check(l->cwd);
}

static void on_done(struct job *job, int error)
{
	struct check_job *l = (struct check_job *)job;
	struct request *r = l->request;
	bool goes_on = !l->gone && !r->cut;
	r->gone = NULL;
	r->directory = (struct directory_found){.looked = true, .error = l->error};
	if (goes_on && error < 0) {
		refuse_unchecked_directory(r, l->cwd, error);
		goes_on = false;
	}
	l->fn(l->user, goes_on);
	request_unref(r);
	free(l);
}

void cwd_check(struct api *a, struct request *r, const char *cwd,
	void (*fn)(void *user, bool goes_on), void *user)
{
	size_t length = cwd ? strlen(cwd) : 0;
	bool is_path = length > 0 && cwd[0] == '/';
	r->directory = (struct directory_found){
		.looked = cwd, .error = is_path ? -ENAMETOOLONG : -EINVAL};
	if (!is_path || length >= BODY_PATH_MAX) {
		fn(user, true);
		return;
	}
	struct check_job *l = request_alloc(r, sizeof *l);
	if (!l) {
		fn(user, false);
		return;
	}
	l->request = request_ref(r);
	l->fn = fn;
	l->user = user;
	memcpy(l->cwd, cwd, length + 1);
	l->job.work = on_work;
	l->job.done = on_done;
	access_owner_key(&r->principal, r->match.id, l->job.owner, sizeof l->job.owner);
	r->gone = on_gone;
	r->gone_user = l;
	int rc = crew_send(a->crew, &l->job);
	if (rc < 0)
		on_done(&l->job, rc);
}

/* The field cwd of a body */

struct continuation {
	struct api *api;
	struct request *request; /* our reference */
	json_t *body;            /* our reference */
	cwd_check_fn *fn;
};

static void on_checked(void *user, bool goes_on)
{
	struct continuation *q = user;
	if (goes_on)
		q->fn(q->api, q->request, q->body);
	request_unref(q->request);
	json_decref(q->body);
	free(q);
}

void cwd_check_path(
	struct api *a, struct request *r, json_t *body, const char *cwd, cwd_check_fn *fn)
{
	struct continuation *q = request_alloc(r, sizeof *q);
	if (!q)
		return;
	*q = (struct continuation){
		.api = a, .request = request_ref(r), .body = json_incref(body), .fn = fn};
	cwd_check(a, r, cwd, on_checked, q);
}

void cwd_check_body(struct api *a, struct request *r, cwd_check_fn *fn)
{
	const char *cwd = NULL;
	json_t *body = body_read(r);
	if (!body)
		return;
	workspace_translate_cwd(a->alias, a->sessions, body);
	(void)body_find_text(body, "cwd", &cwd); /* fn reports errors of the field */
	cwd_check_path(a, r, body, cwd, fn);
}
