#include "tests/lib/random.h"
#include "tests/lib/scanned.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a literal, NULs included. */
#define BYTES(text) .in = text, .length = sizeof(text) - 1

struct example {
	const char *name;
	const char *in;
	size_t length;
	const char *want; /* "start+length…": s = string, e = ends an unfinished sequence, m = muted */
	uint64_t unsettled; /* bytes at the end that may not be shown yet */
	uint64_t open;      /* bytes at the end since the newest safe cut */
};

static const struct example examples[] = {
	{"plain text", BYTES("hello, world, this is more than one word of eight bytes\r\n"), ""},
	{"nothing", BYTES(""), ""},

	{"DA1", BYTES("ab\x1b[ccd"), "2+3"},
	{"focus reporting", BYTES("\x1b[?1004h\x1b[?1049;1004h\x1b[?1004l"), ""},
	{"DA1 with 0", BYTES("\x1b[0c"), "0+4"},
	{"DA2", BYTES("\x1b[>c"), "0+4"},
	{"DA3", BYTES("\x1b[=c"), "0+4"},
	{"answer to DA1", BYTES("\x1b[?1;2c"), ""},
	{"DSR", BYTES("\x1b[5n"), "0+4"},
	{"CPR", BYTES("\x1b[6n\x1b[6n"), "0+4 4+4"},
	{"DECXCPR", BYTES("\x1b[?6n"), "0+5"},
	{"colour scheme", BYTES("\x1b[?996n"), "0+7"},
	{"modifyOtherKeys off", BYTES("\x1b[>4n"), ""},
	{"DECRQM of a private mode", BYTES("\x1b[?2004$p"), "0+9"},
	{"DECRQM of synchronized output", BYTES("\x1b[?2026$p"), "0+9"},
	{"DECRQM of an ANSI mode", BYTES("\x1b[4$p"), "0+5"},
	{"DECSTR", BYTES("\x1b[!p"), ""},
	{"DECRQPSR", BYTES("\x1b[1$w"), "0+5"},
	{"XTVERSION", BYTES("\x1b[>q\x1b[>0q"), "0+4 4+5"},
	{"DECSCUSR", BYTES("\x1b[2 q"), ""},
	{"DECLL", BYTES("\x1b[0q"), ""},
	{"kitty flags", BYTES("\x1b[?u"), "0+4"},
	{"kitty push, pop and set", BYTES("\x1b[>1u\x1b[<u\x1b[=1;1u"), ""},
	{"restore cursor", BYTES("\x1b[u"), ""},
	{"window's state and place", BYTES("\x1b[11t\x1b[13t\x1b[13;2t"), "0+5 5+5 10+7"},
	{"window's size", BYTES("\x1b[14t\x1b[18t\x1b[14;2t"), "0+5 5+5 10+7"},
	{"sizes of screen and cell", BYTES("\x1b[15t\x1b[16t\x1b[19t"), "0+5 5+5 10+5"},
	{"window's title", BYTES("\x1b[20t\x1b[21t"), "0+5 5+5"},
	{"resize of the window", BYTES("\x1b[8;24;80t\x1b[22;0t\x1b[12t\x1b[1t"), ""},
	{"DECREQTPARM", BYTES("\x1b[x\x1b[1x"), "0+3 3+4"},
	{"DECRQCRA", BYTES("\x1b[1;1;1;1;5;5*y"), "0+15"},
	{"DECID", BYTES("\x1bZ"), "0+2"},
	{"ENQ", BYTES("a\x05z"), "1+1s"},
	{"colours and modes",
		BYTES("\x1b[1;31m\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H\x1b(B\x1b#8\x1b=\033c"), ""},

	{"OSC 10 with BEL", BYTES("\x1b]10;?\a"), "0+7s"},
	{"OSC 11 with ST", BYTES("\x1b]11;?\x1b\\x"), "0+8s"},
	{"OSC 12 to 19",
		BYTES("\x1b]12;?\a\x1b]13;?\a\x1b]14;?\a\x1b]15;?\a\x1b]16;?\a\x1b]17;?\a"
		      "\x1b]18;?\a\x1b]19;?\a"),
		"0+7s 7+7s 14+7s 21+7s 28+7s 35+7s 42+7s 49+7s"},
	{"OSC 10 with zeros before", BYTES("\x1b]0010;?\a"), "0+9s"},
	{"OSC 4", BYTES("\x1b]4;1;?\a"), "0+8s"},
	{"OSC 4 that sets", BYTES("\x1b]4;1;#ffffff\a"), ""},
	{"OSC 4 that sets and asks", BYTES("\x1b]4;1;red;2;?\a"), "0+14s"},
	{"OSC 52 that asks", BYTES("\x1b]52;c;?\a"), "0+9s"},
	{"OSC 52 that sets", BYTES("\x1b]52;c;aGk/\a"), ""},
	{"title with a question", BYTES("\x1b]0;why?\a\x1b]2;?\x1b\\"), ""},
	{"link with a question", BYTES("\x1b]8;;http://a/?b\a"), ""},
	{"prompt mark", BYTES("\x1b]133;A;?\a"), ""},
	{"OSC 110, which resets", BYTES("\x1b]110;?\a\x1b]104\a"), ""},
	{"OSC without a number", BYTES("\x1b];?\a\x1b]?\a"), ""},
	{"DECRQSS", BYTES("\x1bP$qm\x1b\\"), "0+7s"},
	{"XTGETTCAP", BYTES("\x1bP+q544e\x1b\\"), "0+10s"},
	{"sixel", BYTES("\x1bPq#0;2;0;0;0?\x1b\\"), ""},
	{"answer to DECRQSS", BYTES("\x1bP1$r0m\x1b\\"), ""},
	{"SOS, PM and APC", BYTES("\x1bX?[6n\x1b\\\x1b^?\x1b\\\x1b_?\x05\x1b\\"), "0+8s 8+5s 13+6s"},
	{"query of kitty's graphics", BYTES("\x1b_Gi=31,s=1,v=1,a=q;AAAA\x1b\\"), "0+26s"},
	{"C1 SOS, PM and APC", BYTES("\xc2\x98x\x1b\\\xc2\x9ex\xc2\x9c\xc2\x9fx\x1b\\"),
		"0+5s 5+5s 10+5s"},
	{"APC ended by CAN", BYTES("\x1b_Gx\x18y"), "0+4s"},
	{"notifications of kitty", BYTES("\x1b]99;i=1:p=?;\x1b\\\x1b]99;;hi\a"), "0+15s 15+9s"},
	{"app id", BYTES("\x1b]176;?\a\x1b]176;x\a"), "0+8s 8+8s"},
	{"clipboard of kitty", BYTES("\x1b]5522;type=read\a"), "0+17s"},
	{"reports of iTerm2", BYTES("\x1b]1337;ReportCellSize\a\x1b]1337;ReportVariable=Zm9v\x1b\\"),
		"0+22s 22+28s"},
	{"upload to iTerm2", BYTES("\x1b]1337;RequestUpload=format=tgz\a"), "0+32s"},
	{"capabilities of iTerm2", BYTES("\x1b]1337;Capabilities\a"), "0+20s"},
	{"iTerm2 sequences without a reply",
		BYTES("\x1b]1337;File=inline=1:QUJD\a\x1b]1337;RemoteHost=a@b?\a"
		      "\x1b]1337;RequestAttention=yes\a\x1b]1337;Copy=:Zm9v\a\x1b]1337\a"),
		""},
	{"OSC numbers near those of queries",
		BYTES("\x1b]9;hi?\a\x1b]98;?\a\x1b]177;?\a\x1b]5523;?\a"), ""},

	/* A malformed CSI does nothing, but it has a final byte too. */
	{"prefix after a parameter", BYTES("\x1b[6?n\x1b[0>c"), ""},
	{"prefix after a prefix", BYTES("\x1b[>>c\x1b[??6n"), ""},
	{"prefix after a separator", BYTES("\x1b[;?6n"), ""},
	{"parameter after an intermediate", BYTES("\x1b[$0p\x1b[?2026$1p"), ""},
	{"prefix after an intermediate", BYTES("\x1b[$?p"), ""},
	{"intermediate inside an ignored CSI", BYTES("\x1b[1?$p\x1b[6n"), "6+4"},
	{"character inside an ignored CSI", BYTES("\x1b[1?\xc3\xa9n\x1b[6n"), "7+4"},
	{"C1 inside an ignored CSI", BYTES("\x1b[1?\xc2\x84n\x1b[1?\xc2\x9b\x36n"), "11+4e"},
	{"ENQ inside an ignored CSI", BYTES("\x1b[1?\x05n"), "4+1s"},
	{"C0 and DEL inside an ignored CSI", BYTES("\x1b[1?\r\x7f\x07n"), ""},
	{"CAN and SUB inside an ignored CSI", BYTES("\x1b[1?\x18n\x1b[1?\x1an"), ""},
	{"ESC inside an ignored CSI", BYTES("\x1b[1?\x1b[6n"), "4+4e"},
	{"two intermediates", BYTES("\x1b[?1!$p"), "0+7"},

	{"ENQ inside a query",
		BYTES("\x1b[\x05"
		      "6n"),
		"0+5"},
	{"ENQ inside another sequence",
		BYTES("\x1b[\x05"
		      "31m"),
		"2+1s"},
	{"ENQ inside a string", BYTES("\x1b]0;\x05\a\x1bPq\x05\x1b\\"), ""},
	{"ENQ after ESC", BYTES("\x1b\x05[6n"), "0+5"},
	{"C0 inside a query", BYTES("\x1b[\r\n6n"), "0+6"},
	{"DEL inside a query", BYTES("\x1b[6\x7fn"), "0+5"},
	{"NUL inside a query", BYTES("\x1b[6\0n"), "0+5"},
	{"CAN inside a query", BYTES("\x1b[6\x18n"), ""},
	{"SUB inside a query", BYTES("\x1b[6\x1an"), ""},
	{"CAN inside strings", BYTES("\x1b]10;?\x18\x1bP$qm\x1an"), ""},
	{"CAN after ESC", BYTES("\x1b\x18[6n"), ""},
	{"ESC inside a sequence", BYTES("\x1b[6\x1b[6n"), "3+4e"},
	{"query inside an unfinished query", BYTES("\x1b[\x1b[6nc"), "2+4e"},
	{"DECID inside a CSI", BYTES("\x1b[6\xc2\x9an"), "3+2e"},
	{"query inside an APC", BYTES("\x1b_a\x1b[6n"), "0+3s 3+4e"},
	{"ESC ESC", BYTES("\x1b\x1b[6n"), "1+4e"},
	{"ESC inside an OSC", BYTES("\x1b]10;?\x1b[6n"), "0+6s 6+4e"},
	{"ESC inside a title", BYTES("\x1b]0;a\x1b[6n"), "5+4e"},
	{"ESC ESC inside an OSC", BYTES("\x1b]10;?\x1b\x1b\\"), "0+6s"},
	{"BEL does not end a DCS", BYTES("\x1bP$qm\a\x1b\\"), "0+8s"},
	{"intermediate of an escape", BYTES("\x1b [6n"), ""},

	{"C1 CSI",
		BYTES("a\xc2\x9b"
		      "6nb"),
		"1+4"},
	{"C1 OSC and ST",
		BYTES("\xc2\x9d"
		      "10;?\xc2\x9c"),
		"0+8s"},
	{"C1 DCS and ST", BYTES("\xc2\x90$qm\xc2\x9c"), "0+7s"},
	{"C1 OSC with BEL",
		BYTES("\xc2\x9d"
		      "10;?\a"),
		"0+7s"},
	{"C1 APC and ESC", BYTES("\xc2\x9f?\x1b[6\xc2\x9c\x1b[6n"), "0+3s 8+4"},
	{"C1 inside a CSI",
		BYTES("\x1b[6\xc2\x9b"
		      "6n"),
		"3+4e"},
	{"C1 inside an OSC ends it",
		BYTES("\x1b]10;?\xc2\x9b"
		      "6n"),
		"0+6s 6+4e"},
	{"C1 IND inside a CSI", BYTES("\x1b[6\xc2\x84n"), ""},
	{"C1 after ESC",
		BYTES("\x1b\xc2\x9b"
		      "6n"),
		"1+4e"},
	{"raw C1 is no C1",
		BYTES("\x9b"
		      "6n\x9d"
		      "10;?\a\x05"),
		"9+1s"},

	{"character aborts a CSI", BYTES("\x1b[6\xc3\xa9n"), ""},
	{"character inside a DCS", BYTES("\x1bP$q\xc3\xa9m\x1b\\"), "0+9s"},
	{"character in the header of a DCS", BYTES("\x1bP$\xc3\xa9qm\x1b[6n"), "7+4"},
	{"character after the introducer of a DCS", BYTES("\x1bP\xc3\xa9\x1b[6n"), "4+4"},
	{"character after a parameter of a DCS", BYTES("\x1bP1;2\xc3\xa9\x1b[6n"), "7+4"},
	{"character inside an ignored DCS", BYTES("\x1bP1?\xc3\xa9\x1b[6n"), "6+4e"},
	{"parameter after an intermediate of a DCS", BYTES("\x1bP$0qm\x1b\\"), ""},
	{"prefix after a parameter of a DCS", BYTES("\x1bP0?$qm\x1b\\\x1bP??$qm\x1b\\"), ""},
	{"prefix of a DCS", BYTES("\x1bP?$qm\x1b\\"), "0+8s"},
	{"BEL and DEL inside the header of a DCS", BYTES("\x1bP\a$\x7f\x05qm\x1b\\"), "0+10s"},
	{"ST inside an ignored DCS", BYTES("\x1bP1?\a\xc2\x9c\x1b[6n"), "7+4"},
	{"character inside an APC", BYTES("\x1b_\xc3\xa9\x1b[6n"), "0+3s 4+4"},
	{"character inside SOS and PM", BYTES("\x1bX?\xe2\x82\xac\x05\x1b^\xf0\x9f\x98\x80\x05"),
		"0+5s 6+1s 7+5s 13+1s"},
	{"BOM inside an APC is dropped", BYTES("\x1b_\xef\xbb\xbf\x05\x1b[6n"), "0+6s 6+4e"},
	{"character inside an OSC", BYTES("\x1b]10;\xc3\xa9?\a"), "0+9s"},
	{"character after ESC", BYTES("\x1b\xc3\xa9[6n"), ""},
	{"four bytes abort a CSI",
		BYTES("\x1b[\xf0\x9f\x98\x80"
		      "6n"),
		""},
	{"invalid byte is dropped", BYTES("\x1b[6\xffn"), "0+5"},
	{"stray continuation is dropped", BYTES("\x1b[6\x80n"), "0+5"},
	{"overlong form is dropped",
		BYTES("\xc0\x9b"
		      "6n\xe0\x82\x9b"
		      "6n"),
		""},
	{"surrogate is dropped", BYTES("\x1b[6\xed\xa0\x80n"), "0+7"},
	{"beyond Unicode is dropped", BYTES("\x1b[6\xf4\x90\x80\x80n"), "0+8"},
	{"BOM is dropped", BYTES("\x1b[6\xef\xbb\xbfn"), "0+7"},
	{"character cut short by ESC", BYTES("\xe2\x82\x1b[6n"), "2+4"},
	{"character cut short by text",
		BYTES("\xe2"
		      "ab\xc3\xe2\x82\xac"),
		""},
	{"character after the ESC of a string",
		BYTES("\x1b]10;?\x1b\xc3\xa9"
		      "6n"),
		"0+6s"},
	{"C1 after the ESC of a string",
		BYTES("\x1b]10;?\x1b\xc2\x9b"
		      "6n"),
		"0+6s 7+4e"},

	{"ESC alone", BYTES("abc\x1b"), "", 1, 1},
	{"CSI begun", BYTES("abc\x1b[6"), "", 3, 3},
	{"C1 CSI begun",
		BYTES("abc\xc2\x9b"
		      "6"),
		"", 3, 3},
	{"character begun", BYTES("ab\xe2\x82"), "", 2, 2},
	{"overlong character begun", BYTES("ab\xc0"), "", 1, 1},
	{"OSC whose number is not known", BYTES("ab\x1b]1"), "", 3, 3},
	{"OSC that may ask", BYTES("ab\x1b]11;"), "", 5, 5},
	{"OSC that asks but is not over", BYTES("ab\x1b]11;?"), "", 6, 6},
	{"OSC that cannot ask", BYTES("ab\x1b]0;tit"), "", 0, 7},
	{"OSC that cannot ask any more", BYTES("ab\x1b]52;c;aGk"), "", 0, 10},
	{"character begun in a title", BYTES("ab\x1b]0;t\xc3"), "", 1, 6},
	{"sixel begun", BYTES("ab\x1bPq#0;2"), "", 0, 7},
	{"DECRQSS begun", BYTES("ab\x1bP$qm"), "", 5, 5},
	{"APC begun", BYTES("ab\x1b_Gf=1"), "", 6, 6},
	{"mark begun", BYTES("ab\x1b]133;D;0"), "", 9, 9},
	{"report of iTerm2 begun", BYTES("ab\x1b]1337;Rep"), "", 10, 10},
	{"no report of iTerm2", BYTES("ab\x1b]1337;Fi"), "", 0, 9},
	{"ESC of ST begun, of an OSC that asks", BYTES("\x1b]11;?\x1b"), "", 7, 7},
	{"charset begun", BYTES("ab\x1b("), "", 0, 2},
	{"ignored CSI begun", BYTES("ab\x1b[1?"), "", 0, 4},
	{"ignored DCS begun", BYTES("ab\x1bP1?$q"), "", 0, 6},
	{"character in the header of a DCS begun", BYTES("ab\x1bP$\xc3"), "", 4, 4},
	{"character in an APC begun", BYTES("ab\x1b_x\xc3"), "", 4, 4},
	{"character in an APC", BYTES("ab\x1b_x\xc3\xa9"), "", 5, 5},
	{"character before the data of an APC", BYTES("ab\x1b_\xc3\xa9"), "2+3s", 0, 0},
	{"undecided query after an answered one", BYTES("\x1b[6n\x1b[6"), "0+4", 3, 3},
	{"ENQ inside an undecided sequence",
		BYTES("ab\x1b[\x05"
		      "6"),
		"4+1s", 4, 4},
	/* The ESC may begin a query of its own. */
	{"ESC at the end of a title", BYTES("ab\x1b]0;t\x1b"), "", 1, 6},
	{"ESC at the end of a sixel", BYTES("\x1bPq#0\x1b"), "", 1, 6},
};

/* Ranges in the table's format; the caller frees the text. */
static char *ranges_text(const struct scanned *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	for (size_t i = 0; i < s->count; i++)
		fprintf(f, "%s%llu+%u%s%s%s", i ? " " : "", (unsigned long long)s->ranges[i].start,
			s->ranges[i].length, s->ranges[i].string ? "s" : "",
			s->ranges[i].ends ? "e" : "", s->ranges[i].muted ? "m" : "");
	fclose(f);
	return text;
}

static void expect(const struct example *e, const struct scanned *s, size_t split)
{
	char *text = ranges_text(s);
	cr_expect_str_eq(
		text, e->want, "%s, cut at %zu: %s instead of %s", e->name, split, text, e->want);
	cr_expect_eq(s->scan.settled, e->length - e->unsettled, "%s, cut at %zu: settled %llu",
		e->name, split, (unsigned long long)s->scan.settled);
	cr_expect_eq(s->scan.ground, e->length - e->open, "%s, cut at %zu: ground %llu", e->name,
		split, (unsigned long long)s->scan.ground);
	free(text);
}

/* In one piece, in two pieces with every possible cut, and byte by byte. */
static void try_all_cuts(const struct example *e)
{
	struct scanned s;
	for (size_t split = 0; split <= e->length; split++) {
		scanned_init(&s, 0);
		scanned_feed(&s, e->in, split);
		scanned_feed(&s, e->in + split, e->length - split);
		expect(e, &s, split);
		scanned_finish(&s);
	}
	scanned_init(&s, 0);
	for (size_t i = 0; i < e->length; i++)
		scanned_feed(&s, e->in + i, 1);
	expect(e, &s, SIZE_MAX);
	scanned_finish(&s);
}

/* One test per line of the table would be a thousand processes. A failure names its line. */
Test(scan_feed, examples_at_every_cut, .timeout = 30)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		try_all_cuts(&examples[i]);
}

Test(scan_feed, offsets_are_absolute)
{
	struct scanned s;
	scanned_init(&s, UINT64_C(1) << 40);
	cr_assert_eq(s.scan.settled, UINT64_C(1) << 40);
	scanned_feed(&s, "ab\x1b[6n", 6);
	cr_assert_eq(s.count, 1);
	cr_assert_eq(s.ranges[0].start, (UINT64_C(1) << 40) + 2);
	cr_assert_eq(s.scan.ground, (UINT64_C(1) << 40) + 6);
	scanned_finish(&s);
}

/* Output too long for the table above: prefix, count times c, suffix. */
static const struct long_example {
	const char *name, *prefix;
	char c;
	size_t count;
	const char *suffix, *want;
} long_examples[] = {
	{"longest sequence", "\x1b[", '0', SCAN_SEQUENCE_MAX - 3, "c", "0+1024"},
	{"longer sequence", "\x1b[", '0', SCAN_SEQUENCE_MAX - 2, "c", "0+1025m"},
	{"much longer sequence", "\x1b[", '0', 5000, "c", "0+5003m"},
	{"longer sequence that is no query", "\x1b[", '1', 2000, "m", "0+2003m"},
	{"controls inside an escape", "\x1b", '\r', 2000, "[6nx", "0+2004m"},
	{"longest string", "\x1b]10;", 'x', SCAN_STRING_MAX - 7, "?\a", "0+8192s"},
	{"longer string", "\x1b]10;", 'x', SCAN_STRING_MAX - 6, "?\a", "0+8193sm"},
	{"much longer string", "\x1b]10;?", 'x', 20000, "\x1b\\", "0+20008sm"},
	{"longer DCS", "\x1bP+q", '4', 20000, "\x1b\\", "0+20006sm"},
	{"longer APC", "\x1b_G", '?', 20000, "\x1b\\", "0+20005sm"},
	{"title, which is no query", "\x1b]0;", 'x', 20000, "?\a", ""},
	{"sixel, which is no query", "\x1bPq", '?', 20000, "\x1b\\", ""},
	{"clipboard, which is no query", "\x1b]52;c;", 'A', 20000, "\a", ""},
	{"sequence ends at CAN", "\x1b[", '1', 2000, "\x18\x1b[6n", "0+2002m 2003+4"},
	{"sequence ends at ESC", "\x1b[", '1', 2000, "\x1b[6n", "0+2002m 2002+4e"},
	{"string ends at CAN", "\x1b]10;", 'x', 9000, "\x18\x1b[6n", "0+9005sm 9006+4"},
	{"string ends at ESC", "\x1b]10;", 'x', 9000, "\x1b[6n", "0+9005sm 9005+4e"},
	{"string ends at ESC before C1", "\x1b]10;", 'x', 9000,
		"\x1b\xc2\x9b"
		"6n",
		"0+9005sm 9006+4e"},
	{"sequence ends where C1 begins", "\x1b[", '1', 2000,
		"\xc2\x9b"
		"6n",
		"0+2002m 2002+4e"},
	{"string ends where C1 begins", "\x1b]10;", 'x', 9000,
		"\xc2\x9b"
		"6n",
		"0+9005sm 9005+4e"},
	/* Its first byte is hidden too: xterm.js does not print the character either. */
	{"sequence ends at a character", "\x1b[", '1', 2000, "\xc3\xa9\x1b[6n", "0+2003m 2004+4"},
	{"sequence becomes ignored", "\x1b[", '1', 2000, "?\xc3\xa9m\x1b[6n", "0+2006m 2006+4"},
	{"string becomes ignored", "\x1bP", '1', 9000, "?\xc3\xa9q\x1b\\\x1b[6n", "0+9008sm 9008+4"},
	{"header of a string ends at a character", "\x1bP", '1', 9000, "\xc3\xa9\x1b[6n",
		"0+9003sm 9004+4"},
	{"ignored sequence is unchanged", "\x1b[1?", '1', 5000, "c", ""},
	{"ignored string is unchanged", "\x1bP1?", '1', 20000, "$q\x1b\\", ""},
};

static void expect_long(const struct long_example *e)
{
	size_t before = strlen(e->prefix), length = before + e->count + strlen(e->suffix);
	char *in = malloc(length + 1);
	memcpy(in, e->prefix, before);
	memset(in + before, e->c, e->count);
	strcpy(in + before + e->count, e->suffix);
	const size_t cuts[] = {0, 1, before, before + 1, before + e->count / 2, 1023, 1024, 1025,
		8191, 8192, 8193, before + e->count, length - 2, length - 1};
	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		struct scanned s;
		size_t cut = cuts[i] < length ? cuts[i] : length;
		scanned_init(&s, 0);
		scanned_feed(&s, in, cut);
		scanned_feed(&s, in + cut, length - cut);
		char *text = ranges_text(&s);
		cr_expect_str_eq(text, e->want, "%s, cut at %zu: %s instead of %s", e->name, cut,
			text, e->want);
		free(text);
		scanned_finish(&s);
	}
	free(in);
}

Test(scan_limits, longer_queries_are_muted_and_other_output_is_unchanged)
{
	for (size_t i = 0; i < sizeof long_examples / sizeof *long_examples; i++)
		expect_long(&long_examples[i]);
}

Test(scan_limits, too_long_is_hidden_but_not_held_back)
{
	struct scanned s;
	char text[3000];
	memset(text, '1', sizeof text);
	text[0] = '\x1b';
	text[1] = '[';
	scanned_init(&s, 0);
	scanned_feed(&s, text, sizeof text);
	cr_assert_eq(s.scan.settled, sizeof text);
	cr_assert_eq(s.scan.ground, 0);
	scanned_finish(&s);
}

/* Random bytes, mostly of those that parsers treat specially. */
static size_t random_bytes(struct random *r, uint8_t *bytes, size_t cap)
{
	static const char *const parts[] = {"\x1b[", "\x1b]", "\x1bP", "\x1b\\", "\xc2\x9b",
		"\xc2\x9d", "\xc2\x90", "\xc2\x9c", "\a", "\x18", "\x05", "\x1b", "6n", "10;?",
		"11;", "52;c;", "$q", "+q", ">", "?", "$p", "c", "4;1;?", "\xc3", "\xa9",
		"\xe2\x82\xac", "\xef\xbb\xbf", "\xff", "\x1b_", "m", "1;1", "hello world ", "\r\n",
		"\x7f", "\x1bZ", "\xf0\x9f\x98\x80", "t", "u", "$", "0", "\xc0", "\x1bX"};
	size_t length = 0;
	for (size_t n = 1 + random_below(r, 40); n > 0; n--) {
		const char *part = parts[random_below(r, sizeof parts / sizeof *parts)];
		size_t size = strlen(part), times = 1;
		if (random_below(r, 60) == 0)
			times = random_below(r, 3000); /* a long run */
		for (; times > 0 && length + size < cap; times--) {
			memcpy(bytes + length, part, size);
			length += size;
		}
		if (random_below(r, 8) == 0 && length < cap)
			bytes[length++] = (uint8_t)random_next(r);
	}
	return length;
}

static void compare_cuts(struct random *r, const uint8_t *bytes, size_t length)
{
	struct scanned whole, cut;
	scanned_init(&whole, 0);
	scanned_feed(&whole, bytes, length);
	for (int i = 0; i < 4; i++) {
		size_t most = i == 0 ? 1 : i == 1 ? 4 : length / 3 + 1;
		scanned_init(&cut, 0);
		for (size_t at = 0; at < length;) {
			size_t n = 1 + random_below(r, most);
			n = n < length - at ? n : length - at;
			scanned_feed(&cut, bytes + at, n);
			at += n;
		}
		scanned_expect_same(&whole, &cut);
		scanned_finish(&cut);
	}
	scanned_finish(&whole);
}

Test(scan_random, cuts_change_nothing, .timeout = 60)
{
	static uint8_t bytes[20000];
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct random r = {seed * 7919};
		compare_cuts(&r, bytes, random_bytes(&r, bytes, sizeof bytes));
	}
}
