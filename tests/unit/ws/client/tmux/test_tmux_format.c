/* Formats: values, conditions, modifiers, loops, errors, and recursion. */
#include "tests/lib/tmux_test.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/target.h"

#include <stdio.h>

TestSuite(tmux_format, TMUX_SUITE);

struct expected {
	const char *format, *want;
};

static void check(const struct expected *cases, size_t count)
{
	struct place here;
	cr_assert(target_current(&t, &here));
	for (size_t i = 0; i < count; i++)
		cr_expect_str_eq(format_at(&t, &here, cases[i].format), cases[i].want, "%s: %s",
			cases[i].format, format_at(&t, &here, cases[i].format));
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

Test(tmux_format, variables_and_letters)
{
	static const struct expected cases[] = {
		{"#{session_name}/#{session_id}", "alpha/$0"},
		{"#S:#I.#P #W #D #F", "alpha:0.1 work %1 *M"},
		{"#{pane_id}#{window_id}#{window_panes}", "%1@03"},
		{"#{nosuch}|#{@user}|#{HOME}", "|v a|/root"},
		{"#{session_created}", "1700000000"},
		{"plain ü, and } too", "plain ü, and } too"},
		{"##{x} #, #}", "#{x} , }"},
		{"#[fg=red]x##[bold]", "#[fg=red]x##[bold]"},
		{"#Q", "#Q"},
		{"a#", "a#"},
		{"", ""},
	};
	CHECK(cases);
}

/* As in tmux 3.3a: a condition that is no variable is true only if it is "1". */
Test(tmux_format, conditions)
{
	static const struct expected cases[] = {
		{"#{?window_active,yes,no}", "yes"},
		{"#{?nosuch,yes,no}", "no"},
		{"#{?0,a,b}#{?1,a,b}", "bb"},
		{"#{?#{==:#{session_name},alpha},same,other}", "same"},
		{"#{?1,#{?#{==:x,y},a,b},c}#{?#{l:1},#{?#{l:},a,b},c}", "cb"},
		{"#{==:a,b}#{!=:a,b}#{<:a,b}#{>:a,b}#{<=:b,b}#{>=:a,b}", "011010"},
		{"#{||:0,1}#{||:0,}#{&&:1,1}#{&&:1,0}", "1010"},
		{"#{m:al*,#{session_name}}#{m:AL*,alpha}#{m/i:AL*,alpha}", "101"},
		{"#{m/r:^al,alpha}#{m/ri:^AL,alpha}#{m/r:(,alpha}", "110"},
	};
	CHECK(cases);
}

Test(tmux_format, modifiers)
{
	static const struct expected cases[] = {
		{"#{=3:session_name}|#{=-3:session_name}", "alp|pha"},
		{"#{=/3/...:session_name}|#{=/-3/...:session_name}", "alp...|...pha"},
		{"#{=/9/...:session_name}", "alpha"},
		{"#{p8:session_name}|#{p-8:session_name}|#{p2:session_name}",
			"alpha   |   alpha|alpha"},
		{"#{n:session_name}#{w:session_name}", "55"},
		{"#{w:#{l:\xf0\x9f\xab\xa0\xc3\xa9}}|#{=3:#{l:\xf0\x9f\xab\xa0\xc3\xa9x}}",
			"3|\xf0\x9f\xab\xa0\xc3\xa9"},
		{"#{l:#{x}}", "#{x}"},
		{"#{b:session_path}|#{d:session_path}", "tmp|/"},
		{"#{s/a/o/:session_name}|#{s/A/o/i:session_name}", "olpho|olpho"},
		{"#{s/(.)l/\\1L/:session_name}", "aLpha"},
		{"#{s/^a/x/:session_name}", "xlpha"},
		{"#{s/(/x/:session_name}", "alpha"},
		{"#{e|+|:3,4} #{e|-|:3,4} #{e|*|:3,4} #{e|m|:7,3}", "7 -1 12 1"},
		{"#{e|%|:7,0} #{e|/|:7,0} #{e|/|:-7,0}",
			"-9223372036854775808 -9223372036854775808 -9223372036854775808"},
		{"#{w:#{l:#[fg=red]ab#[default]}} #{w:#{l:##[x]}} #{w:#{l:###[x]u}} #{w:#{l:#[x}} #{w:#{l:a##b#c}}",
			"2 4 2 0 5"},
		{"#{e|/|f|3:10,3}|#{e|<|:1,2}", "3.333|1"},
		{"#{a:65}#{a:31}#{a:x}", "A"},
		{"#{E:status-left}|#{status-left}", "[alpha] |[#{session_name}] "},
		{"#{N:alpha}#{N:work}#{N/s:beta}#{N/s:work}", "0110"},
		{"#{q:@user}", "v\\ a"},
		{"#{=99999999999:session_name}#{p-99999:nosuch}", "alpha"},
	};
	CHECK(cases);
}

Test(tmux_format, loops)
{
	static const struct expected cases[] = {
		{"#{S:#{session_name} }", "alpha beta "},
		{"#{W:#{window_index},[#{window_index}]}", "[0]1"},
		{"#{P:#{pane_id},<#{pane_id}>}", "%0<%1>%2"},
		{"#{S:#{W:#{P:#{pane_id}}}}", "%0%1%2%3%3%4"},
	};
	CHECK(cases);
}

Test(tmux_format, error_ends_the_text)
{
	static const struct expected cases[] = {
		{"a#{", "a"},
		{"a#{session_name", "a"},
		{"a#{?x,y", "a"},
		{"a#{?x}b", "a"},
		{"a#{==:x}b", "a"},
		{"a#(true", "a"},
	};
	CHECK(cases);
}

/* Each variable expands the next one twice: without a limit, a short text would take for ever. */
Test(tmux_format, recursion_is_limited)
{
	struct place here;
	cr_assert(target_current(&t, &here));
	for (int i = 0; i < 90; i++) {
		char name[16], value[64];
		snprintf(name, sizeof name, "@n%d", i);
		snprintf(value, sizeof value, "#{E:@n%d}#{E:@n%d}", i + 1, i + 1);
		json_object_set_new(t.model.session_options, name, json_string(value));
	}
	json_object_set_new(t.model.session_options, "@self", json_string("#{E:@self}#{E:@self}x"));
	cr_expect(strlen(format_at(&t, &here, "#{E:@n0}")) <= FORMAT_BYTES_MAX);
	cr_expect(strlen(format_at(&t, &here, "#{E:@self}")) <= FORMAT_BYTES_MAX);
}

Test(tmux_format, true_values)
{
	cr_expect(format_is_true("1") && format_is_true("00") && format_is_true(" "));
	cr_expect(!format_is_true("0") && !format_is_true("") && !format_is_true(NULL));
}
