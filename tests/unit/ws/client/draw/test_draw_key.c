/* Keys as terminals send them. */
#include "ws/client/draw/key.h"

#include <criterion/criterion.h>

Test(key_feed, sequences)
{
	static const struct {
		const char *bytes;
		enum key keys[4];
	} cases[] = {
		{"q", {KEY_LEAVE}},
		{"\003", {KEY_LEAVE}},
		{"\034", {KEY_LEAVE}},
		{"\r", {KEY_ENTER}},
		{"\033[A\033[B", {KEY_UP, KEY_DOWN}},
		{"\033OC\033OD", {KEY_RIGHT, KEY_LEFT}},
		{"\033[1;5C", {KEY_RIGHT}},
		{"\033[5~\033[6~", {KEY_PAGE_UP, KEY_PAGE_DOWN}},
		{"\033[H\033[4~\033OF", {KEY_FIRST, KEY_LAST, KEY_LAST}},
		{"\033[Z\t", {KEY_LEFT, KEY_RIGHT}},
		{"hjkl", {KEY_LEFT, KEY_DOWN, KEY_UP, KEY_RIGHT}},
		{"\033[200~xq", {KEY_LEAVE}},
		{"\033[99999999999999999999~\033[<0;1;1M\033[q", {0}},
		{"\033\033[A", {KEY_UP}},
		{"\033[5\033[A", {KEY_UP}},
		{"\033q", {KEY_LEAVE}},
		{"z\xc3\xa9!", {0}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct key_reader k = {0};
		size_t seen = 0;
		for (const char *p = cases[i].bytes; *p; p++) {
			enum key key = key_feed(&k, (unsigned char)*p);
			if (key == KEY_NONE)
				continue;
			cr_assert_lt(seen, 4, "case %zu", i);
			cr_expect_eq(key, cases[i].keys[seen++], "case %zu: %d", i, key);
		}
		cr_expect(seen == 4 || cases[i].keys[seen] == KEY_NONE, "case %zu: %zu", i, seen);
		cr_expect_eq(k.state, KEY_IN_TEXT, "case %zu", i);
	}
}
