/* Replies to queries, and events. */
#include "tests/lib/drawn_same.h"
#include "tests/lib/drawn_test.h"

#include <criterion/criterion.h>

TestSuite(screen_reply, DRAWN_SUITE);
TestSuite(screen_event, DRAWN_SUITE);
TestSuite(screen_mute, DRAWN_SUITE);

struct exchange {
	const char *name;
	const char *in;
	const char *want;
};

static const struct exchange answers[] = {
	{"DA1", "\x1b[c", "\x1b[?1;2;4c"},
	{"DA1 with 0", "\x1b[0c", "\x1b[?1;2;4c"},
	{"DA1 with anything else", "\x1b[1c", ""},
	{"XTSMGRAPHICS: colours", "\x1b[?1;1;0S\x1b[?1;4;0S", "\x1b[?1;0;1024S\x1b[?1;0;1024S"},
	{"XTSMGRAPHICS: size", "\x1b[?2;1;0S\x1b[?2;4;0S", "\x1b[?2;0;64;64S\x1b[?2;0;4096;4096S"},
	{"XTSMGRAPHICS: anything else", "\x1b[?2;3;9;9S\x1b[?3;1;0S", ""},
	{"DECID", "\x1bZ", "\x1b[?1;2;4c"},
	{"DA2", "\x1b[>c", "\x1b[>0;276;0c"},
	{"DA2 with anything else", "\x1b[>1c", ""},
	{"DA3", "\x1b[=c", "\x1bP!|00000000\x1b\\"},
	{"answers to XTSMGRAPHICS", "\x1b[?1;0;1024S\x1b[?2;0;64;64S\x1b[?2;2S\x1b[?3;1S", ""},
	{"an answer to DA1", "\x1b[?1;2;4c", ""},
	{"DSR", "\x1b[5n", "\x1b[0n"},
	{"CPR", "\x1b[3;4H\x1b[6n", "\x1b[3;4R"},
	{"CPR while a wrap is pending", "01234567\x1b[6n", "\x1b[1;9R"},
	{"CPR in origin mode", "\x1b[2;4r\x1b[?6h\x1b[6n", "\x1b[2;1R"},
	{"DECXCPR", "\x1b[2;2H\x1b[?6n", "\x1b[?2;2R"},
	{"printer", "\x1b[?15n", "\x1b[?13n"},
	{"user-defined keys", "\x1b[?25n", "\x1b[?20n"},
	{"keyboard", "\x1b[?26n", "\x1b[?27;1;0;0n"},
	{"locator", "\x1b[?53n\x1b[?55n", "\x1b[?50n\x1b[?50n"},
	{"colour scheme", "\x1b[?996n", "\x1b[?997;1n"},
	{"DSR of something else", "\x1b[n\x1b[7n\x1b[?7n\x1b[>4n", ""},

	{"DECRQM: on and off", "\x1b[?7$p\x1b[?2004$p\x1b[?2004h\x1b[?2004$p",
		"\x1b[?7;1$y\x1b[?2004;2$y\x1b[?2004;1$y"},
	{"DECRQM: unknown", "\x1b[?9999$p\x1b[99$p", "\x1b[?9999;0$y\x1b[99;0$y"},
	{"DECRQM: for ever", "\x1b[?8$p\x1b[?67$p\x1b[2$p\x1b[12$p",
		"\x1b[?8;3$y\x1b[?67;4$y\x1b[2;4$y\x1b[12;3$y"},
	{"DECRQM of ANSI modes", "\x1b[4h\x1b[4$p\x1b[20$p", "\x1b[4;1$y\x1b[20;2$y"},
	{"DECRQM of the mouse", "\x1b[?1002;1006h\x1b[?1000$p\x1b[?1002$p\x1b[?1006$p\x1b[?1016$p",
		"\x1b[?1000;2$y\x1b[?1002;1$y\x1b[?1006;1$y\x1b[?1016;2$y"},
	{"DECRQM of the alternate buffer", "\x1b[?47h\x1b[?1049$p\x1b[?1047$p",
		"\x1b[?1049;1$y\x1b[?1047;1$y"},
	{"DECRQM of the cursor", "\x1b[?25$p\x1b[?25l\x1b[?25$p", "\x1b[?25;1$y\x1b[?25;2$y"},
	{"DECRQM of clusters", "\x1b[?2027$p\x1b[?2027h\x1b[!p\x1b[?2027$p\033c\x1b[?2027$p",
		"\x1b[?2027;2$y\x1b[?2027;1$y\x1b[?2027;2$y"},
	{"DECRQM of synchronized output", "\x1b[?2026$p\x1b[?2026h\x1b[?2026$p",
		"\x1b[?2026;2$y\x1b[?2026;1$y"},
	{"DECRQM of a mode set together with others",
		"\x1b[?1;6;66;2031h\x1b[?1$p\x1b[?6$p\x1b[?66$p\x1b[?2031$p",
		"\x1b[?1;1$y\x1b[?6;1$y\x1b[?66;1$y\x1b[?2031;1$y"},

	{"XTVERSION", "\x1b[>q\x1b[>0q", "\x1bP>|Ringside\x1b\\\x1bP>|Ringside\x1b\\"},
	{"kitty flags", "\x1b[?u\x1b[>5u\x1b[?u\x1b[=2;2u\x1b[?u\x1b[=1;3u\x1b[?u\x1b[<u\x1b[?u",
		"\x1b[?0u\x1b[?5u\x1b[?7u\x1b[?6u\x1b[?0u"},
	{"kitty flags of the other buffer",
		"\x1b[>5u\x1b[?1049h\x1b[?u\x1b[>1u\x1b[?u\x1b[?1049l\x1b[?u",
		"\x1b[?0u\x1b[?1u\x1b[?5u"},
	{"modifyOtherKeys", "\x1b[?4m\x1b[>4;2m\x1b[?4m\x1b[>4m\x1b[?4m",
		"\x1b[>4;0m\x1b[>4;2m\x1b[>4;0m"},
	{"DECREQTPARM", "\x1b[x\x1b[1x\x1b[2x", "\x1b[2;1;1;128;128;1;0x\x1b[3;1;1;128;128;1;0x"},
	{"sizes", "\x1b[14t\x1b[15t\x1b[16t\x1b[18t\x1b[19t",
		"\x1b[4;64;64t\x1b[5;64;64t\x1b[6;16;8t\x1b[8;4;8t\x1b[9;4;8t"},
	{"window", "\x1b[11t\x1b[13t", "\x1b[1t\x1b[3;0;0t"},

	{"colours of the theme", "\x1b]10;?\a\x1b]11;?\x1b\\\x1b]12;?\a",
		"\x1b]10;rgb:e4e4/e1e1/d8d8\x1b\\\x1b]11;rgb:1010/1313/1717\x1b\\"
		"\x1b]12;rgb:f2f2/b8b8/4b4b\x1b\\"},
	{"colours that were set", "\x1b]11;#123456\a\x1b]11;?\a\x1b]111\a\x1b]11;?\a",
		"\x1b]11;rgb:1212/3434/5656\x1b\\\x1b]11;rgb:1010/1313/1717\x1b\\"},
	{"several colours at once", "\x1b]10;rgb:0/0/0;?;#fff\a\x1b]10;?;?;?;?\a",
		"\x1b]11;rgb:1010/1313/1717\x1b\\\x1b]10;rgb:0000/0000/0000\x1b\\"
		"\x1b]11;rgb:1010/1313/1717\x1b\\\x1b]12;rgb:f0f0/f0f0/f0f0\x1b\\"},
	{"palette",
		"\x1b]4;196;?\a\x1b]4;1;rgb:01/02/03;1;?\a\x1b]104;1\a\x1b]4;256;?\a\x1b]4;-1;?\a",
		"\x1b]4;196;rgb:ffff/0000/0000\x1b\\\x1b]4;1;rgb:0101/0202/0303\x1b\\"},
	{"no reply to malformed palette queries", "\x1b]4;1\a\x1b]4;1;red\a\x1b]4\a\x1b]4;;\a", ""},

	{"DECRQSS of the pen", "\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"},
	{"DECRQSS of a full pen", "\x1b[1;3;4:3;31;48;5;200m\x1bP$qm\x1b\\",
		"\x1bP1$r0;1;3;4:3;31;48;5;200m\x1b\\"},
	{"DECRQSS of bright and true colours", "\x1b[97;48;2;1;2;3m\x1bP$qm\x1b\\",
		"\x1bP1$r0;97;48;2;1;2;3m\x1b\\"},
	{"DECRQSS of the margins", "\x1b[2;3r\x1bP$qr\x1b\\", "\x1bP1$r2;3r\x1b\\"},
	{"DECRQSS of the cursor", "\x1bP$q q\x1b\\\x1b[5 q\x1bP$q q\x1b\\",
		"\x1bP1$r2 q\x1b\\\x1bP1$r5 q\x1b\\"},
	{"DECRQSS of protection", "\x1b[1\"q\x1bP$q\"q\x1b\\", "\x1bP1$r1\"q\x1b\\"},
	{"DECRQSS of the conformance level", "\x1bP$q\"p\x1b\\", "\x1bP1$r61;1\"p\x1b\\"},
	{"DECRQSS of anything else", "\x1bP$q\x1b\\\x1bP$qs\x1b\\\x1bP$qmm\x1b\\",
		"\x1bP0$r\x1b\\\x1bP0$r\x1b\\\x1bP0$r\x1b\\"},
	{"XTGETTCAP", "\x1bP+q544e;524742\x1b\\",
		"\x1bP1+r544e=787465726d2d323536636f6c6f72\x1b\\\x1bP1+r524742=382f382f38\x1b\\"},
	{"XTGETTCAP in either case", "\x1bP+q636F6C6F7273\x1b\\",
		"\x1bP1+r636f6c6f7273=323536\x1b\\"},
	{"XTGETTCAP of something else", "\x1bP+q5a5a;544e\x1b\\", "\x1bP0+r\x1b\\"},
	{"clipboard reads as empty", "\x1b]52;c;?\a\x1b]52;;?\a", "\x1b]52;c;\x1b\\\x1b]52;c;\x1b\\"},

	{"title reads as empty", "\x1b]2;rm -rf /\a\x1b]1;rm\a\x1b[21t\x1b[20t",
		"\x1b]l\x1b\\\x1b]L\x1b\\"},
	{"DECRQSS does not echo", "\x1bP$qrm -rf /\r\x1b\\", "\x1bP0$r\x1b\\"},
	{"XTGETTCAP does not echo", "\x1bP+q726d202d7266202f0d\x1b\\\x1bP+q\rls\r\x1b\\",
		"\x1bP0+r\x1b\\\x1bP0+r\x1b\\"},
	{"ENQ answers nothing", "\x05", ""},
	{"queries inside strings",
		"\x1b_\x1b[6n\x1b\\\x1b]0;\xc2\x9b"
		"6n\a",
		"\x1b[1;1R\x1b[1;1R"},
	{"questions in an APC", "\x1b_[6n\x05\x1b\\\x1b^[c\x1b\\\x1bX[c\x1b\\", ""},
	{"aborted queries", "\x1b[6\x18n\x1b]11;?\x18\x1bP$qm\x1a", ""},
	{"malformed queries", "\x1b[6?n\x1b[$0p\x1b[??c", ""},
};

static const struct exchange events[] = {
	{"bell", "a\a", "2 bell\n"},
	{"title and icon", "\x1b]0;vi\a", "7 title vi\n7 icon vi\n"},
	{"title", "\x1b]2;vi\x1b\\", "7 title vi\n"},
	{"icon", "\x1b]1;vi\a", "7 icon vi\n"},
	{"title is emptied", "\x1b]2;\a", "5 title\n"},
	{"title with characters", "\x1b]2;\xe4\xbd\xa0\xff\a", "9 title \xe4\xbd\xa0\n"},
	{"title is saved and restored", "\x1b]2;a\a\x1b[22;2t\x1b]2;b\a\x1b[23;2t",
		"6 title a\n19 title b\n26 title a\n"},
	{"icon is saved and restored", "\x1b]1;a\a\x1b[22;1t\x1b]1;b\a\x1b[23;1t",
		"6 icon a\n19 icon b\n26 icon a\n"},
	{"nothing was put aside", "\x1b[23;0t", ""},
	{"folder", "\x1b]7;file://host/tmp/a%20b\a", "26 cwd /tmp/a b\n"},
	{"folder without a host", "\x1b]7;file:///tmp\a", "16 cwd /tmp\n"},
	{"folder in other ways", "\x1b]7;/tmp\a\x1b]7;http://h/tmp\a\x1b]7;file://h\a\x1b]7;\a", ""},
	{"folder with a control", "\x1b]7;file:///a%0ab\a\x1b]7;file:///%00\a\x1b]7;file:///%7f\a",
		""},
	{"folder with a half escape", "\x1b]7;file:///a%2\a", "16 cwd /a%2\n"},
	{"notification", "\x1b]9;done\a", "9 notification done\n"},
	{"progress is no notification", "\x1b]9;4;1;50\a\x1b]9;12;x\a", ""},
	{"notification with a title", "\x1b]777;notify;cc;done\a", "21 notification done [cc]\n"},
	{"notification of 777 without a body", "\x1b]777;notify;done\a", "18 notification done\n"},
	{"777 of something else", "\x1b]777;precmd\a\x1b]777;notif\a", ""},
	{"notification of kitty", "\x1b]99;i=1:d=0;done\a", "18 notification done\n"},
	{"kitty's without a body", "\x1b]99;i=1\a", ""},
	{"clipboard", "\x1b]52;c;aGk=\a", "12 clipboard aGk= [c]\n"},
	{"primary selection", "\x1b]52;ps;aGk=\a", "13 clipboard aGk= [ps]\n"},
	{"clipboard without data", "\x1b]52;c\a", ""},
	{"marks", "\x1b]133;A\a\x1b]133;D;0\a\x1b]633;E;ls\a",
		"8 mark 133 A\n18 mark 133 D;0\n29 mark 633 E;ls\n"},
	{"focus reports", "\x1b[?1004h", "8 focus\n"},
	{"unknown ones", "\x1b]1337;x\a\x1b]6;x\a\x1b]3008;a\a\x1b]50;x\a", ""},
	{"aborted ones", "\x1b]0;a\x18\x1b]9;a\x1a\x1b]0;a\xc2\x84", ""},
};

/* got: replies or events of d. */
static void expect_at_every_cut(
	const struct exchange *all, size_t count, const struct drawn_text *got)
{
	for (const struct exchange *e = all; e < all + count; e++)
		for (size_t cut = 0; cut <= strlen(e->in); cut++) {
			drawn_set_up();
			drawn_feed(&d, e->in, cut, SIZE_MAX);
			drawn_feed(&d, e->in + cut, strlen(e->in + cut), SIZE_MAX);
			cr_expect_str_eq(got->bytes, e->want, "%s, cut at %zu: %s", e->name, cut,
				got->bytes);
		}
}

Test(screen_reply, replies_at_every_cut, .timeout = 60)
{
	expect_at_every_cut(answers, sizeof answers / sizeof *answers, &d.replies);
}

Test(screen_event, events_at_every_cut, .timeout = 60)
{
	expect_at_every_cut(events, sizeof events / sizeof *events, &d.events);
}

Test(screen_event, offsets_are_absolute)
{
	screen_destroy(d.screen);
	const struct screen_callbacks callbacks = {.event = drawn_on_event};
	struct screen_options options = {
		.rows = 4, .cols = 8, .offset = 1000000, .callbacks = &callbacks, .user = &d};
	cr_assert_eq(screen_create(&d.screen, &options), 0);
	drawn_type(&d, "ab\a");
	cr_expect_str_eq(d.events.bytes, "1000003 bell\n");
	drawn_type(&d, "\r\ncd");
	cr_expect_eq(screen_line(d.screen, 1)->offset, 1000005);
}

static void type_all(struct drawn *to)
{
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		drawn_type(to, answers[i].in);
	for (size_t i = 0; i < sizeof events / sizeof *events; i++)
		drawn_type(to, events[i].in);
}

Test(screen_mute, neither_replies_nor_events)
{
	screen_mute(d.screen, true);
	type_all(&d);
	cr_expect_eq(d.replies.length, 0);
	cr_expect_eq(d.events.length, 0);
}

Test(screen_mute, state_is_the_same)
{
	struct drawn muted;
	drawn_init(&muted, 4, 8, 100);
	screen_mute(muted.screen, true);
	type_all(&d);
	type_all(&muted);
	drawn_clear(&d.events);
	drawn_expect_same(&d, &muted);
	drawn_finish(&muted);
}

Test(screen_mute, can_be_undone)
{
	screen_mute(d.screen, true);
	drawn_type(&d, "\x1b[5n");
	screen_mute(d.screen, false);
	drawn_type(&d, "\x1b[6n\a");
	cr_expect_str_eq(d.replies.bytes, "\x1b[1;1R");
	cr_expect_str_eq(d.events.bytes, "9 bell\n");
}

Test(screen_mute, works_without_callbacks)
{
	struct screen *s;
	const struct screen_callbacks none = {0};
	cr_assert_eq(screen_create(&s, &(struct screen_options){.rows = 2, .cols = 2}), 0);
	screen_feed(s, "\x1b[c\a", 4, SIZE_MAX);
	screen_destroy(s);
	cr_assert_eq(screen_create(&s,
			     &(struct screen_options){.rows = 2, .cols = 2, .callbacks = &none}),
		0);
	screen_feed(s, "\x1b[c\a", 4, SIZE_MAX);
	screen_destroy(s);
}

Test(screen_reply, colors_are_those_of_the_theme)
{
	struct theme light = {.foreground = 0x102030,
		.background = 0xfdfbf6,
		.cursor = 0xaabbcc,
		.colors = {[9] = 0xff8000}};
	drawn_type(&d, "\x1b[?2031h");
	screen_set_theme(d.screen, &light);
	drawn_type(&d,
		"\x1b[?996n\x1b]10;?;?;?\a\x1b]4;9;?\a\x1b]11;#000\a\x1b]11;?\a\x1b]111\a\x1b]11;?\a");
	light.cursor = 0;
	screen_set_theme(d.screen, &light);
	screen_set_theme(d.screen, &theme_default);
	static const char wanted[] = "\x1b[?997;2n"
				     "\x1b]10;rgb:1010/2020/3030\x1b\\"
				     "\x1b]11;rgb:fdfd/fbfb/f6f6\x1b\\"
				     "\x1b]12;rgb:aaaa/bbbb/cccc\x1b\\"
				     "\x1b]4;9;rgb:ffff/8080/0000\x1b\\"
				     "\x1b]11;rgb:0000/0000/0000\x1b\\"
				     "\x1b]11;rgb:fdfd/fbfb/f6f6\x1b\\";
	cr_expect_eq(d.replies.length, sizeof wanted - 1);
	cr_expect(memcmp(d.replies.bytes, wanted, sizeof wanted - 1) == 0);
	cr_expect(strstr(d.events.bytes, " color scheme 2\n"));
	cr_expect(strstr(d.events.bytes, " color scheme 1\n"));
}

Test(screen_event, progress_is_state_and_no_notification)
{
	static const struct {
		const char *output;
		enum progress_state state;
		unsigned percent;
	} cases[] = {
		{"\x1b]9;4;1;42\a", PROGRESS_NORMAL, 42},
		{"\x1b]9;4;2\a", PROGRESS_ERROR, 42},
		{"\x1b]9;4;4;7\x1b\\", PROGRESS_PAUSED, 7},
		{"\x1b]9;4;5;1\a", PROGRESS_PAUSED, 7},
		{"\x1b]9;4;x;1\a", PROGRESS_PAUSED, 7},
		{"\x1b]9;4;3;50\a", PROGRESS_INDETERMINATE, 0},
		{"\x1b]9;4;1;99999999999999999999\a", PROGRESS_NORMAL, 100},
		{"\x1b]9;4;1;\a", PROGRESS_NORMAL, 0},
		{"\x1b]9;4;0;5\a", PROGRESS_NONE, 0},
		{"\x1b]9;4;1;5\a\x1b]133;D;0\a", PROGRESS_NONE, 0},
		{"\x1b]9;4;1;5\a\x1b"
		 "c",
			PROGRESS_NONE, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		drawn_type(&d, cases[i].output);
		struct progress p = screen_progress(d.screen);
		cr_expect_eq(p.state, cases[i].state, "%zu", i);
		cr_expect_eq(p.percent, cases[i].percent, "%zu", i);
	}
	cr_expect_eq(strstr(d.events.bytes, "notification"), NULL);
}
