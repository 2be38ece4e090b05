/* Targets of `ringside tmux`: the session, window and pane found must belong together and to the model. */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/tmux_model.h"
#include "ws/client/tmux/target.h"

static void check(struct tmux *t, const struct place *p, enum target_type type, unsigned flags)
{
	if (p->link)
		FUZZ_CHECK(p->link->session == p->session && p->link->window == p->window &&
			model_link_at(p->session, p->link->index) == p->link);
	if (p->window)
		FUZZ_CHECK(model_window_by_id(&t->model, p->window->id) == p->window);
	if (p->pane)
		FUZZ_CHECK(p->pane->window == p->window &&
			model_pane_by_id(&t->model, p->pane->id) == p->pane);
	if (flags & TARGET_INDEX)
		return;
	FUZZ_CHECK(p->session && (type == TARGET_SESSION || (p->link && p->window)));
	FUZZ_CHECK(type != TARGET_PANE || p->pane);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tmux t;
	struct place place;
	struct fuzz_input in = {data, size};
	int pane = fuzz_byte(&in) % 8;
	char *spec = fuzz_text(&in, '\0');
	tmux_model_begin(&t);
	t.pane = pane < 6 ? pane : -1;
	static const enum target_type types[] = {TARGET_SESSION, TARGET_WINDOW, TARGET_PANE};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		for (unsigned flags = 0; flags <= TARGET_INDEX; flags += TARGET_INDEX)
			if (target_find(&t, spec, types[i], flags | TARGET_QUIET, &place) == 0)
				check(&t, &place, types[i], flags);
	tmux_model_end(&t);
	free(spec);
	return 0;
}
