/*
 * A tmux state for unit tests, without a server or a file: two sessions, three windows (one in both sessions) and five
 * panes. alpha ($0) has 0:work (@0: %0 %1 %2, %1 is active) and 1:log (@1: %3); beta ($1) has 1:log and 5:empty (@2:
 * %4).
 */
#pragma once

#include "ws/client/tmux/state_json.h"

#include <assert.h>
#include <string.h>

#define TMUX_MODEL_PANE(id) \
	"{\"id\":" #id ",\"session\":\"tmux-" #id "\",\"command\":\"sh\",\"turn\":" #id "}"

static const char tmux_model_json[] =
	"{\"started\":1700000000,\"pid\":7,\"marked\":2,"
	"\"windowOptions\":{\"pane-base-index\":\"0\",\"synchronize-panes\":\"off\"},"
	"\"sessionOptions\":{\"status-left\":\"[#{session_name}] \",\"@user\":\"v a\"},"
	"\"environment\":{\"HOME\":\"/root\"},"
	"\"buffers\":[{\"name\":\"buffer0\",\"base64\":\"YQ==\",\"automatic\":true,\"created\":1}],"
	"\"windows\":["
	"{\"id\":0,\"name\":\"work\",\"named\":true,\"active\":1,\"last\":0,\"cols\":80,\"rows\":24,\"panes\":[" TMUX_MODEL_PANE(0) "," TMUX_MODEL_PANE(
		1) "," TMUX_MODEL_PANE(2) "]},"
					  "{\"id\":1,\"name\":\"log\",\"named\":true,\"cols\":80,\"rows\":24,\"panes\":[" TMUX_MODEL_PANE(
						  3) "]},"
						     "{\"id\":2,\"name\":\"empty\",\"named\":true,\"cols\":120,\"rows\":40,\"panes\":[" TMUX_MODEL_PANE(
							     4) "]}],"
								"\"sessions\":["
								"{\"id\":0,\"name\":\"alpha\",\"cwd\":\"/tmp\",\"created\":1700000000000000,\"activity\":2,\"current\":0,"
								"\"links\":[{\"index\":0,\"window\":0,\"turn\":2},{\"index\":1,\"window\":1,\"turn\":1}]},"
								"{\"id\":1,\"name\":\"beta\",\"cwd\":\"/\",\"created\":1,\"activity\":1,\"current\":5,"
								"\"links\":[{\"index\":1,\"window\":1},{\"index\":5,\"window\":2}]}]}";

static inline void tmux_model_begin(struct tmux *t)
{
	*t = (struct tmux){.lock = -1, .pane = -1, .path = "/nowhere/tmux"};
	t->out.arena = t->errors.arena = &t->arena;
	model_init(&t->model, &t->arena);
	json_t *o = json_loads(tmux_model_json, 0, NULL);
	const char *wrong = state_json_read(&t->model, o);
	assert(o && !wrong);
	(void)wrong;
	json_decref(o);
}

static inline void tmux_model_end(struct tmux *t)
{
	model_finish(&t->model);
	arena_finish(&t->arena);
}
