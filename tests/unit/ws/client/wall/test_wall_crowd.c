/* The list of tiles and its order. */
#include "tests/lib/json_text.h"
#include "ws/client/wall/crowd.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct crowd c;
static unsigned removed;

static void finish(void)
{
	crowd_finish(&c);
}

TestSuite(crowd, .fini = finish);

static void on_gone(void *user, struct tile *t)
{
	(void)user;
	cr_assert(t->id[0]);
	removed++;
}

static void update_list(const char *text)
{
	json_t *list = json_of(text);
	removed = 0;
	cr_assert(crowd_update_list(&c, list, on_gone, NULL));
	json_decref(list);
	crowd_sort(&c);
}

static void update_tile(size_t at, const char *text)
{
	json_t *state = json_of(text);
	crowd_update_state(c.tiles[at], state);
	json_decref(state);
}

static void expect(const char *ids)
{
	char seen[256] = "";
	for (size_t i = 0; i < c.count; i++)
		snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s ", c.tiles[i]->id);
	cr_expect_str_eq(seen, ids, "%s", seen);
}

#define SESSION(id, epoch) "{'id':'" id "','epoch':'" epoch "','state':'running','clients':0}"

Test(crowd, added_and_removed_sessions)
{
	strcpy(c.own_session, "here");
	update_list("[" SESSION("b", "1") "," SESSION("a", "1") "," SESSION("here", "1") "]");
	expect("a b ");
	uint64_t serial = c.tiles[0]->serial;
	update_list("[" SESSION("a", "1") "," SESSION("c", "1") "]");
	expect("a c ");
	cr_expect_eq(removed, 1);
	cr_expect_eq(c.tiles[0]->serial, serial);
	update_list("[" SESSION("a", "2") "]");
	expect("a ");
	cr_expect_eq(removed, 2);
	cr_expect_neq(c.tiles[0]->serial, serial, "a new session replaces the old tile");
	cr_expect_null(crowd_find(&c, serial));
	update_list("[7, {}, {'id':5}, {'id':''}, {'id':'x','epoch':'12345678901234567'}]");
	expect("");
}

Test(crowd, tiles_that_need_attention_come_first)
{
	update_list("[" SESSION("a", "1") "," SESSION("b", "1") "," SESSION("c", "1") "," SESSION(
		"d", "1") ","
			  "{'id':'e','epoch':'1','state':'exited','exit':{'code':3}},"
			  "{'id':'f','epoch':'1','state':'unresponsive'}]");
	expect("f a b c d e ");
	update_tile(1, "{'status':'prompt'}");
	update_tile(2, "{'status':'running','foreground':{'name':'make'}}");
	update_tile(3,
		"{'status':'waiting_input','certain':true,'input':'line','foreground':{'name':'python3'}}");
	crowd_set_called(c.tiles[4], true);
	cr_assert(crowd_sort(&c));
	expect("c d f b a e ");
	cr_expect_str_eq(c.tiles[0]->words, "python3 waits for input");
	cr_expect_str_eq(c.tiles[5]->words, "ended: 3");
	cr_expect_eq(crowd_count(&c, ATTENTION_INPUT), 1);
	cr_expect_not(crowd_sort(&c), "the order does not change without a change");
	cr_expect_eq(crowd_index(&c, c.tiles[2]->serial), 2);
}

Test(attention_of, states)
{
	static const struct {
		const char *state;
		enum attention attention;
	} cases[] = {
		{"{'status':'prompt'}", ATTENTION_IDLE},
		{"{'status':'running'}", ATTENTION_RUNS},
		{"{'status':'starting'}", ATTENTION_RUNS},
		{"{'status':'fullscreen','input':'raw','certain':true}", ATTENTION_RUNS},
		{"{'status':'waiting_input','input':'line','certain':false}", ATTENTION_RUNS},
		{"{'status':'waiting_input','input':'line','certain':true}", ATTENTION_INPUT},
		{"{'status':'waiting_input','input':'password','certain':false}", ATTENTION_INPUT},
		{"{'status':'stopped'}", ATTENTION_STUCK},
		{"{'status':7,'foreground':[]}", ATTENTION_RUNS},
	};
	json_t *session = json_of("{'state':'running'}");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char words[ATTENTION_WORDS_MAX];
		json_t *state = json_of(cases[i].state);
		cr_expect_eq(attention_of(session, state, false, words), cases[i].attention,
			"case %zu", i);
		enum attention called = attention_of(session, state, true, words);
		cr_expect_eq(called,
			cases[i].attention < ATTENTION_CALLED ? cases[i].attention
							      : ATTENTION_CALLED);
		json_decref(state);
	}
	json_decref(session);
}
