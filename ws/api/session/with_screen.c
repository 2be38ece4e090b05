#include "ws/api/session/with_screen.h"

#include "ws/api/api.h"
#include "ws/api/read/refuse.h"

#include <stdlib.h>

#define ABANDONED_NS UINT64_C(20000000) /* charged for an abandoned task */

/* States: waits for its turn (only requests of links), then for the screen. */
struct looking {
	struct look look;
	struct shift shift;
	struct request *request;
	struct session *session; /* NULL while it waits for its turn */
	char id[NAME_ID_MAX + 1];
	uint64_t epoch;
	void (*handle)(struct request *r, struct session *s);
	void (*handle_task)(struct request *r, struct session *s, struct look_task *task);
};

/* Free l; a running task goes on. Returns the request with its reference. */
static struct request *end(struct looking *l)
{
	struct request *r = l->request;
	uint64_t spent = l->look.state == LOOK_PAINTING ? ABANDONED_NS : 0;
	r->gone = NULL;
	look_cancel(&l->look);
	shift_end(&l->shift, spent);
	free(l);
	return r;
}

static void on_seen(void *user)
{
	struct looking *l = user;
	struct request *r = l->request;
	uint64_t began = uv_hrtime();
	r->gone = NULL; /* before handle, which may set it */
	struct look_task *task = l->look.task;
	uint64_t spent = task ? task->spent_ns : 0;
	l->look.task = NULL;
	look_cancel(&l->look);
	if (task)
		l->handle_task(r, l->session, task);
	else
		l->handle(r, l->session);
	shift_end(&l->shift, spent + uv_hrtime() - began);
	free(l);
	request_unref(r);
}

static void refuse_destroyed(struct looking *l)
{
	struct request *r = end(l);
	reply_error(r, "SESSION_DESTROYED", "The session has been deleted", NULL);
	request_unref(r);
}

static void on_session_gone(void *user)
{
	refuse_destroyed(user);
}

static void on_peer_gone(void *user)
{
	request_unref(end(user));
}

static void look_at(struct looking *l, struct session *s)
{
	l->session = s;
	if (pane_look(&s->pane, &l->look))
		on_seen(l);
}

static void on_shift(void *user)
{
	struct looking *l = user;
	struct session *s = sessions_find(api_of(l->request)->sessions, l->id);
	if (s && session_epoch(s) == l->epoch)
		look_at(l, s);
	else
		refuse_destroyed(l);
}

static struct looking *create(
	struct request *r, struct session *s, void (*handle)(struct request *r, struct session *s))
{
	struct looking *l = malloc(sizeof *l);
	if (!l) {
		refuse_memory(r);
		return NULL;
	}
	*l = (struct looking){.shift = {.begin = on_shift, .user = l},
		.look = {.seen = on_seen, .gone = on_session_gone, .user = l},
		.request = request_ref(r),
		.epoch = session_epoch(s),
		.handle = handle};
	snprintf(l->id, sizeof l->id, "%s", session_id(s));
	r->gone = on_peer_gone;
	r->gone_user = l;
	return l;
}

void with_screen(
	struct request *r, struct session *s, void (*handle)(struct request *r, struct session *s))
{
	struct looking *l = create(r, s, handle);
	if (l)
		look_at(l, s);
}

static void wait_turn(struct looking *l, struct session *s)
{
	struct request *r = l->request;
	int rc = 1;
	l->look.patient = r->principal.link[0];
	if (l->look.patient)
		rc = shift_request(&api_of(r)->rota, r->principal.link, &l->shift);
	if (rc > 0) {
		look_at(l, s);
	} else if (rc < 0) {
		request_unref(end(l));
		refuse_memory(r);
	}
}

void with_screen_in_turn(
	struct request *r, struct session *s, void (*handle)(struct request *r, struct session *s))
{
	struct looking *l = create(r, s, handle);
	if (l)
		wait_turn(l, s);
}

void with_screen_task(struct request *r, struct session *s, struct look_task *task,
	void (*handle)(struct request *r, struct session *s, struct look_task *task))
{
	struct looking *l = create(r, s, NULL);
	if (!l) {
		task->destroy(task);
		return;
	}
	l->look.task = task;
	l->handle_task = handle;
	wait_turn(l, s);
}
