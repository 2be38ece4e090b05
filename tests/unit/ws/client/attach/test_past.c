/* The position in a history: movement, dropped lines, and matches of a search. */
#include "tests/lib/json_text.h"
#include "ws/client/attach/past.h"

#include <criterion/criterion.h>

static struct past p;

static void begin(uint64_t first, uint64_t end, unsigned rows)
{
	p = (struct past){0};
	past_extend(&p, first, end, rows);
	past_move(&p, KEY_LAST);
}

static bool find(const char *matches)
{
	json_t *answer = json_pack("{s:o}", "matches", json_of(matches));
	bool found = past_find(&p, answer);
	json_decref(answer);
	return found;
}

Test(past_move, by_lines_and_pages)
{
	begin(100, 200, 10);
	cr_assert_eq(p.top, 190);
	cr_expect_not(past_move(&p, KEY_DOWN));
	cr_expect_not(past_move(&p, KEY_PAGE_DOWN));
	cr_expect_not(past_move(&p, KEY_LEFT));
	cr_expect(past_move(&p, KEY_UP));
	cr_expect_eq(p.top, 189);
	cr_expect(past_move(&p, KEY_PAGE_UP));
	cr_expect_eq(p.top, 180, "one line is shown again");
	cr_expect(past_move(&p, KEY_FIRST));
	cr_expect_eq(p.top, 100);
	cr_expect_not(past_move(&p, KEY_UP));
	cr_expect_not(past_move(&p, KEY_PAGE_UP));
	cr_expect(past_move(&p, KEY_ENTER));
	cr_expect_eq(p.top, 101);
	cr_expect(past_move(&p, KEY_LAST));
	cr_expect_eq(p.top, 190);
}

Test(past_move, empty_or_short_history)
{
	static const enum key keys[] = {
		KEY_UP, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_FIRST, KEY_LAST, KEY_ENTER};
	begin(0, 0, 10);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		cr_expect_not(past_move(&p, keys[i]));
	begin(7, 10, 10);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		cr_expect_not(past_move(&p, keys[i]));
	cr_expect_eq(p.top, 7);
}

Test(past_extend, visible_lines_stay_as_long_as_they_exist)
{
	begin(100, 200, 10);
	past_extend(&p, 150, 250, 10);
	cr_expect_eq(p.top, 190);
	past_extend(&p, 195, 295, 10);
	cr_expect_eq(p.top, 195);
	past_extend(&p, 195, 200, 10);
	cr_expect_eq(p.top, 195);
	past_extend(&p, 10, 5, 10);
	cr_expect_eq(p.top, 10, "an end before the beginning is ignored");
	cr_expect_eq(p.end, 10);
}

Test(past_renumber, position_stays_relative_to_the_end)
{
	begin(0, 200, 10);
	past_move(&p, KEY_PAGE_UP);
	find("[{'line':185,'column':0,'length':1}]");
	past_renumber(&p, 0, 400, 10);
	cr_expect_eq(p.top, 381);
	cr_expect_eq(p.found_count, 0);
	past_renumber(&p, 0, 5, 10);
	cr_expect_eq(p.top, 0);
}

Test(past_find, newest_match_above_and_matches_around)
{
	begin(0, 200, 10);
	p.top = 100;
	cr_assert(find("[{'line':150,'column':1,'length':2},{'line':104,'column':1,'length':2},"
		       "{'line':104,'column':0,'length':1},{'line':3,'column':1,'length':2}]"));
	cr_expect_eq(p.at, 1);
	cr_expect_eq(p.top, 100, "the match is visible already");
	cr_expect(past_step(&p, 1));
	cr_expect(past_step(&p, 1));
	cr_expect_eq(p.top, 0);
	cr_expect_not(past_step(&p, 1));
	cr_expect_eq(p.at, 3);
	for (unsigned i = 0; i < 3; i++)
		cr_expect(past_step(&p, -1));
	cr_expect_eq(p.top, 145);
	cr_expect_not(past_step(&p, -1));
}

Test(past_find, only_matches_below_and_no_matches)
{
	begin(0, 200, 10);
	p.top = 0;
	cr_assert(find("[{'line':150,'column':1,'length':2},{'line':104,'column':1,'length':2}]"));
	cr_expect_eq(p.at, 1);
	cr_expect_eq(p.top, 99);
	cr_expect_not(find("[]"));
	cr_expect_not(past_step(&p, 1));
	cr_expect_not(past_step(&p, -1));
	cr_expect_not(
		find("[7,{},{'line':null,'column':1,'length':2},{'line':-1},"
		     "{'line':1,'column':-1,'length':1},{'line':1,'column':1,'length':70000}]"));
}

Test(past_find, more_matches_than_are_kept)
{
	json_t *list = json_array(), *answer = json_object();
	begin(0, 5000, 10);
	for (int i = 0; i < 2000; i++)
		json_array_append_new(list,
			json_pack("{s:i,s:i,s:i}", "line", 4000 - i, "column", 0, "length", 1));
	json_object_set_new(answer, "matches", list);
	cr_assert(past_find(&p, answer));
	cr_expect_eq(p.found_count, PAST_FOUND_MAX);
	json_decref(answer);
}
