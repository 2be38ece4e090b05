#include "ring/screen/view/render.h"
#include "tests/lib/drawn_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_up(void)
{
	drawn_restart(4, 10, 100);
}

static struct rendered r; /* of render_text() */

static void tear_down(void)
{
	drawn_tear_down();
	free(r.bytes);
}

TestSuite(render_lines, .init = set_up, .fini = tear_down);
TestSuite(render_next, .init = set_up, .fini = tear_down);

/* All lines, in memory that is valid until the next call. */
static const char *render(enum render_format format, bool join)
{
	static char text[1 << 16];
	struct rendered got;
	cr_assert_eq(
		render_lines(d.screen, format,
			&(struct render_options){.to = UINT64_MAX, .join = join, .max = SIZE_MAX},
			&got),
		0);
	cr_assert_lt(got.length, sizeof text);
	memcpy(text, got.bytes, got.length);
	text[got.length] = '\0';
	free(got.bytes);
	return text;
}

static const char *text(bool join)
{
	return render(RENDER_TEXT, join);
}

/* The text between <pre …> with its newline and the rows that are blank. */
static const char *html(void)
{
	static char inner[1 << 16];
	const char *whole = render(RENDER_HTML, false);
	cr_assert_eq(strncmp(whole, "<pre style=\"", 12), 0);
	const char *start = strstr(whole, "\">\n") + 3, *end = strstr(whole, "</pre>\n");
	cr_assert(end && end[7] == '\0');
	while (end > start && end[-1] == '\n')
		end--;
	memcpy(inner, start, (size_t)(end - start));
	inner[end - start] = '\0';
	return inner;
}

static const char *ansi(void)
{
	static char inner[1 << 16];
	strcpy(inner, render(RENDER_ANSI, false));
	char *end = strstr(inner, "\033[0m");
	cr_assert(end && end[4] == '\0', "does not end with a reset");
	while (end > inner && end[-1] == '\n')
		end--;
	*end = '\0';
	return inner;
}

static const char *joined(void)
{
	return text(true);
}

static const char *kept(void)
{
	return text(false);
}

static const struct {
	const char *name;
	const char *(*how)(void);
	const char *in, *want;
} examples[] = {
	{"no trailing blanks", kept, "one  \r\n\033[4Ctwo \033[41m  \033[m\r\n",
		"one\n    two\n\n\n"},
	{"soft wraps are kept", kept, "0123456789abc\r\nnext", "0123456789\nabc\nnext\n\n"},
	{"soft wraps are joined", joined, "0123456789abc\r\nnext", "0123456789abc\nnext\n\n"},
	{"blanks before a soft wrap, joined", joined, "01234    9abc", "01234    9abc\n\n\n"},
	{"blank at a soft wrap, kept", kept, "012345678 abc", "012345678\nabc\n\n\n"},
	{"blank at a soft wrap, joined", joined, "012345678 abc", "012345678 abc\n\n\n"},
	{"column left free before a wide character, kept", kept, "123456789\xe7\x95\x8c!",
		"123456789\n\xe7\x95\x8c!\n\n\n"},
	{"column left free before a wide character, joined", joined, "123456789\xe7\x95\x8c!",
		"123456789\xe7\x95\x8c!\n\n\n"},
	{"wide and combining characters", kept,
		"\xe7\x95\x8c"
		"a\r\ne\xcc\x81o\r\n\xf0\x9f\x8e\xaa",
		"\xe7\x95\x8c"
		"a\ne\xcc\x81o\n\xf0\x9f\x8e\xaa\n\n"},
	{"half of a wide character is a blank", kept, "\xe7\x95\x8c\xe7\x95\x8c\033[1;2Hx",
		" x\xe7\x95\x8c\n\n\n\n"},
	{"concealed text is included", kept, "a\033[8msecret\033[mb", "asecretb\n\n\n\n"},
	{"ANSI sets styles once and resets them at the end", ansi,
		"a\033[1;31mbc\033[0m d\r\n\033[44m  \033[m\r\n\033[4:3;58:5:9mu",
		"a\033[;1;31mbc\033[m d\n\033[;44m  \033[m\n\033[;4m\033[4:3m\033[58:5:9mu\033[m"},
	{"ANSI has links", ansi, "\033]8;id=x;http://a.b/\033\\link\033]8;;\033\\.",
		"\033]8;id=x;http://a.b/\033\\link\033]8;;\033\\."},
	{"ANSI closes links", ansi, "\033]8;id=x;http://a.b/\033\\link",
		"\033]8;id=x;http://a.b/\033\\link\033]8;;\033\\"},
	{"ANSI has no protection", ansi, "\033[1\"qprotected", "protected"},
	{"HTML escapes clusters", html, "<\xcc\xb8\"\xcc\x81", "&lt;\xcc\xb8&quot;\xcc\x81"},
	{"HTML escapes addresses", html, "\033]8;;http://a/\"><script>'&\033\\x",
		"<a rel=\"noopener noreferrer\" "
		"href=\"http://a/&quot;&gt;&lt;script&gt;&#39;&amp;\">x</a>"},
	{"HTML has one link with an id and styles in it", html,
		"\033]8;id=1;http://a/\033\\a\033[1mb\033[mc\033]8;;\033\\d",
		"<a rel=\"noopener noreferrer\" href=\"http://a/\">a<span "
		"style=\"font-weight:bold\">b</span>c</a>d"},
};

Test(render_lines, examples)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		set_up();
		drawn_type(&d, examples[i].in);
		const char *got = examples[i].how();
		cr_expect_str_eq(got, examples[i].want, "%s: %s", examples[i].name, got);
	}
}

/* The text is valid until the next call. */
static const char *render_text(struct render_options o)
{
	free(r.bytes);
	r = (struct rendered){0};
	cr_assert_eq(render_lines(d.screen, RENDER_TEXT, &o, &r), 0);
	return r.bytes ? r.bytes : "";
}

Test(render_lines, lines_have_absolute_numbers)
{
	drawn_restart(2, 10, 3);
	for (char c = 'a'; c <= 'h'; c++)
		drawn_type(&d, (char[]){'\r', '\n', c, '\0'});
	/* The first line is blank, then a to h: of 9 lines 7 have left the screen, and 3 of them are kept. */
	cr_assert_eq(screen_dropped(d.screen), 4);
	cr_expect_str_eq(render_text((struct render_options){.to = UINT64_MAX, .max = SIZE_MAX}),
		"d\ne\nf\ng\nh\n");
	cr_expect(r.from == 4 && r.to == 9);
	cr_expect_str_eq(render_text((struct render_options){.from = 5, .to = 7, .max = SIZE_MAX}),
		"e\nf\n");
	render_text((struct render_options){.from = 7, .to = 5, .max = SIZE_MAX});
	cr_expect(r.length == 0 && r.from == 7 && r.to == 7);
}

Test(render_lines, stops_at_the_limit_of_bytes)
{
	drawn_type(&d, "one\r\ntwo\r\nthree\r\nfour");
	cr_expect_str_eq(
		render_text((struct render_options){.to = UINT64_MAX, .max = 5}), "one\ntwo\n");
	cr_expect_eq(r.to, 2);
	render_text((struct render_options){.to = UINT64_MAX});
	cr_expect(r.length == 0 && r.to == 0);
}

Test(render_lines, joined_line_ends_at_the_end_of_the_range)
{
	drawn_type(&d, "0123456789abc");
	const struct render_options o = {.to = 1, .join = true, .max = SIZE_MAX};
	cr_expect_str_eq(render_text(o), "0123456789\n");
}

Test(render_lines, alternate_screen_does_not_continue_the_scrollback)
{
	drawn_restart(2, 10, 10);
	drawn_type(&d, "0123456789\r\n\n\033[?1049h\033[Hfull\r\n\033[2;1H0123456789abcdefghi");
	cr_expect_str_eq(text(true), "0123456789\n0123456789abcdefghi\n");
	drawn_type(&d, "\033[?1049l");
	cr_expect_str_eq(text(true), "0123456789\n\n\n");
}

Test(render_lines, line_longer_than_the_screen_is_cut)
{
	drawn_type(&d, "\033[?1049h\033[H0123456789");
	screen_resize(d.screen, 4, 5);
	cr_expect_str_eq(text(false), "01234\n\n\n\n");
}

Test(render_lines, ansi_draws_the_same_screen)
{
	drawn_type(&d,
		"\033[1;33;45mone\033[m \033[7mtwo\033[m\r\n\033[38;2;1;2;3mthree\r\n\033[9;53mfour");
	char *first = strdup(render(RENDER_ANSI, false)), *rest = first, *line;
	set_up();
	for (unsigned y = 0; (line = strsep(&rest, "\n")); y++) {
		drawn_type(&d, y > 0 && y < 4 ? "\r\n" : "");
		drawn_type(&d, line);
	}
	free(first);
	first = strdup(render(RENDER_ANSI, false));
	set_up();
	drawn_type(&d,
		"\033[1;33;45mone\033[m \033[7mtwo\033[m\r\n\033[38;2;1;2;3mthree\r\n\033[9;53mfour");
	cr_expect_str_eq(first, render(RENDER_ANSI, false));
	free(first);
}

Test(render_lines, html_is_escaped)
{
	drawn_restart(4, 80, 0);
	drawn_type(&d, "<script>alert(\"x\")</script> & 'y'</pre>");
	cr_expect_str_eq(html(),
		"&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;&lt;/pre&gt;");
}

Test(render_lines, html_styles)
{
	static const struct {
		const char *sgr, *want;
	} cases[] = {
		{"", "x"},
		{"1", "<span style=\"font-weight:bold\">x</span>"},
		{"31", "<span style=\"color:#f0776a\">x</span>"},
		{"1;31", "<span style=\"color:#ff9a8e;font-weight:bold\">x</span>"},
		{"94", "<span style=\"color:#9cc8fa\">x</span>"},
		{"48;5;196", "<span style=\"background:#ff0000\">x</span>"},
		{"38;2;1;2;3", "<span style=\"color:#010203\">x</span>"},
		{"7", "<span style=\"color:#101317;background:#e4e1d8\">x</span>"},
		{"8", "<span style=\"color:#101317\">x</span>"},
		{"2", "<span style=\"color:#7a7977\">x</span>"},
		{"3", "<span style=\"font-style:italic\">x</span>"},
		{"4", "<span style=\"text-decoration:underline\">x</span>"},
		{"4:3;58:2::1:2:3",
			"<span style=\"text-decoration:underline wavy #010203\">x</span>"},
		{"9;53", "<span style=\"text-decoration:line-through overline\">x</span>"},
		{"5", "x"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char sequence[64];
		set_up();
		snprintf(sequence, sizeof sequence, "\033[%smx", cases[i].sgr);
		drawn_type(&d, sequence);
		cr_expect_str_eq(html(), cases[i].want, "%s: %s", cases[i].sgr, html());
	}
}

Test(render_lines, html_has_the_colours_set_by_the_program)
{
	drawn_type(&d, "\033]4;1;#123456\033\\\033]10;#ffffff\033\\\033]11;#000000\033\\\033[31mx");
	cr_expect(strstr(render(RENDER_HTML, false), "color:#ffffff;background:#000000"));
	cr_expect_str_eq(html(), "<span style=\"color:#123456\">x</span>");
}

/* Only addresses that are safe to click become links, and nothing can break out of the attribute. */
Test(render_lines, html_links)
{
	static const struct {
		const char *uri;
		bool linked;
	} cases[] = {
		{"http://a.b/c?d=e#f", true},
		{"https://a.b/", true},
		{"HTTPS://A.B/", true},
		{"mailto:a@b", true},
		{"javascript:alert(1)", false},
		{"JavaScript:alert(1)", false},
		{" javascript:alert(1)", false},
		{"java\tscript:alert(1)", false},
		{"data:text/html,<script>alert(1)</script>", false},
		{"file:///etc/passwd", false},
		{"vbscript:x", false},
		{"http:", false},
		{"http:/a", false},
		{"//a.b/", false},
		{"/relative", false},
		{"ftp://a.b/", false},
		{"http://a b/", false},
		{"x", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char sequence[128], want[128];
		set_up();
		snprintf(sequence, sizeof sequence, "\033]8;;%s\033\\x\033]8;;\033\\y",
			cases[i].uri);
		drawn_type(&d, sequence);
		snprintf(want, sizeof want, "<a rel=\"noopener noreferrer\" href=\"%s\">x</a>y",
			cases[i].uri);
		cr_expect_str_eq(
			html(), cases[i].linked ? want : "xy", "%s: %s", cases[i].uri, html());
	}
}

Test(render_lines, html_link_that_is_too_long_is_dropped)
{
	char sequence[RENDER_HTML_LINK_MAX + 64] = "\033]8;;http://";
	memset(sequence + 12, 'a', RENDER_HTML_LINK_MAX);
	strcpy(sequence + 12 + RENDER_HTML_LINK_MAX, "\033\\x");
	drawn_type(&d, sequence);
	cr_expect_str_eq(html(), "x");
}

Test(render_lines, html_blank_first_row_is_kept)
{
	drawn_type(&d, "\r\nx");
	cr_expect(strstr(render(RENDER_HTML, false), "\">\n\nx\n\n\n</pre>\n"));
}

/* All lines as "number+count text; …", and the runs of each as "[column,columns,fg text]". */
static const char *read_lines(const struct render_options *options, bool runs)
{
	static char read[4096];
	struct render *render_state;
	struct render_line line;
	size_t at = 0;
	int rc;
	cr_assert_eq(render_create(&render_state, d.screen, options), 0);
	read[0] = '\0';
	while ((rc = render_next(render_state, &line)) > 0) {
		at += (size_t)snprintf(read + at, sizeof read - at, "%d+%u%s %.*s;",
			(int)line.number, line.count, line.wrapped ? "w" : "", (int)line.length,
			line.text);
		for (size_t i = 0; runs && i < line.run_count; i++)
			at += (size_t)snprintf(read + at, sizeof read - at, "[%u,%u,%x %.*s%s%.*s]",
				line.runs[i].column, line.runs[i].columns, line.runs[i].style.fg,
				(int)line.runs[i].length, line.runs[i].text,
				line.runs[i].link ? " " : "", (int)line.runs[i].link_length,
				line.runs[i].link ? line.runs[i].link : "");
	}
	cr_assert_eq(rc, 0);
	render_destroy(render_state);
	return read;
}

Test(render_next, lines_kept_and_joined)
{
	drawn_type(&d, "0123456789abc\r\nx");
	struct render_options o = {.to = UINT64_MAX};
	cr_expect_str_eq(read_lines(&o, false), "0+1 0123456789;1+1w abc;2+1 x;3+1 ;");
	o.join = true;
	cr_expect_str_eq(read_lines(&o, false), "0+2 0123456789abc;2+1 x;3+1 ;");
	o.from = 1;
	cr_expect_str_eq(read_lines(&o, false), "1+1w abc;2+1 x;3+1 ;");
}

Test(render_next, runs_of_one_style)
{
	drawn_type(&d, "a\033[31mb\xe7\x95\x8c\033[m\033[2Cc");
	struct render_options o = {.to = 1};
	cr_expect_str_eq(read_lines(&o, true),
		"0+1 ab\xe7\x95\x8c  c;[0,1,0 a][1,3,1000001 b\xe7\x95\x8c][4,3,0   c]");
}

Test(render_next, runs_of_joined_lines_continue)
{
	drawn_type(&d, "\033[31m0123456789ab");
	struct render_options o = {.to = 2, .join = true};
	cr_expect_str_eq(read_lines(&o, true), "0+2 0123456789ab;[0,12,1000001 0123456789ab]");
}

Test(render_next, links_are_returned_unchanged)
{
	drawn_type(&d, "\033]8;;javascript:x\033\\a\033]8;id=7;http://b/\033\\b");
	struct render_options o = {.to = 1};
	cr_expect_str_eq(read_lines(&o, true), "0+1 ab;[0,1,0 a javascript:x][1,1,0 b http://b/]");
}

Test(render_next, only_changed_lines)
{
	drawn_type(&d, "one\r\ntwo\r\n0123456789x");
	struct render_options o = {.to = UINT64_MAX, .since = screen_version(d.screen)};
	cr_expect_str_eq(read_lines(&o, false), "");
	drawn_type(&d, "\033[2;1HTWO");
	cr_expect_str_eq(read_lines(&o, false), "1+1 TWO;");
	o.since = screen_version(d.screen);
	drawn_type(&d, "\033[4;3Hy");
	cr_expect_str_eq(read_lines(&o, false), "3+1w x y;");
	/* A joined line has changed if one of its rows has. */
	o.join = true;
	cr_expect_str_eq(read_lines(&o, false), "2+2 0123456789x y;");
	/* All rows have moved. */
	drawn_type(&d, "\r\n\n");
	o.join = false;
	o.from = screen_dropped(d.screen) + screen_scrollback(d.screen);
	cr_expect_str_eq(read_lines(&o, false), "2+1 0123456789;3+1w x y;4+1 ;5+1 ;");
}

Test(render_next, lines_have_their_offsets)
{
	struct render *render_state;
	struct render_line line;
	drawn_type(&d, "one\r\ntwo\r\n");
	struct render_options o = {.from = 1, .to = 2};
	cr_assert_eq(render_create(&render_state, d.screen, &o), 0);
	cr_assert_eq(render_next(render_state, &line), 1);
	cr_expect_eq(render_position(render_state), 2);
	cr_expect(line.number == 1 && line.version > 0);
	render_destroy(render_state);
}

Test(render_next, endless_line_is_cut)
{
	drawn_restart(4, 1000, 1000);
	for (unsigned i = 0; i < 100; i++) {
		char many[1001];
		memset(many, 'x', 1000);
		many[1000] = '\0';
		drawn_type(&d, many);
	}
	struct render *render_state;
	struct render_line line;
	struct render_options o = {.to = UINT64_MAX, .join = true};
	unsigned lines = 0;
	cr_assert_eq(render_create(&render_state, d.screen, &o), 0);
	for (; render_next(render_state, &line) > 0; lines++) {
		cr_expect_eq(line.length, line.count * 1000u);
		cr_expect_leq(line.length, RENDER_JOINED_CELLS);
		cr_expect_eq(line.wrapped, lines > 0);
	}
	cr_expect_eq(lines, 7);
	render_destroy(render_state);
}

/* Random output: the HTML never has anything dangerous. */
Test(render_lines, hostile_output_gives_harmless_html)
{
	static const char *const pieces[] = {"<", ">", "&", "\"", "'", "\xcc\x81", "\xe7\x95\x8c",
		"\033[1;4:3;31;58:5:3m", "\033[m", "\033[7;44m", "\033]8;;http://x/\"'<>\033\\",
		"\033]8;id=\"<;javascript:1\033\\", "\033]8;;\033\\", "\r\n", "\033[5C", "\033[D",
		"\033[2J", "\033[H", "</pre>", "\033[?1049h", "\033[?1049l", "0123456789ab", "\b",
		"\033[3X"};
	uint64_t state = 12345;
	for (unsigned round = 0; round < 200; round++) {
		set_up();
		for (unsigned i = 0; i < 60; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			drawn_type(&d, pieces[(state >> 33) % (sizeof pieces / sizeof *pieces)]);
		}
		const char *out = render(RENDER_HTML, round % 2 == 0);
		int spans = 0, links = 0;
		for (const char *at = strchr(out, '<'); at; at = strchr(at + 1, '<')) {
			spans += (strncmp(at, "<span style=\"", 13) == 0) -
				(strncmp(at, "</span>", 7) == 0);
			links += (strncmp(at, "<a rel=\"noopener noreferrer\" href=\"http://x/",
					  43) == 0) -
				(strncmp(at, "</a>", 4) == 0);
			cr_assert(strncmp(at, "<span style=\"", 13) == 0 ||
					strncmp(at, "</span>", 7) == 0 ||
					strncmp(at, "<a rel=\"noopener noreferrer\" href=\"http",
						38) == 0 ||
					strncmp(at, "</a>", 4) == 0 ||
					strncmp(at, "<pre style=\"", 12) == 0 ||
					strcmp(at, "</pre>\n") == 0,
				"%s", at);
		}
		cr_assert(spans == 0 && links == 0, "%s", out);
	}
}
