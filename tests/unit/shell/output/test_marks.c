#include "shell/output/marks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define NONCE "abc"
#define AID ";aid=abc"

struct seen {
	char text[4096];
	size_t length;
	uint64_t next; /* offset that the next bytes must have */
};

static void on_text(void *user, uint64_t offset, const void *bytes, size_t length)
{
	struct seen *s = user;
	cr_assert_eq(offset, s->next);
	s->next += length;
	memcpy(s->text + s->length, bytes, length);
	s->length += length;
}

static void on_mark(void *user, const struct mark *m)
{
	static const char kinds[] = {[MARK_PROMPT] = 'A',
		[MARK_INPUT] = 'B',
		[MARK_CONTINUATION] = 'P',
		[MARK_CONTINUED] = 'E',
		[MARK_START] = 'C',
		[MARK_END] = 'D'};
	struct seen *s = user;
	cr_assert_eq(m->start, s->next);
	s->next = m->end;
	s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length, "<%c %s %d>",
		kinds[m->kind], m->id, m->status);
}

/* Feed in pieces of every size; the text with its marks must be `wanted`. */
static void check(const char *bytes, const char *wanted)
{
	size_t length = strlen(bytes);
	for (size_t step = 1; step <= length; step++) {
		struct marks m = {.length = 0};
		struct seen seen = {.next = 1000};
		const struct marks_callbacks callbacks = {
			.text = on_text, .mark = on_mark, .user = &seen};
		for (size_t at = 0; at < length; at += step)
			marks_feed(&m, NONCE, 1000 + at, bytes + at,
				length - at < step ? length - at : step, &callbacks);
		cr_assert_leq(m.length, MARK_MAX);
		memcpy(seen.text + seen.length, m.text, m.length);
		seen.text[seen.length + m.length] = '\0';
		cr_assert_str_eq(seen.text, wanted, "in steps of %zu", step);
	}
}

Test(marks, every_kind)
{
	check("a\033]133;A" AID "\ab\033]133;B" AID "\ac\033]133;C" AID "\ad\033]133;C" AID
	      ";id=e1\ae\033]133;D;4" AID ";id=e1\af\033]133;D" AID "\ag\033]133;P;k=s" AID
	      "\ah\033]133;P;k=e" AID "\ai",
		"a<A  -1>b<B  -1>c<C  -1>d<C e1 -1>e<D e1 4>f<D  -1>g<P  -1>h<E  -1>i");
}

Test(marks, status_is_valid_or_missing)
{
	static const struct {
		const char *field;
		int status;
	} cases[] = {{"0", 0}, {"255", 255}, {"256", -1}, {"4294967296", -1},
		{"99999999999999999999", -1}, {"-1", -1}, {"1x", -1}, {"", -1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char bytes[64], wanted[64];
		snprintf(bytes, sizeof bytes, "\033]133;D;%s" AID "\a", cases[i].field);
		snprintf(wanted, sizeof wanted, "<D  %d>", cases[i].status);
		check(bytes, wanted);
	}
}

static void ignore_text(void *user, uint64_t offset, const void *bytes, size_t length)
{
	(void)user;
	(void)offset;
	(void)bytes;
	(void)length;
}

static void read_time(void *user, const struct mark *mark)
{
	*(uint64_t *)user = mark->time_us;
}

Test(marks, time_is_valid_or_missing)
{
	static const struct {
		const char *field;
		uint64_t time_us;
	} cases[] = {{"1795275017.143295", 1795275017143295},
		{"1795275017,000999", 1795275017000999}, {"1.-00001", 0}, {"-1.000000", 0},
		{"1.00000", 0}, {"4294967296.000000", 0}, {"", 0}, {"1", 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char bytes[96];
		uint64_t time_us = 1;
		struct marks m = {.length = 0};
		const struct marks_callbacks c = {
			.text = ignore_text, .mark = read_time, .user = &time_us};
		int length = snprintf(
			bytes, sizeof bytes, "\033]133;C" AID ";t=%s\a", cases[i].field);
		marks_feed(&m, NONCE, 0, bytes, (size_t)length, &c);
		cr_assert_eq(time_us, cases[i].time_us, "%s", cases[i].field);
	}
}

Test(marks, marks_of_other_programs_are_text)
{
	static const char *const texts[] = {"\033]133;A\a", "\033]133;A;aid=abcd\a",
		"\033]133;A;aid=ab\a", "\033]133;A;aid=\a", "\033]133;X" AID "\a",
		"\033]133;AB" AID "\a", "\033]133;P" AID "\a", "\033]633;A" AID "\a",
		"\033]133;A" AID "\033\\", "\033]133;A" AID "\n", "\033[m\033\033]13",
		"\033]133;A" AID ";x=\303\244\a", "\033]1\033]13\033]133;\033]133;A;\033"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		check(texts[i], texts[i]);
}

Test(marks, mark_cut_short_by_another)
{
	check("\033]133;A" AID "\033]133;B" AID "\a", "\033]133;A" AID "<B  -1>");
	check("\033\033\033]133;B" AID "\a.", "\033\033<B  -1>.");
}

Test(marks, too_long_mark_is_text)
{
	char bytes[2 * MARK_MAX + 64] = "\033]133;D;0" AID ";id=e;pad=";
	memset(bytes + strlen(bytes), 'x', 2 * MARK_MAX);
	strcat(bytes, "\a");
	check(bytes, bytes);
}
