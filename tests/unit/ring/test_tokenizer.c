#include "ring/tokenizer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* One letter for each token; t after a string's end, a after an abort. */
static const char letters[] = {
	[TOKEN_NONE] = '.',
	[TOKEN_PRINT] = 'p',
	[TOKEN_CONTROL] = 'x',
	[TOKEN_BEGIN] = 'B',
	[TOKEN_EXTEND] = 'E',
	[TOKEN_COLLECT] = 'c',
	[TOKEN_PARAM] = 'n',
	[TOKEN_MALFORMED] = '!',
	[TOKEN_ESCAPE] = 'e',
	[TOKEN_CSI] = 's',
	[TOKEN_CSI_OVER] = 'o',
	[TOKEN_DCS] = 'd',
	[TOKEN_PUT] = 'u',
};

static const struct {
	const char *name, *in, *want;
	bool ground; /* whether the state is ground at the end */
} examples[] = {
	{"text and controls", "a\r\n", "pxx", true},
	{"UTF-8", "\xc3\xa9\xe2\x82\xac", ".p..p", true},
	{"half a character", "\xe2\x82", "..", false},
	{"half a character before another", "\xe2\x82z", "..p", true},
	{"overlong, surrogate, beyond Unicode, stray", "\xc0\x80\xed\xa0\x80\xf7\xbf\xbf\xbf\x80",
		"..........", true},
	{"byte order mark", "\xef\xbb\xbf", "...", true},
	{"escapes", "\0337\x1b(B\x1b\x1b=", "BeBceBBae", true},
	{"CSI", "\x1b[?1;23h\x1b[m\x1b[2 q", "BEcnnnnsBEsBEncs", true},
	{"CSI of C1",
		"\xc2\x9b"
		"1m",
		".Bns", true},
	{"controls inside act", "\x1b\r[\n1\tm", "BxExnxs", true},
	{"malformed CSI", "\x1b[1?2 \xc3\xa9m", "BEn!....o", true},
	{"prefix after an intermediate", "\x1b[ ?m", "BEc!o", true},
	{"CAN, SUB", "\x1b[1\x18\x1b\x1a", "BEnxaBxa", true},
	{"a character aborts a CSI", "\x1b[1\xc3\xa9", "BEn..a", true},
	{"ESC aborts a CSI", "\x1b[1\x1b", "BEnBa", false},
	{"OSC up to BEL", "\x1b]0;\xc3\xa9\a", "BEuu.u.t", true},
	{"OSC up to ST", "\x1b]0\x1b\\", "BEuBte", true},
	{"OSC up to ST of C1", "\x1b]0\xc2\x9c", "BEu..t", true},
	{"OSC that CAN aborts", "\x1b]0\x18", "BEu.a", true},
	{"OSC that another of C1 aborts", "\x1b]0\xc2\x9d", "BEu.Ba", false},
	{"controls in an OSC are dropped", "\x1b]\n\x7f\a", "BE.u.t", true},
	{"DCS", "\x1bP$q\n\x7fm\x1b\\", "BEcdu.uBte", true},
	{"DCS, malformed", "\x1bP$1q\x1b\\", "BEc!.Bte", true},
	{"APC", "\x1b_a\n\x1b\\", "BE..Bte", true},
	{"SOS that a character aborts", "\x1bX\xc3\xa9", "BE..a", true},
	{"IND and NEL of C1", "\xc2\x84\x1b[\xc2\x85", ".xBE.xa", true},
	{"ST alone", "\xc2\x9c\x1b\\", "..Be", true},
};

static void expect_tokens(const char *name, const char *in, const char *want, bool ground)
{
	struct tokenizer t = {0};
	char got[64];
	size_t length = 0;
	for (; *in; in++) {
		enum token token = tokenizer_feed(&t, (uint8_t)*in);
		got[length++] = letters[token];
		if (t.end != TOKENIZER_GOES_ON)
			got[length++] = t.end == TOKENIZER_TERMINATED ? 't' : 'a';
	}
	got[length] = '\0';
	cr_expect_str_eq(got, want, "%s: %s, not %s", name, got, want);
	cr_expect_eq(tokenizer_is_ground(&t), ground, "%s", name);
}

Test(tokenizer_feed, classifies_each_byte)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		expect_tokens(
			examples[i].name, examples[i].in, examples[i].want, examples[i].ground);
}

Test(tokenizer_feed, keeps_prefix_and_intermediates)
{
	struct tokenizer t = {0};
	for (const char *in = "\x1b[?1$p"; *in; in++)
		tokenizer_feed(&t, (uint8_t)*in);
	cr_expect_eq(t.prefix, '?');
	cr_expect_eq(t.intermediate, '$');
	cr_expect_eq(t.collected, '?' << 8 | '$');
	cr_expect_eq(t.code, 'p');
}

Test(tokenizer_feed_character, character_gives_the_same_as_its_bytes)
{
	struct tokenizer t = {0};
	cr_expect_eq(tokenizer_feed_character(&t, 0x20ac, 3), TOKEN_PRINT);
	cr_expect_eq(tokenizer_feed_character(&t, 0x9b, 2), TOKEN_BEGIN);
	cr_expect_eq(t.state, TOKENIZER_CSI_ENTRY);
	cr_expect_eq(tokenizer_feed_character(&t, 0xd800, 3), TOKEN_NONE);
	cr_expect_eq(t.state, TOKENIZER_CSI_ENTRY, "an invalid character changes nothing");
	cr_expect_eq(tokenizer_feed_character(&t, 0xe9, 2), TOKEN_NONE);
	cr_expect_eq(t.end, TOKENIZER_ABORTED);
}
