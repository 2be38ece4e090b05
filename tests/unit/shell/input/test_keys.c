#include "shell/input/keys.h"

#include <criterion/criterion.h>
#include <string.h>

/* The bytes that a key sends, or "?" if it is no key. */
static const char *encoded(const char *name, const struct screen_modes *modes)
{
	static char bytes[KEYS_BYTES_MAX + 1];
	struct key key;
	if (!keys_parse(name, strlen(name), &key))
		return "?";
	size_t length = keys_encode(&key, modes, NULL, bytes);
	bytes[length] = '\0';
	return bytes;
}

struct key_case {
	const char *name, *bytes;
};

static void check(const struct key_case *cases, size_t count, const struct screen_modes *modes)
{
	for (size_t i = 0; i < count; i++) {
		const char *got = encoded(cases[i].name, modes);
		cr_expect_str_eq(got, cases[i].bytes, "%s: ESC%s", cases[i].name, got + 1);
	}
}

#define CHECK(cases, ...) \
	check(cases, sizeof(cases) / sizeof *(cases), &(struct screen_modes){__VA_ARGS__})

Test(keys_parse, invalid_names_are_refused)
{
	static const char *const cases[] = {"", "ab", "C-", "S-", "C-M-", "M-M-M-", "F0", "F25",
		"F01", "F1x", "KP", "KP10", "KPx", "Entr", "Enter ", "C-Entr", "X-a", "^ab", "^ ",
		"\xc2\x9b", "\xff", "\xe2\x82", "\xed\xa0\x80", "\xc0\xaf", "Up\n", "--"};
	struct key key;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_not(keys_parse(cases[i], strlen(cases[i]), &key), "%s", cases[i]);
}

Test(keys_parse, synonyms)
{
	static const char *const cases[][2] = {{"PageUp", "PPage"}, {"pgup", "PageUp"},
		{"NPage", "PgDn"}, {"PageDown", "NPAGE"}, {"IC", "Insert"}, {"DC", "Delete"},
		{"S-Tab", "BTab"}, {"^x", "C-x"}, {"M-^x", "C-M-x"}, {"M-C-x", "C-M-x"},
		{"m-c-X", "C-M-X"}, {"S-M-C-Up", "C-M-S-Up"}, {"Space", " "}, {"Enter", "\r"},
		{"Escape", "\033"}, {"Tab", "\t"}, {"BSpace", "\x7f"}, {"C-c", "\x03"},
		{"C-\\", "\x1c"}, {"Return", "enter"}, {"c-space", "C- "}};
	struct key a, b;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_expect(keys_parse(cases[i][0], strlen(cases[i][0]), &a), "%s", cases[i][0]);
		cr_expect(keys_parse(cases[i][1], strlen(cases[i][1]), &b), "%s", cases[i][1]);
		cr_expect(a.code == b.code && a.modifiers == b.modifiers, "%s", cases[i][0]);
	}
}

Test(keys_parse, nul_is_control_space)
{
	struct key key;
	cr_assert(keys_parse("", 1, &key));
	cr_expect_eq(key.code, ' ');
	cr_expect_eq(key.modifiers, KEY_CTRL);
}

/* xterm ctlseqs, PC-Style Function Keys; terminfo of xterm-256color for F13 and more. */
Test(keys_encode, legacy)
{
	static const struct key_case cases[] = {{"a", "a"}, {"A", "A"}, {"S-a", "A"},
		{"\xc3\xa9", "\xc3\xa9"}, {"-", "-"}, {"^", "^"}, {"C", "C"}, {"M--", "\033-"},
		{"C-a", "\x01"}, {"C-A", "\x01"}, {"C-z", "\x1a"}, {"^c", "\x03"}, {"C-[", "\033"},
		{"C-\\", "\x1c"}, {"C-]", "\x1d"}, {"C-^", "\x1e"}, {"C-_", "\x1f"}, {"C-/", "\x1f"},
		{"C-?", "\x7f"}, {"C-3", "\033"}, {"C-8", "\x7f"}, {"C-1", "1"}, {"M-x", "\033x"},
		{"M-X", "\033X"}, {"C-M-x", "\033\x18"}, {"M-\xc3\xa9", "\033\xc3\xa9"},
		{"Enter", "\r"}, {"C-Enter", "\r"}, {"S-Enter", "\r"}, {"M-Enter", "\033\r"},
		{"Tab", "\t"}, {"BTab", "\033[Z"}, {"C-Tab", "\t"}, {"Escape", "\033"},
		{"M-Escape", "\033\033"}, {"Space", " "}, {"M-Space", "\033 "}, {"BSpace", "\x7f"},
		{"C-BSpace", "\b"}, {"M-BSpace", "\033\x7f"}, {"Up", "\033[A"}, {"Down", "\033[B"},
		{"Right", "\033[C"}, {"Left", "\033[D"}, {"Home", "\033[H"}, {"End", "\033[F"},
		{"S-Up", "\033[1;2A"}, {"M-Up", "\033[1;3A"}, {"C-Left", "\033[1;5D"},
		{"C-M-S-End", "\033[1;8F"}, {"Insert", "\033[2~"}, {"Delete", "\033[3~"},
		{"PageUp", "\033[5~"}, {"PageDown", "\033[6~"}, {"C-PageUp", "\033[5;5~"},
		{"F1", "\033OP"}, {"F2", "\033OQ"}, {"F3", "\033OR"}, {"F4", "\033OS"},
		{"F5", "\033[15~"}, {"F6", "\033[17~"}, {"F7", "\033[18~"}, {"F8", "\033[19~"},
		{"F9", "\033[20~"}, {"F10", "\033[21~"}, {"F11", "\033[23~"}, {"F12", "\033[24~"},
		{"C-F1", "\033[1;5P"}, {"S-F5", "\033[15;2~"}, {"F13", "\033[1;2P"},
		{"F17", "\033[15;2~"}, {"F24", "\033[24;2~"}, {"C-F13", "\033[1;6P"}, {"KP5", "5"},
		{"KP*", "*"}, {"KPEnter", "\r"}, {"M-KP5", "\0335"}};
	CHECK(cases, .application_cursor = false);
}

Test(keys_encode, control_space_is_nul)
{
	char bytes[KEYS_BYTES_MAX];
	struct key key;
	cr_assert(keys_parse("C-Space", 7, &key));
	cr_expect_eq(keys_encode(&key, &(struct screen_modes){0}, NULL, bytes), 1);
	cr_expect_eq(bytes[0], '\0');
	cr_assert(keys_parse("C-M-Space", 9, &key));
	cr_expect_eq(keys_encode(&key, &(struct screen_modes){0}, NULL, bytes), 2);
	cr_expect_arr_eq(bytes, "\033", 2);
}

/* ctlseqs: DECCKM. Keys with modifiers do not change. */
Test(keys_encode, keys_for_signals_are_sent_as_control_characters)
{
	struct termios line = {.c_cc = {[VINTR] = 3, [VQUIT] = 28, [VSUSP] = 26, [VEOF] = 4}};
	static const struct {
		const char *name;
		tcflag_t flag;
		const char *bytes;
	} cases[] = {{"C-c", ISIG, "\3"}, {"C-\\", ISIG, "\34"}, {"C-z", ISIG, "\32"},
		{"C-d", ICANON, "\4"}, {"C-d", ISIG, "\033[100;5u"}, {"C-c", ICANON, "\033[99;5u"},
		{"C-x", ISIG | ICANON, "\033[120;5u"}, {"C-M-c", ISIG | ICANON, "\033[99;7u"},
		{"C-Up", ISIG | ICANON, "\033[1;5A"}};
	const struct screen_modes modes[] = {{.kitty_flags = 1}, {.kitty_flags = 0x1f}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char bytes[KEYS_BYTES_MAX + 1];
		struct key key;
		line.c_lflag = cases[i].flag;
		cr_assert(keys_parse(cases[i].name, strlen(cases[i].name), &key));
		bytes[keys_encode(&key, &modes[0], &line, bytes)] = '\0';
		cr_expect_str_eq(bytes, cases[i].bytes, "%s", cases[i].name);
		if (bytes[0] != '\033') {
			bytes[keys_encode(&key, &modes[1], &line, bytes)] = '\0';
			cr_expect_str_eq(bytes, cases[i].bytes, "%s, all of kitty", cases[i].name);
		}
	}
}

Test(keys_encode, application_cursor_keys)
{
	static const struct key_case cases[] = {{"Up", "\033OA"}, {"Down", "\033OB"},
		{"Right", "\033OC"}, {"Left", "\033OD"}, {"Home", "\033OH"}, {"End", "\033OF"},
		{"C-Up", "\033[1;5A"}, {"PageUp", "\033[5~"}, {"F5", "\033[15~"}, {"KP5", "5"}};
	CHECK(cases, .application_cursor = true);
}

/* ctlseqs: VT220-Style Function Keys, application mode of the keypad. */
Test(keys_encode, application_keypad)
{
	static const struct key_case cases[] = {{"KP0", "\033Op"}, {"KP1", "\033Oq"},
		{"KP9", "\033Oy"}, {"KP*", "\033Oj"}, {"KP+", "\033Ok"}, {"KP,", "\033Ol"},
		{"KP-", "\033Om"}, {"KP.", "\033On"}, {"KP/", "\033Oo"}, {"KPEnter", "\033OM"},
		{"KP=", "\033OX"}, {"Up", "\033[A"}, {"5", "5"}, {"Enter", "\r"}};
	CHECK(cases, .application_keypad = true);
}

/* https://invisible-island.net/xterm/modified-keys.html */
Test(keys_encode, modify_other_keys_1)
{
	static const struct key_case cases[] = {{"a", "a"}, {"S-a", "A"}, {"C-a", "\x01"},
		{"C-S-a", "\x01"}, {"C-3", "\033"}, {"M-a", "\033a"}, {"C-1", "\033[27;5;49~"},
		{"C-,", "\033[27;5;44~"}, {"C-M-a", "\033[27;7;97~"}, {"Enter", "\r"},
		{"C-Enter", "\033[27;5;13~"}, {"S-Enter", "\033[27;2;13~"}, {"Tab", "\t"},
		{"C-Tab", "\033[27;5;9~"}, {"BTab", "\033[Z"}, {"C-BSpace", "\b"},
		{"C-Up", "\033[1;5A"}};
	CHECK(cases, .modify_other_keys = 1);
}

Test(keys_encode, modify_other_keys_2)
{
	static const struct key_case cases[] = {{"a", "a"}, {"S-a", "A"}, {"A", "A"},
		{"C-a", "\033[27;5;97~"}, {"C-S-a", "\033[27;6;65~"}, {"C-A", "\033[27;6;65~"},
		{"M-a", "\033[27;3;97~"}, {"C-Space", "\033[27;5;32~"},
		{"S-Space", "\033[27;2;32~"}, {"BTab", "\033[27;2;9~"},
		{"C-Enter", "\033[27;5;13~"}, {"M-Escape", "\033[27;3;27~"}, {"Escape", "\033"},
		{"BSpace", "\x7f"}, {"C-BSpace", "\033[27;5;127~"},
		{"M-\xc3\xa9", "\033[27;3;233~"}, {"C-Up", "\033[1;5A"}};
	CHECK(cases, .modify_other_keys = 2);
}

/* https://sw.kovidgoyal.net/kitty/keyboard-protocol/ */
Test(keys_encode, kitty_disambiguates)
{
	static const struct key_case cases[] = {{"a", "a"}, {"S-a", "A"}, {"A", "A"},
		{"\xc3\xa9", "\xc3\xa9"}, {"Enter", "\r"}, {"Tab", "\t"}, {"BSpace", "\x7f"},
		{"Space", " "}, {"Escape", "\033[27u"}, {"C-a", "\033[97;5u"},
		{"C-A", "\033[97;6u"}, {"C-S-a", "\033[97;6u"}, {"M-a", "\033[97;3u"},
		{"C-[", "\033[91;5u"}, {"C-Space", "\033[32;5u"}, {"C-Enter", "\033[13;5u"},
		{"S-Enter", "\033[13;2u"}, {"BTab", "\033[9;2u"}, {"M-BSpace", "\033[127;3u"},
		{"C-\xc3\xa9", "\033[233;5u"}, {"Up", "\033[A"}, {"Home", "\033[H"},
		{"C-Up", "\033[1;5A"}, {"PageUp", "\033[5~"}, {"F1", "\033[P"}, {"F2", "\033[Q"},
		{"F3", "\033[13~"}, {"F4", "\033[S"}, {"S-F3", "\033[13;2~"}, {"F5", "\033[15~"},
		{"F12", "\033[24~"}, {"F13", "\033[57376u"}, {"F24", "\033[57387u"}, {"KP5", "5"},
		{"C-KP5", "\033[57404;5u"}, {"KP0", "0"}, {"KPEnter", "\033[57414u"},
		{"M-KP*", "\033[57411;3u"}};
	CHECK(cases, .kitty_flags = 1, .application_cursor = true, .application_keypad = true,
		.modify_other_keys = 2);
}

Test(keys_encode, kitty_reports_events)
{
	static const struct key_case cases[] = {{"a", "a\033[97;1:3u"}, {"Enter", "\r"},
		{"C-Enter", "\033[13;5u"}, {"Up", "\033[A\033[1;1:3A"},
		{"C-Up", "\033[1;5A\033[1;5:3A"}, {"Escape", "\033[27u\033[27;1:3u"}};
	CHECK(cases, .kitty_flags = 1 | 2);
}

Test(keys_encode, kitty_reports_all_keys)
{
	static const struct key_case cases[] = {{"a", "\033[97u"}, {"A", "\033[97;2u"},
		{"Enter", "\033[13u"}, {"BSpace", "\033[127u"}, {"Tab", "\033[9u"},
		{"KP5", "\033[57404u"}};
	static const struct key_case alternates[] = {
		{"A", "\033[97:65;2u"}, {"C-S-a", "\033[97:65;6u"}, {"a", "\033[97u"}};
	static const struct key_case text[] = {{"a", "\033[97;;97u"}, {"A", "\033[97;2;65u"},
		{"C-a", "\033[97;5u"}, {"Up", "\033[A"}, {"Enter", "\033[13u"}};
	CHECK(cases, .kitty_flags = 8);
	CHECK(alternates, .kitty_flags = 8 | 4);
	CHECK(text, .kitty_flags = 8 | 16);
}

Test(keys_encode, longest_sequence_fits)
{
	char bytes[KEYS_BYTES_MAX];
	struct key key;
	cr_assert(keys_parse("C-M-S-KPEnter", 13, &key));
	cr_expect_leq(keys_encode(&key, &(struct screen_modes){.kitty_flags = 31}, NULL, bytes),
		KEYS_BYTES_MAX);
}
