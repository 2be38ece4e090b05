#include "ring/screen/grid/line.h"
#include "ring/screen/grid/style.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct cell blank = {0};

/*
 * Lines as text: a character for a narrow cell, "<>" for a wide character, '.' for an untouched cell, '_' for an
 * empty cell with a style.
 */
static struct line *make(const char *text)
{
	struct line *line = line_create((unsigned)strlen(text));
	for (unsigned i = 0; text[i]; i++) {
		if (text[i] == '.')
			continue;
		struct cell cell = cell_make((uint8_t)text[i], 1, 0);
		if (text[i] == '<')
			cell = cell_make(0x4e00, 2, 0);
		else if (text[i] == '>')
			cell = cell_make(0, 0, 0);
		else if (text[i] == '_')
			cell = cell_make(0, 1, 7);
		line_put(line, i, cell);
	}
	return line;
}

static void expect(struct line *line, const char *want)
{
	char got[64] = "";
	for (unsigned i = 0; i < line->length && i < sizeof got - 1; i++) {
		struct cell cell = line->cells[i];
		got[i] = cell_is_untouched(cell)  ? '.'
			: cell_width(cell) == 2   ? '<'
			: cell_is_tail(cell)      ? '>'
			: !cell_has_content(cell) ? '_'
						  : (char)(cell.text & CELL_CODE);
	}
	cr_expect_str_eq(got, want);
	cr_expect_leq(line->used, line->length);
	for (unsigned i = line->used; i < line->length; i++)
		cr_expect(cell_is_untouched(line->cells[i]), "column %u of %s", i, got);
	free(line);
}

Test(cell, width_is_kept)
{
	for (unsigned width = 0; width <= 2; width++)
		cr_expect_eq(cell_width(cell_make('x', width, 3)), width);
	cr_expect_eq(cell_width(blank), 1);
}

Test(cell, tail_differs_from_a_lone_mark)
{
	cr_expect(cell_is_tail(cell_make(0, 0, 5)));
	cr_expect_not(cell_is_tail(cell_make(0x301, 0, 5)));
	cr_expect_not(cell_is_tail(blank));
}

Test(cell, untouched_cell_has_neither_text_nor_style)
{
	cr_expect(cell_is_untouched(blank));
	cr_expect_not(cell_is_untouched(cell_make(' ', 1, 0)));
	cr_expect_not(cell_is_untouched((struct cell){.style = 1}));
}

Test(line_put, positions_after_the_end_are_ignored)
{
	struct line *line = line_create(3);
	line_put(line, 3, cell_make('x', 1, 0));
	line_put(line, 100, cell_make('x', 1, 0));
	expect(line, "...");
}

static void expect_copied(const char *from, unsigned length, const char *want)
{
	struct line *line = make(from), *copy = line_create(length);
	line->wrapped = true;
	line->offset = 7;
	line_copy(copy, line);
	cr_expect(copy->wrapped && copy->offset == 7);
	expect(copy, want);
	expect(line, from);
}

Test(line_copy, copy_to_a_longer_line)
{
	expect_copied("ab", 5, "ab...");
}

Test(line_copy, copy_to_a_shorter_line_is_cut)
{
	expect_copied("abcd", 2, "ab");
}

Test(line_unref, last_reference_frees_the_line)
{
	struct line *line = make("a");
	line->shares = 1;
	line_unref(line);
	line_unref(NULL);
	cr_expect_eq(line->shares, 0);
	line_unref(line);
}

Test(line_set, only_existing_cells_are_set)
{
	struct line *line = make("abcd");
	line_set(line, 2, 100, cell_make('x', 1, 0));
	expect(line, "abxx");
	line = make("abcd");
	line_set(line, 3, 2, cell_make('x', 1, 0));
	expect(line, "abcd");
}

Test(line_set, trailing_blanks_are_dropped)
{
	struct line *line = make("abcd");
	line_set(line, 1, 4, blank);
	cr_expect_eq(line->used, 1);
	expect(line, "a...");
}

Test(line_fill, fills_every_cell)
{
	struct line *line = make("a<>..");
	line_fill(line, cell_make('E', 1, 0));
	expect(line, "EEEEE");
}

struct edit {
	const char *name, *before;
	unsigned pos, n;
	const char *want;
};

static void run(const struct edit *cases, size_t count,
	void (*edit)(struct line *line, unsigned pos, unsigned n, struct cell blank))
{
	for (size_t i = 0; i < count; i++) {
		struct line *line = make(cases[i].before);
		edit(line, cases[i].pos, cases[i].n, (struct cell){.style = 7});
		expect(line, cases[i].want);
	}
}

Test(line_insert, examples)
{
	static const struct edit cases[] = {
		{"at the start", "abcd", 0, 1, "_abc"},
		{"in the middle", "abcd.", 1, 2, "a__bc"},
		{"all", "abcd", 0, 4, "____"},
		{"more cells than the line has", "abcd", 2, 4000000000u, "ab__"},
		{"into untouched", "ab....", 4, 1, "ab.._."},
		{"into a wide character", "<>cd", 1, 1, "__>c"},
		{"a wide character is cut at the end", "ab<>", 0, 1, "_ab_"},
		{"a wide character leaves", "ab<>", 0, 2, "__ab"},
	};
	run(cases, sizeof cases / sizeof *cases, line_insert);
}

Test(line_delete, examples)
{
	static const struct edit cases[] = {
		{"at the start", "abcd", 0, 1, "bcd_"},
		{"in the middle", "abcd.", 1, 2, "ad.__"},
		{"all", "abcd", 0, 4, "____"},
		{"more cells than the line has", "abcd", 2, 4000000000u, "ab__"},
		{"after the used cells", "ab....", 3, 1, "ab..._"},
		{"the tail of a wide character", "<>cd", 1, 1, "_cd_"},
		{"the head of a wide character", "a<>d", 1, 1, "a_d_"},
	};
	run(cases, sizeof cases / sizeof *cases, line_delete);
}

static void erase(struct line *line, unsigned pos, unsigned n, struct cell with)
{
	line_erase(line, pos, pos + n, with, NULL);
}

Test(line_erase, examples)
{
	static const struct edit cases[] = {
		{"a stretch", "abcd", 1, 2, "a__d"},
		{"beyond the end", "abcd", 2, 100, "ab__"},
		{"nothing", "abcd", 2, 0, "abcd"},
		{"from a tail on", "<>cd", 1, 1, "__cd"},
		{"up to a head", "a<>d", 0, 2, "___d"},
		{"a whole wide character", "a<>d", 1, 2, "a__d"},
	};
	run(cases, sizeof cases / sizeof *cases, erase);
}

Test(line_erase, protected_cells_are_spared)
{
	struct intern styles;
	intern_init(&styles, 100, 10000);
	uint32_t style = intern_put(
		&styles, &(struct style){.flags = STYLE_PROTECTED}, sizeof(struct style));
	struct line *line = make("abcd");
	line->cells[1].style = line->cells[2].style = style;
	line_erase(line, 0, 4, blank, &styles);
	expect(line, ".bc.");
	intern_finish(&styles);
}

Test(line_trimmed, ends_at_the_last_content)
{
	static const struct {
		const char *text;
		unsigned trimmed, extent;
	} cases[] = {{"....", 0, 0}, {"ab..", 2, 2}, {"a_..", 1, 2}, {"<>..", 2, 2}, {"a.b.", 3, 3},
		{"__", 0, 2}, {"a <>", 4, 4}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct line *line = make(cases[i].text);
		cr_expect_eq(line_trimmed(line), cases[i].trimmed, "%s", cases[i].text);
		cr_expect_eq(line_extent(line), cases[i].extent, "%s", cases[i].text);
		free(line);
	}
}

Test(line_trimmed, looks_only_at_used_cells)
{
	struct line *line = make("abcd");
	line_set(line, 0, 4, blank);
	cr_expect_eq(line_trimmed(line), 0);
	cr_expect_eq(line_extent(line), 0);
	free(line);
}
