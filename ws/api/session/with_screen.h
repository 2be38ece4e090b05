/*
 * Requests that wait for the screen of their session. Each function calls handle now or later. If
 * the session is deleted meanwhile, r is answered SESSION_DESTROYED; if the client disconnects,
 * handle is not called.
 */
#pragma once

#include "shell/session/session.h"
#include "ws/request.h"

/* Wait until pane_unlent_screen() has all output up to now. Without a screen, do not wait. */
void with_screen(
	struct request *r, struct session *s, void (*handle)(struct request *r, struct session *s));

/*
 * Wait in the same way, then until a worker has done the task. task: owned, also by handle.
 * Requests of a link first wait for the link's turn (ws/rota.h), which depends on the time of its
 * earlier tasks.
 */
void with_screen_task(struct request *r, struct session *s, struct look_task *task,
	void (*handle)(struct request *r, struct session *s, struct look_task *task));

/* with_screen() for expensive requests: links first wait for their turn (ws/rota.h). */
void with_screen_in_turn(
	struct request *r, struct session *s, void (*handle)(struct request *r, struct session *s));
