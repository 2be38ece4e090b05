#include "streams.h"

#include "../lib/random.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
/* A random element. */
#define ANY(r, array) ((array)[random_below((r), COUNT(array))])

struct stream {
	char *dst;
	size_t cap, length;
	bool full; /* something did not fit: the unit in progress is dropped */
	struct random random;
};

static const char *const names[STREAM_KINDS] = {
	"text", "seq", "compiler", "redraw_80x24", "redraw_200x50"};

static const char *const words[] = {"the", "ring", "length", "of", "session", "reader", "offset",
	"a", "is", "not", "terminal", "bytes", "when", "client", "resumes", "history", "and",
	"line", "without", "holder", "error", "snapshot", "in", "to"};

static const char *const names_c[] = {"ring", "offset", "reader", "p->next", "i", "length",
	"session_find", "s->cols", "bytes", "table[i]", "buffer", "NULL", "EINVAL", "size_t", "ret",
	"malloc", "stream", "cell", "width", "row"};

static const char *const paths[] = {"ring/ring.c", "ring/history.c", "shell/session/session.c",
	"ws/socket/terminal.c", "pty/link.c", "main.c", "tests/unit/ring/test_history.c"};

static void put(struct stream *s, const char *text)
{
	size_t n = strlen(text);
	if (n > s->cap - s->length) {
		s->full = true;
		return;
	}
	memcpy(s->dst + s->length, text, n);
	s->length += n;
}

static void putf(struct stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void putf(struct stream *s, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	put(s, text);
}

static void put_times(struct stream *s, const char *text, unsigned times)
{
	while (times-- > 0)
		put(s, text);
}

static unsigned below(struct stream *s, unsigned n)
{
	return (unsigned)random_below(&s->random, n);
}

/* Text */

static void code_line(struct stream *s)
{
	struct random *r = &s->random;
	put_times(s, "\t", below(s, 4));
	switch (below(s, 6)) {
	case 0:
		putf(s, "if (%s < %s && !%s)", ANY(r, names_c), ANY(r, names_c), ANY(r, names_c));
		break;
	case 1:
		putf(s, "%s = %s(%s, %u);", ANY(r, names_c), ANY(r, names_c), ANY(r, names_c),
			below(s, 4096));
		break;
	case 2:
		putf(s, "for (size_t i = 0; i < %s; i++) {", ANY(r, names_c));
		break;
	case 3:
		put(s, "}");
		break;
	case 4:
		putf(s, "return %s->%s; /* %s %s %s %s */", ANY(r, names_c), ANY(r, names_c),
			ANY(r, words), ANY(r, words), ANY(r, words), ANY(r, words));
		break;
	default:
		break;
	}
}

static void prose_line(struct stream *s)
{
	static const char *const foreign[] = {"größer", "naïve", "żółć", "Ελληνικά", "кириллица",
		"日本語", "終端", "한국어", "中文，", "עברית", "e\xcc\x81te\xcc\x81", "🚀",
		"👩\xe2\x80\x8d💻", "✔️", "→", "“quoted”", "½", "─────", "▁▂▃▄▅▆▇█"};
	unsigned count = 6 + below(s, 10), every = 2 + below(s, 8);
	for (unsigned i = 0; i < count; i++) {
		put(s, below(s, every) == 0 ? ANY(&s->random, foreign) : ANY(&s->random, words));
		put(s, i + 1 < count ? " " : ".");
	}
}

static void data_line(struct stream *s)
{
	uint64_t n = random_next(&s->random);
	putf(s, "%08x  %016llx %016llx  |%c%c%c%c....%c..%c|", (unsigned)(n >> 40) * 16,
		(unsigned long long)n, (unsigned long long)(n * 0x9e3779b97f4a7c15),
		(int)('a' + n % 26), (int)('a' + n % 25), (int)('a' + n % 24), (int)('A' + n % 23),
		(int)('A' + n % 22), (int)('0' + n % 10));
}

/* JSON without a line break, hundreds or thousands of columns long. */
static void long_line(struct stream *s)
{
	unsigned count = 5 + below(s, 80);
	put(s, "{\"items\":[");
	for (unsigned i = 0; i < count; i++)
		putf(s, "{\"id\":%u,\"name\":\"%s %s\",\"size\":%u},", i, ANY(&s->random, words),
			ANY(&s->random, words), below(s, 100000));
	put(s, "null]}");
}

static void make_text(struct stream *s, unsigned n)
{
	(void)n;
	unsigned kind = below(s, 100);
	if (kind < 50)
		code_line(s);
	else if (kind < 80)
		prose_line(s);
	else if (kind < 98)
		data_line(s);
	else
		long_line(s);
	put(s, "\r\n");
}

static void make_seq(struct stream *s, unsigned n)
{
	putf(s, "%u\r\n", n + 1);
}

/* A compiler's log */

struct warning {
	const char *colour, *word, *text, *option;
};

static void diagnostic(struct stream *s)
{
	static const struct warning warnings[] = {
		{"01;35", "warning", "unused variable", "unused-variable"},
		{"01;35", "warning", "conversion may change the value of", "conversion"},
		{"01;35", "warning", "suggest parentheses around", "parentheses"},
		{"01;31", "error", "implicit declaration of", "implicit-function-declaration"},
		{"01;36", "note", "previous declaration of", "shadow"},
	};
	const struct warning *w = &ANY(&s->random, warnings);
	const char *path = ANY(&s->random, paths), *name = ANY(&s->random, names_c);
	unsigned line = 1 + below(s, 900), column = 9 + below(s, 20);
	if (below(s, 3) == 0)
		putf(s, "\033[01m\033[K%s:\033[m\033[K In function ‘\033[01m\033[K%s\033[m\033[K’:\r\n",
			path, ANY(&s->random, names_c));
	putf(s,
		"\033[01m\033[K%s:%u:%u:\033[m\033[K \033[%sm\033[K%s: \033[m\033[K%s ‘\033[01m\033[K%s"
		"\033[m\033[K’ ",
		path, line, column, w->colour, w->word, w->text, name);
	putf(s,
		"[\033[%sm\033[K\033]8;;https://gcc.gnu.org/onlinedocs/gcc/Warning-Options.html#index-W%s"
		"\a-W%s\033]8;;\a\033[m\033[K]\r\n",
		w->colour, w->option, w->option);
	putf(s, "%5u | %*s\033[%sm\033[K%s\033[m\033[K = %s + %u;\r\n", line, (int)column - 1, "",
		w->colour, name, ANY(&s->random, names_c), below(s, 100));
	putf(s, "      | %*s\033[%sm\033[K^", (int)column - 1, "", w->colour);
	put_times(s, "~", (unsigned)strlen(name) - 1);
	put(s, "\033[m\033[K\r\n");
}

static void make_compiler(struct stream *s, unsigned n)
{
	unsigned kind = below(s, 10);
	if (kind < 5)
		diagnostic(s);
	else if (kind < 8)
		putf(s,
			"[\033[32m%u\033[0m/\033[32m99999\033[0m] \033[1mCompiling\033[0m C object "
			"build/%s.p/%s_%u.c.o\r\n",
			n, ANY(&s->random, words), ANY(&s->random, words), below(s, 1000));
	else
		putf(s,
			"cc -Iring -I. -fdiagnostics-color=always -Wall -Winvalid-pch -Wextra -std=c17 -O3 "
			"-D_GNU_SOURCE -MD -MQ %s.p/%s.c.o -o build/%s.p/%s.c.o -c %s\r\n",
			ANY(&s->random, words), ANY(&s->random, words), ANY(&s->random, words),
			ANY(&s->random, words), ANY(&s->random, paths));
}

/* Full screens */

struct screen {
	struct stream *stream;
	unsigned cols, rows;
};

/* A meter of htop, of a given width. */
static void meter(struct stream *s, const char *name, unsigned width)
{
	unsigned bar = width - 8, used = below(s, bar), green = used / 2;
	putf(s, "\033[36m%s\033[39m\033[1m[\033[22m\033[32m", name);
	put_times(s, "|", green);
	put(s, "\033[31m");
	put_times(s, "|", used - green);
	putf(s, "\033[1m\033[30m%*s%3u%%\033[39m]\033[0m", (int)(bar - used), "", used * 100 / bar);
}

static void process_row(const struct screen *on, unsigned row, bool selected)
{
	struct stream *s = on->stream;
	unsigned percent = below(s, 1000);
	putf(s, "\033[%u;1H%s%7u \033[%smroot     \033[%sm 20   0 \033[32m%4uM %4uM\033[%sm %4u ",
		row, selected ? "\033[30;46m" : "", 1 + below(s, 99999), selected ? "30" : "90",
		selected ? "30" : "39", below(s, 9999), below(s, 999), selected ? "30" : "39",
		below(s, 999));
	putf(s, "%s %s%3u.%u\033[%sm %2u:%02u.%02u ", below(s, 9) ? "S" : "\033[32mR\033[39m",
		percent > 500 ? "\033[1;31m" : "", percent / 10, percent % 10,
		selected ? "22;30" : "0", below(s, 60), below(s, 60), below(s, 100));
	const char *word = ANY(&s->random, paths);
	for (unsigned left = on->cols - 60; left > 1; word = ANY(&s->random, words)) {
		unsigned length = (unsigned)strlen(word) + 1;
		putf(s, "%.*s ", (int)left - 1, word);
		left -= length < left ? length : left;
	}
	put(s, selected ? "\033[K\033[m" : "\033[K");
}

static void draw_htop(const struct screen *on)
{
	static const char *const meters[] = {"  0", "  1", "Mem"};
	struct stream *s = on->stream;
	unsigned half = on->cols / 2;
	for (unsigned row = 1; row <= 3; row++) {
		putf(s, "\033[%u;1H  ", row);
		meter(s, meters[row - 1], half - 2);
		putf(s, " \033[%uG Tasks: \033[1;36m%u\033[0m, \033[32m%u\033[0m running\033[K",
			half + 1, below(s, 500), below(s, 9));
	}
	putf(s,
		"\033[4;1H\033[K\033[5;1H\033[30;42m    PID USER      PRI  NI  VIRT   RES   SHR S \033[46m"
		"CPU%%\033[42m   TIME+  Command\033[K\033[m");
	unsigned selected = 6 + below(s, on->rows - 6);
	for (unsigned row = 6; row < on->rows; row++)
		process_row(on, row, row == selected);
	putf(s, "\033[%u;1H", on->rows);
	static const char *const keys[] = {"Help  ", "Setup ", "Search", "Filter", "Tree  ",
		"SortBy", "Nice -", "Nice +", "Kill  ", "Quit"};
	for (unsigned i = 0; i < COUNT(keys); i++)
		putf(s, "F%u\033[30;46m%s\033[m", i + 1, keys[i]);
	put(s, "\033[K");
}

static void code_row(const struct screen *on, unsigned row, unsigned line)
{
	static const char *const colours[] = {
		"38;5;130", "32", "35", "36", "1;34", "38;2;200;120;40"};
	struct stream *s = on->stream;
	unsigned indent = below(s, 4) * 8, used = 4 + indent, end = indent + below(s, on->cols - 32);
	putf(s, "\033[%u;1H\033[38;5;130m%3u \033[m%*s", row, line % 1000, (int)indent, "");
	while (used + 24 < on->cols && used < end) {
		const char *name = ANY(&s->random, names_c);
		if (below(s, 3) == 0)
			putf(s, "\033[%sm%s\033[m ", ANY(&s->random, colours), name);
		else
			putf(s, "%s ", name);
		used += (unsigned)strlen(name) + 1;
	}
	if (below(s, 8) == 0)
		put(s, "\033[34m/* größer, 日本 */\033[m");
	put(s, "\033[K");
}

static void draw_vim(const struct screen *on)
{
	struct stream *s = on->stream;
	unsigned line = below(s, 900);
	for (unsigned row = 1; row + 1 < on->rows; row++) {
		if (row + 8 > on->rows && line % 4 == 0)
			putf(s, "\033[%u;1H\033[1;34m~\033[m\033[K", row);
		else
			code_row(on, row, line + row);
	}
	putf(s, "\033[%u;1H\033[1;7m%s [+]%*s%4u,%-3u %3u%%\033[m\033[K", on->rows - 1,
		ANY(&s->random, paths), (int)on->cols - 48, "", line, below(s, 80), below(s, 100));
	putf(s, "\033[%u;1H\033[1m-- INSERT --\033[m\033[K\033[%u;%uH", on->rows,
		1 + below(s, on->rows - 2), 5 + below(s, on->cols - 5));
}

static void draw(const struct screen *on, unsigned n)
{
	struct stream *s = on->stream;
	if (n == 0)
		put(s, "\033[?1049h\033[22;0;0t\033[?1h\033=\033[H\033[2J");
	put(s, "\033[?25l");
	if (n % 2 == 0)
		draw_htop(on);
	else
		draw_vim(on);
	put(s, "\033[?25h");
}

static void make_small(struct stream *s, unsigned n)
{
	draw(&(struct screen){s, 80, 24}, n);
}

static void make_large(struct stream *s, unsigned n)
{
	draw(&(struct screen){s, 200, 50}, n);
}

const char *stream_name(enum stream_kind kind)
{
	return names[kind];
}

size_t stream_make(enum stream_kind kind, uint8_t *dst, size_t cap)
{
	static void (*const makers[STREAM_KINDS])(struct stream *, unsigned) = {
		make_text, make_seq, make_compiler, make_small, make_large};
	struct stream s = {.dst = (char *)dst, .cap = cap, .random = {.state = 1 + kind}};
	size_t whole = 0;
	for (unsigned n = 0; !s.full; n++) {
		whole = s.length;
		makers[kind](&s, n);
	}
	return whole;
}

size_t stream_without_links(uint8_t *bytes, size_t length)
{
	static const char link[] = "\033]8;";
	uint8_t *to = bytes, *at = bytes, *end = bytes + length, *next;
	while (at < end && (next = memmem(at, (size_t)(end - at), link, strlen(link)))) {
		memmove(to, at, (size_t)(next - at));
		to += next - at;
		at = memchr(next, '\a', (size_t)(end - next));
		at = at ? at + 1 : end;
	}
	memmove(to, at, (size_t)(end - at));
	return (size_t)(to - bytes) + (size_t)(end - at);
}
