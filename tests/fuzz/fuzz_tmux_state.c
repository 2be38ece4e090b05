/*
 * The state file of `ringside tmux`. A valid state is complete: each window has panes, each session has windows.
 * Written and parsed again it is the same, and formats and targets can use it.
 */
#include "tests/fuzz/fuzz.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/layout.h"
#include "ws/client/tmux/state_json.h"
#include "ws/client/tmux/target.h"

#include <utlist.h>

static void check(const struct model *m)
{
	const struct session *s;
	const struct window *w;
	const struct pane *p;
	FUZZ_CHECK(m->sessions && m->started > 0);
	DL_FOREACH (m->sessions, s)
		FUZZ_CHECK(s->links && s->current && s->current->session == s && *s->name);
	DL_FOREACH (m->windows, w) {
		FUZZ_CHECK(w->panes && w->active && w->active->window == w && w->layout);
		FUZZ_CHECK(w->cols >= 1 && w->rows >= 1);
		DL_FOREACH (w->panes, p)
			FUZZ_CHECK(p->cell && p->cell->pane == p && *p->session);
	}
}

static void use(struct tmux *t)
{
	struct place at;
	struct format f = {.t = t, .silent = true};
	FUZZ_CHECK(target_current(t, &f.at));
	format_expand(&f,
		"#{S:#{W:#{P:#{pane_id}#{pane_width}#{pane_title}#{pane_at_right}}#{window_flags}#{window_layout}}}");
	target_find(t, ":+.+", TARGET_PANE, TARGET_QUIET, &at);
	target_find(t, "{right-of}", TARGET_PANE, TARGET_QUIET, &at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tmux t = {.lock = -1, .pane = -1}, again = {.lock = -1, .pane = -1};
	json_t *o = json_loadb((const char *)data, size, 0, NULL);
	model_init(&t.model, &t.arena);
	model_init(&again.model, &again.arena);
	if (o && !state_json_read(&t.model, o)) {
		check(&t.model);
		json_t *written = state_json_write(&t.model);
		FUZZ_CHECK(written && !state_json_read(&again.model, written));
		check(&again.model);
		json_t *same = state_json_write(&again.model);
		FUZZ_CHECK(json_equal(written, same));
		json_decref(same);
		json_decref(written);
		use(&t);
	}
	json_decref(o);
	model_finish(&t.model);
	model_finish(&again.model);
	arena_finish(&t.arena);
	arena_finish(&again.arena);
	return 0;
}
