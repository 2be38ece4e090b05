#include "ws/api/session/look_first.h"

#include "ws/api/read/refuse.h"

#include <stdlib.h>

struct looking {
	struct look look;
	struct request *request;
	struct session *session;
	void (*handle)(struct request *r, struct session *s);
};

/* The request, whose reference is the caller's now. */
static struct request *end(struct looking *l)
{
	struct request *r = l->request;
	r->gone = NULL;
	look_end(&l->look);
	free(l);
	return r;
}

static void on_seen(void *user)
{
	struct looking *l = user;
	struct session *s = l->session;
	void (*handle)(struct request *, struct session *) = l->handle;
	struct request *r = end(l);
	handle(r, s);
	request_unref(r);
}

static void on_session_gone(void *user)
{
	struct request *r = end(user);
	reply_error(r, "SESSION_DESTROYED", "The session has been deleted", NULL);
	request_unref(r);
}

static void on_peer_gone(void *user)
{
	request_unref(end(user));
}

void look_first(
	struct request *r, struct session *s, void (*handle)(struct request *r, struct session *s))
{
	struct looking *l = malloc(sizeof *l);
	if (!l) {
		refuse_memory(r);
		return;
	}
	*l = (struct looking){.look = {.seen = on_seen, .gone = on_session_gone, .user = l},
		.request = request_ref(r),
		.session = s,
		.handle = handle};
	if (pane_look(&s->pane, &l->look)) {
		on_seen(l);
		return;
	}
	r->gone = on_peer_gone;
	r->gone_user = l;
}
