/* The state as JSON: written and read, of an older version, and damaged. */
#include "tests/lib/json_text.h"
#include "tests/lib/tmux_test.h"
#include "ws/client/tmux/layout.h"

TestSuite(tmux_state, TMUX_SUITE);

Test(tmux_state, is_read_as_it_was_written)
{
	struct tmux again = {.lock = -1};
	json_t *o = state_json_write(&t.model);
	model_init(&again.model, &again.arena);
	cr_assert_null(state_json_read(&again.model, o));
	json_t *same = state_json_write(&again.model);
	cr_expect(json_equal(o, same));
	const struct pane *p = model_pane_by_id(&again.model, 1);
	cr_expect(p && p->window->active == p && p->cell->cols == 26 &&
		strcmp(p->session, "tmux-1") == 0);
	cr_expect_eq(again.model.next_pane, 5, "ids continue after the last");
	cr_expect_eq(again.model.next_session, 2);
	json_decref(o);
	json_decref(same);
	tmux_model_end(&again);
}

#define PANE "{'id':0,'session':'s'}"
#define STATE(windows, sessions) "{'started':1,'windows':[" windows "],'sessions':[" sessions "]}"
#define SESSION(id, name, links) "{'id':" id ",'name':'" name "','links':[" links "]}"

static const char *load(const char *text, void (*look)(const struct model *m))
{
	static char wrong[200];
	struct arena arena = {0};
	struct model m;
	model_init(&m, &arena);
	json_t *o = json_of(text);
	const char *rc = state_json_read(&m, o);
	snprintf(wrong, sizeof wrong, "%s", rc ? rc : "");
	if (!rc && look)
		look(&m);
	json_decref(o);
	model_finish(&m);
	arena_finish(&arena);
	return rc ? wrong : NULL;
}

static void look_small(const struct model *m)
{
	cr_expect(m->windows->active == m->windows->panes && m->windows->layout);
	cr_expect(m->windows->cols == 80 && m->windows->rows == 24 && m->windows->preset == -1);
	cr_expect(m->sessions->current == m->sessions->links);
}

Test(tmux_state, missing_fields_have_their_old_meaning)
{
	cr_expect_null(load(
		STATE("{'id':0,'panes':[" PANE "]}", SESSION("0", "a", "{'index':3,'window':0}")),
		look_small));
}

static void look_odd(const struct model *m)
{
	const struct pane *p = m->windows->panes;
	cr_expect(!p->argv && json_object_size(p->env) == 1 && json_object_size(p->options) == 1);
	cr_expect_eq(json_array_size(m->buffers), 1);
	cr_expect_eq(json_object_size(m->channels), 1);
	cr_expect_eq(json_object_size(m->environment), 2);
	cr_expect(m->windows->cols == 80 && m->windows->preset == -1 && p->pipe == 0);
}

Test(tmux_state, invalid_values_are_left_out)
{
	cr_expect_null(load(
		"{'started':1,'buffers':[1,{'name':'b'},{'name':'b','base64':''}],"
		"'channels':{'a':1,'b':{},'c':{'waiters':[],'lockers':[]}},"
		"'environment':{'A':null,'B':'x','C':3,'D':[]},"
		"'windows':[{'id':0,'cols':-5,'preset':99,'layout':'0000,1x1','panes':[{'id':0,'session':'s',"
		"'argv':[1],'env':{'A':'b','C':1},'options':{'a':'b','c':{}},'pipe':-9}]}],"
		"'sessions':[" SESSION("0", "a", "{'index':0,'window':0}") "]}",
		look_odd));
}

Test(tmux_state, other_files_are_refused)
{
#define WINDOW "{'id':0,'panes':[" PANE "]}"
#define LINKED SESSION("0", "a", "{'index':0,'window':0}")
	static const char *const cases[] = {"{}", "[]", "{'started':0}", "{'started':1}",
		STATE("", LINKED), STATE("{'id':0,'panes':[]}", LINKED),
		STATE("{'id':0,'panes':[1]}", LINKED),
		STATE("{'id':0,'panes':[" PANE "," PANE "]}", LINKED),
		STATE(WINDOW "," WINDOW, LINKED), STATE("{'panes':[" PANE "]}", LINKED),
		STATE("{'id':-1,'panes':[" PANE "]}", LINKED), STATE(WINDOW, ""),
		STATE(WINDOW, SESSION("0", "a", "")),
		STATE(WINDOW, SESSION("0", "", "{'index':0,'window':0}")),
		STATE(WINDOW, LINKED "," LINKED),
		STATE(WINDOW, SESSION("0", "a", "{'index':0,'window':7}")),
		STATE(WINDOW, SESSION("0", "a", "{'index':0,'window':0},{'index':0,'window':0}")),
		STATE(WINDOW, SESSION("0", "a", "{'index':-1,'window':0}")),
		STATE(WINDOW ",{'id':1,'panes':[{'id':1,'session':'t'}]}", LINKED)};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect(load(cases[i], NULL), "%s", cases[i]);
}
