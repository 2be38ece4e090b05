#include "ring/screen/parser.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a literal, with its NULs. */
#define BYTES(text) .in = text, .length = sizeof(text) - 1

/*
 * Callbacks as text: 'x' printed text; U+n a character; ^n a control; ESC, CSI, OSC and DCS with what was
 * collected, the parameters, and the rest in brackets.
 */
struct record {
	struct parser parser;
	FILE *f;
	char *text;
	size_t size;
	bool printing; /* text continues */
	bool pause;
	unsigned calls;
};

static FILE *begin(struct record *r)
{
	r->calls++;
	if (r->printing)
		fputc('\'', r->f);
	if (ftell(r->f) > 0)
		fputc(' ', r->f);
	r->printing = false;
	r->pause = true;
	return r->f;
}

static void on_text(void *user, const uint8_t *ascii, size_t length)
{
	struct record *r = user;
	if (!r->printing)
		fputc('\'', begin(r));
	r->printing = r->pause = true;
	fwrite(ascii, 1, length, r->f);
}

static void on_character(void *user, uint32_t code)
{
	fprintf(begin(user), "U+%04" PRIx32, code);
}

static void on_control(void *user, uint8_t code)
{
	fprintf(begin(user), "^%02x", code);
}

static void put_id(FILE *f, const char *name, uint32_t id)
{
	fputs(name, f);
	for (int shift = 24; shift >= 0; shift -= 8)
		if (id >> shift & 0xff)
			fputc((int)(id >> shift & 0xff), f);
}

static void put_params(FILE *f, const struct params *a)
{
	fputc('[', f);
	for (unsigned i = 0; i < a->count; i++) {
		fprintf(f, "%s%" PRId32, i ? ";" : "", a->value[i]);
		for (unsigned k = a->sub_first[i]; k < a->sub_end[i]; k++)
			fprintf(f, ":%" PRId32, a->sub[k]);
	}
	fputc(']', f);
}

static void on_escape(void *user, uint32_t id)
{
	put_id(begin(user), "ESC", id);
}

static void on_csi(void *user, uint32_t id, const struct params *a)
{
	FILE *f = begin(user);
	put_id(f, "CSI", id);
	put_params(f, a);
}

static void on_osc(void *user, uint32_t number, const char *data, size_t length)
{
	cr_assert_eq(data[length], '\0');
	fprintf(begin(user), "OSC%" PRIu32 "(%s)", number, data);
}

static void on_dcs(void *user, uint32_t id, const struct params *a, const char *data, size_t length)
{
	FILE *f = begin(user);
	put_id(f, "DCS", id);
	put_params(f, a);
	fputc('(', f);
	fwrite(data, 1, length, f);
	fputc(')', f);
}

static const struct parser_ops ops = {
	.text = on_text,
	.character = on_character,
	.control = on_control,
	.escape = on_escape,
	.csi = on_csi,
	.osc = on_osc,
	.dcs = on_dcs,
};

static struct record r;

static void start(void)
{
	r = (struct record){0};
	r.f = open_memstream(&r.text, &r.size);
	parser_init(&r.parser, &ops, &r, 0);
}

static void finish(void)
{
	fclose(r.f);
	free(r.text);
	parser_finish(&r.parser);
}

static void restart(void)
{
	finish();
	start();
}

TestSuite(parser_feed, .init = start, .fini = finish, .timeout = 30);
TestSuite(parser_limits, .init = start, .fini = finish, .timeout = 30);
TestSuite(parser_is_ground, .init = start, .fini = finish);
TestSuite(parser_start, .init = start, .fini = finish);
TestSuite(parser_init, .init = start, .fini = finish);
TestSuite(parser_reset, .init = start, .fini = finish);

static void feed(const char *bytes, size_t length)
{
	/* On the heap, so that ASan detects reads beyond the end. */
	uint8_t *copy = malloc(length ? length : 1);
	memcpy(copy, bytes, length);
	cr_assert_eq(parser_feed(&r.parser, copy, length, NULL), length);
	free(copy);
}

static void feed_text(const char *text)
{
	feed(text, strlen(text));
}

/* The record so far. */
static const char *record_text(void)
{
	if (r.printing)
		fputc('\'', r.f);
	r.printing = false;
	fflush(r.f);
	return r.text;
}

struct example {
	const char *name;
	const char *in;
	size_t length;
	const char *want;
};

static const struct example examples[] = {
	{"text", BYTES("hello, world ~"), "'hello, world ~'"},
	{"nothing", BYTES(""), ""},
	{"text and controls", BYTES("ab\r\ncd\0\x05"), "'ab' ^0d ^0a 'cd' ^00 ^05"},
	{"DEL is ignored",
		BYTES("a\x7f"
		      "b"),
		"'ab'"},
	{"text longer than a machine word", BYTES("0123456789abcdef\x7fghijklmnopqrstu\n"),
		"'0123456789abcdefghijklmnopqrstu' ^0a"},

	{"characters", BYTES("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "U+00e9 U+20ac U+1f600"},
	{"first printable after C1", BYTES("\xc2\xa0"), "U+00a0"},
	{"C1 acts", BYTES("\xc2\x84\xc2\x85\xc2\x88"), "^84 ^85 ^88"},
	{"raw C1 is ignored",
		BYTES("\x84\x9b"
		      "6n"),
		"'6n'"},
	{"invalid bytes are dropped",
		BYTES("a\xff\xfe\x80\xc0\xc1"
		      "b"),
		"'ab'"},
	{"overlong forms are dropped", BYTES("\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf."), "'.'"},
	{"surrogates are dropped", BYTES("\xed\xa0\x80\xed\xbf\xbf."), "'.'"},
	{"beyond Unicode is dropped", BYTES("\xf4\x90\x80\x80\xf7\xbf\xbf\xbf."), "'.'"},
	{"the last character", BYTES("\xf4\x8f\xbf\xbf"), "U+10ffff"},
	{"BOM is dropped", BYTES("\xef\xbb\xbf."), "'.'"},
	{"character cut short by text",
		BYTES("\xe2\x82"
		      "a"),
		"'a'"},
	{"character cut short by a control", BYTES("\xf0\x9f\n."), "^0a '.'"},
	{"character cut short by ESC", BYTES("\xf0\x9f\x98\x1b[m"), "CSIm[0]"},
	{"character cut short by another", BYTES("\xe2\x82\xc3\xa9"), "U+00e9"},

	{"escape", BYTES("\0337\033c\x1b="), "ESC7 ESCc ESC="},
	{"escape with intermediates", BYTES("\x1b(0\x1b#8\x1b !A"), "ESC(0 ESC#8 ESC !A"},
	{"DEL inside an escape",
		BYTES("\x1b\x7f(\x7f"
		      "0"),
		"ESC(0"},
	{"control inside an escape",
		BYTES("\x1b\r("
		      "\n0"),
		"^0d ^0a ESC(0"},
	{"CAN and SUB abort an escape",
		BYTES("\x1b\x18"
		      "7\x1b(\x1a"
		      "0"),
		"^18 '7' ^1a '0'"},
	{"ESC begins anew", BYTES("\x1b(\0337"), "ESC7"},
	{"character aborts an escape",
		BYTES("\x1b\xc3\xa9"
		      "7"),
		"'7'"},

	{"CSI", BYTES("\x1b[H\x1b[1;31m\x1b[?25l\x1b[2 q\x1b[>c\x1b[!p"),
		"CSIH[0] CSIm[1;31] CSI?l[25] CSI q[2] CSI>c[0] CSI!p[0]"},
	{"CSI of C1",
		BYTES("\xc2\x9b"
		      "5n"),
		"CSIn[5]"},
	{"CSI with prefix and intermediate", BYTES("\x1b[?2026$p"), "CSI?$p[2026]"},
	{"missing parameters are 0", BYTES("\x1b[;5;H"), "CSIH[0;5;0]"},
	{"subparameters", BYTES("\x1b[4:3;38:2::1:2:3m"), "CSIm[4:3;38:2:-1:1:2:3]"},
	{"subparameters without a parameter", BYTES("\x1b[:3m\x1b[;:m"), "CSIm[0:3] CSIm[0;0:-1]"},
	{"leading zeros", BYTES("\x1b[0007m"), "CSIm[7]"},
	{"huge parameters", BYTES("\x1b[99999999999;2147483647;2147483648;4:99999999999m"),
		"CSIm[2147483647;2147483647;2147483647;4:2147483647]"},
	{"prefix after a parameter", BYTES("\x1b[1?h."), "'.'"},
	{"two prefixes", BYTES("\x1b[??h."), "'.'"},
	{"parameter after an intermediate", BYTES("\x1b[$1p."), "'.'"},
	{"character inside a CSI", BYTES("\x1b[1\xc3\xa9m"), "'m'"},
	{"character inside an ignored CSI", BYTES("\x1b[1?\xc3\xa9m."), "'.'"},
	{"control inside a CSI", BYTES("\x1b[1\r;2\nH"), "^0d ^0a CSIH[1;2]"},
	{"DEL inside a CSI",
		BYTES("\x1b[1\x7f"
		      "2H"),
		"CSIH[12]"},
	{"CAN inside a CSI", BYTES("\x1b[1\x18H"), "^18 'H'"},
	{"ESC inside a CSI", BYTES("\x1b[1\x1b[2H"), "CSIH[2]"},
	{"C1 inside a CSI", BYTES("\x1b[1\xc2\x85H"), "^85 'H'"},

	{"OSC with BEL", BYTES("\x1b]0;title\a."), "OSC0(title) '.'"},
	{"OSC with ST", BYTES("\x1b]2;title\x1b\\."), "OSC2(title) ESC\\ '.'"},
	{"OSC with ST of C1", BYTES("\x1b]2;title\xc2\x9c."), "OSC2(title) '.'"},
	{"OSC of C1",
		BYTES("\xc2\x9d"
		      "0;t\a"),
		"OSC0(t)"},
	{"OSC without data", BYTES("\x1b]104\a\x1b]104;\a"), "OSC104() OSC104()"},
	{"OSC without a number", BYTES("\x1b]\a\x1b];a\a\x1b]a;b\a\x1b]1a;b\a."), "'.'"},
	{"OSC with zeros", BYTES("\x1b]0010;?\a"), "OSC10(?)"},
	{"OSC of a huge number", BYTES("\x1b]99999999999999999999;x\a"), "OSC999999(x)"},
	{"OSC with characters", BYTES("\x1b]0;\xe4\xbd\xa0\xc3\xa9\a"), "OSC0(\xe4\xbd\xa0\xc3\xa9)"},
	{"OSC drops invalid UTF-8",
		BYTES("\x1b]0;a\xff\x80\xe2\x82"
		      "b\xed\xa0\x80\a"),
		"OSC0(ab)"},
	{"OSC drops controls", BYTES("\x1b]0;a\r\n\0b\a"), "OSC0(ab)"},
	{"OSC ends at any ESC", BYTES("\x1b]0;a\x1b[5n"), "OSC0(a) CSIn[5]"},
	{"OSC aborted by CAN", BYTES("\x1b]0;a\x18."), "'.'"},
	{"OSC aborted by C1", BYTES("\x1b]0;a\xc2\x84."), "^84 '.'"},

	{"DCS", BYTES("\x1bP$qm\x1b\\."), "DCS$q[0](m) ESC\\ '.'"},
	{"DCS with parameters", BYTES("\x1bP1;2:3|ab\xc2\x9c"), "DCS|[1;2:3](ab)"},
	{"DCS of C1", BYTES("\xc2\x90+qab\xc2\x9c"), "DCS+q[0](ab)"},
	{"BEL does not end a DCS", BYTES("\x1bPqa\ab\x1b\\"), "DCSq[0](a\ab) ESC\\"},
	{"DCS aborted by CAN", BYTES("\x1bPqa\x18."), "'.'"},
	{"DCS with a malformed header", BYTES("\x1bP1?qabc\x1b\\."), "ESC\\ '.'"},
	{"character in the header of a DCS", BYTES("\x1bP1\xc3\xa9q"), "'q'"},
	{"controls in the header of a DCS", BYTES("\x1bP\r$\nqm\x1b\\"), "DCS$q[0](m) ESC\\"},

	{"APC, PM and SOS are swallowed", BYTES("\x1b_Ga=1;\a\r\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\."),
		"ESC\\ ESC\\ ESC\\ '.'"},
	{"APC, PM and SOS of C1",
		BYTES("\xc2\x9f"
		      "a\xc2\x9c\xc2\x9e"
		      "b\xc2\x9c\xc2\x98"
		      "c\xc2\x9c."),
		"^9c '.'"},
	{"character in an APC", BYTES("\x1b_a\xc3\xa9.\x1b\\"), "ESC\\"},
	{"character ends an APC that has no data", BYTES("\x1b_$\xc3\xa9."), "'.'"},
	{"CAN ends an APC", BYTES("\x1b_a\x18."), "^18 '.'"},
};

/* pieces: bytes per call. */
static void expect(const struct example *e, size_t cut, size_t pieces)
{
	restart();
	feed(e->in, cut);
	for (size_t at = cut; at < e->length; at += pieces)
		feed(e->in + at, pieces < e->length - at ? pieces : e->length - at);
	cr_expect_str_eq(record_text(), e->want, "%s, cut at %zu: %s instead of %s", e->name, cut,
		record_text(), e->want);
	cr_expect_eq(r.parser.offset, e->length);
}

/* One test per line of the table would be a hundred processes. A failure names its line. */
Test(parser_feed, examples_at_every_cut)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		for (size_t cut = 0; cut <= examples[i].length; cut++)
			expect(&examples[i], cut, examples[i].length + 1);
		expect(&examples[i], 0, 1);
	}
}

Test(parser_feed, pause_ends_the_feed_after_a_callback)
{
	const uint8_t in[] = "ab\r\x1b[1m\x1b]0;t\a";
	const size_t ends[] = {2, 3, 7, 13};
	size_t at = 0, length = sizeof in - 1;
	for (unsigned i = 0; i < 4; i++) {
		r.pause = false;
		at += parser_feed(&r.parser, in + at, length - at, &r.pause);
		cr_expect_eq(at, ends[i], "%zu", at);
		cr_expect_eq(r.parser.offset, at);
	}
	cr_expect_str_eq(record_text(), "'ab' ^0d CSIm[1] OSC0(t)");
}

Test(parser_feed, paused_parser_consumes_nothing)
{
	r.pause = true;
	cr_expect_eq(parser_feed(&r.parser, (const uint8_t *)"ab", 2, &r.pause), 0);
}

/* count parameters with the same digit. */
static void feed_params(unsigned count, char separator)
{
	feed_text("\x1b[1");
	for (unsigned i = 1; i < count; i++)
		feed((char[]){separator, '1'}, 2);
	feed_text("m");
}

Test(parser_limits, further_parameters_are_dropped)
{
	static const unsigned counts[] = {17, PARSER_PARAMS, 33, 34, 500, 100000};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		restart();
		feed_params(counts[i], ';');
		cr_expect_eq(r.calls, 1);
		cr_expect_eq(r.parser.params.count,
			counts[i] < PARSER_PARAMS ? counts[i] : PARSER_PARAMS);
		cr_expect_eq(r.parser.params.value[r.parser.params.count - 1], 1);
	}
}

Test(parser_limits, further_subparameters_are_dropped)
{
	feed_params(500, ':');
	cr_expect_eq(r.calls, 1);
	cr_expect_eq(r.parser.params.count, 1);
	cr_expect_eq(r.parser.params.sub_count, PARSER_SUBPARAMS);
}

Test(parser_limits, subparameters_of_dropped_parameters)
{
	feed_text("\x1b[");
	for (unsigned i = 0; i < 100; i++)
		feed_text("4:3;");
	feed_text("1:2m");
	cr_expect_eq(r.calls, 1);
	cr_expect_eq(r.parser.params.count, PARSER_PARAMS);
	cr_expect_eq(r.parser.params.sub_count, PARSER_SUBPARAMS);
}

Test(parser_limits, many_intermediates)
{
	for (unsigned i = 0; i < 1000; i++)
		feed_text(i == 0 ? "\x1b[" : "!");
	feed_text("p\x1b");
	for (unsigned i = 0; i < 1000; i++)
		feed_text("#");
	feed_text("8.");
	cr_expect_eq(r.calls, 3);
	cr_expect_null(strstr(record_text(), "CSI!p"), "it is not dispatched as another sequence");
	cr_expect_null(strstr(record_text(), "ESC#8 "));
}

static void feed_many(char c, size_t count)
{
	char *bytes = malloc(count ? count : 1);
	memset(bytes, c, count);
	feed(bytes, count);
	free(bytes);
}

Test(parser_limits, longest_string_is_whole)
{
	feed_text("\x1b]0;");
	feed_many('x', PARSER_STRING_MAX - 64);
	feed_text("\a.");
	cr_expect_eq(r.calls, 2);
	cr_expect_eq(strlen(record_text()), PARSER_STRING_MAX - 64 + strlen("OSC0() '.'"));
}

Test(parser_limits, longer_string_is_dropped)
{
	feed_text("\x1b]0;");
	feed_many('x', 3 * PARSER_STRING_MAX);
	feed_text("\a\x1bP+q");
	feed_many('x', 3 * PARSER_STRING_MAX);
	cr_expect_leq(r.parser.string_capacity, PARSER_STRING_MAX);
	feed_text("\x1b\\.\x1b]0;short\a");
	cr_expect_str_eq(record_text(), "ESC\\ '.' OSC0(short)");
}

Test(parser_limits, images_may_be_longer)
{
	static const char *const starts[] = {"\x1bPq", "\x1b]1337;"};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		restart();
		feed_text(starts[i]);
		feed_many('x', PARSER_IMAGE_MAX - 64);
		feed_text("\x1b\\");
		cr_expect_eq(r.calls, 2, "the string, and the end");
		feed_text(starts[i]);
		feed_many('x', PARSER_IMAGE_MAX);
		cr_expect_leq(r.parser.string_capacity, PARSER_IMAGE_MAX);
		feed_text("\x1b\\");
		cr_expect_eq(r.calls, 3, "only the end");
	}
}

Test(parser_limits, memory_of_a_long_string_is_freed)
{
	static const char *const ends[] = {"\a", "\x1b\\", "\x18", "\xc2\x9c", "\xc2\x84",
		"\xc2\x9b"
		"1m"};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		restart();
		feed_text("\x1b]0;");
		feed_many('x', PARSER_STRING_MAX / 2);
		feed_text(ends[i]);
		cr_expect_leq(r.parser.string_capacity, 8192, "end %zu", i);
	}
}

Test(parser_limits, endless_sequences_use_no_memory)
{
	static const char *const starts[] = {"\x1b[", "\x1b[1?", "\x1b_", "\x1bP1;", "\x1bP1?"};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		restart();
		feed_text(starts[i]);
		feed_many('1', 1000000);
		cr_expect_eq(r.parser.string_capacity, 0, "start %zu", i);
	}
}

Test(parser_is_ground, is_true_between_sequences_and_characters)
{
	const char in[] = "a\x1b[1mb\xe2\x82\xac\x1b]0;t\ac";
	for (size_t i = 0; i < sizeof in - 1; i++) {
		feed(in + i, 1);
		bool ground = parser_is_ground(&r.parser);
		cr_expect_eq(ground, i == 0 || i == 4 || i == 5 || i == 8 || i >= 14, "byte %zu", i);
	}
}

Test(parser_start, is_the_start_of_the_sequence)
{
	feed_text("ab\x1b[1");
	cr_expect_eq(r.parser.start, 2);
	feed_text(";\x1b]0;t");
	cr_expect_eq(r.parser.start, 6);
	feed_text("\xc2\x9b"
		  "1");
	cr_expect_eq(r.parser.start, 11);
}

Test(parser_init, offsets_are_absolute)
{
	parser_init(&r.parser, &ops, &r, UINT64_C(1) << 40);
	feed_text("ab\x1b[");
	cr_expect_eq(r.parser.offset, (UINT64_C(1) << 40) + 4);
	cr_expect_eq(r.parser.start, (UINT64_C(1) << 40) + 2);
}

Test(parser_reset, drops_an_unfinished_sequence)
{
	static const char *const starts[] = {
		"\x1b", "\x1b(", "\x1b[1;", "\x1b[1?", "\x1b]0;t", "\x1bP1;", "\x1bPq1", "\x1b_a"};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		restart();
		feed_text(starts[i]);
		parser_reset(&r.parser);
		cr_expect(parser_is_ground(&r.parser));
		feed_text("5n\a");
		cr_expect_str_eq(record_text(), "'5n' ^07");
	}
}
