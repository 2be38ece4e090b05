/* A request for whose answer the screen of its session has to have come to where the output is now. */
#pragma once

#include "shell/session/session.h"
#include "ws/request.h"

/*
 * Call handle with r and s once pane_screen_here() is as of now, or without a screen if there is none: at once, or later.
 * When the session is deleted meanwhile r is answered SESSION_DESTROYED; when its peer goes nothing is called.
 */
void look_first(
	struct request *r, struct session *s, void (*handle)(struct request *r, struct session *s));

/*
 * The same with a task, which is taken: handle is called with it when it has been done, and takes it. A link waits for its
 * turn, for as long as tasks of its before have taken.
 */
void look_with(struct request *r, struct session *s, struct look_task *task,
	void (*handle)(struct request *r, struct session *s, struct look_task *task));

/*
 * The same, for what is dear: who came by a link waits for a turn first, see ws/rota.h. What s is may have
 * gone meanwhile, which is answered in the same way.
 */
void look_in_turn(
	struct request *r, struct session *s, void (*handle)(struct request *r, struct session *s));
