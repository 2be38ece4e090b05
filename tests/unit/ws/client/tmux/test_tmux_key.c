/* Names of keys: which words are keys, and their names for the server. */
#include "shell/input/keys.h"
#include "ws/client/tmux/key_name.h"

#include <criterion/criterion.h>
#include <string.h>

Test(tmux_key, names)
{
	static const struct {
		const char *word, *want; /* NULL: plain text */
	} cases[] = {
		{"Enter", "Enter"},
		{"enter", "Enter"},
		{"BSpace", "BSpace"},
		{"PPage", "PageUp"},
		{"PgDn", "PageDown"},
		{"IC", "Insert"},
		{"DC", "Delete"},
		{"F12", "F12"},
		{"F13", NULL},
		{"BTab", "BTab"},
		{"C-a", "C-a"},
		{"c-a", "C-a"},
		{"^a", "C-a"},
		{"^", NULL},
		{"M-x", "M-x"},
		{"C-M-Left", "C-M-Left"},
		{"M-C-Left", "C-M-Left"},
		{"S-Up", "S-Up"},
		{"C-Space", "C-Space"},
		{"M-é", "M-é"},
		{"C-", NULL},
		{"é", NULL},
		{"", NULL},
		{"C-hello", NULL},
		{"X-a", NULL},
		{"Enter ", NULL},
		{"C--", "C--"},
	};
	struct arena a = {0};
	struct key key;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *got = key_name_find(&a, cases[i].word);
		if (!cases[i].want)
			cr_expect_null(got, "%s: %s", cases[i].word, got);
		else
			cr_expect(got && strcmp(got, cases[i].want) == 0 &&
					keys_parse(got, strlen(got), &key),
				"%s: %s", cases[i].word, got ? got : "text");
	}
	arena_finish(&a);
}
