/* Screens in the server's messages, valid and invalid. */
#include "tests/lib/json_text.h"
#include "ws/client/draw/picture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static int receive(struct picture *p, uint64_t since, const char *text)
{
	json_t *answer = json_of(text);
	int rc = picture_update(p, answer, since);
	json_decref(answer);
	return rc;
}

static void row_text(const struct picture *p, unsigned row, char *text)
{
	*text = '\0';
	for (unsigned i = 0; i < p->kept; i++) {
		const struct glyph *g = &p->cells[(size_t)row * p->kept + i].glyph;
		if (g->length > 0)
			strncat(text, g->text, g->length);
		else
			strcat(text, g->width > 0 ? "." : "");
	}
}

static void expect_row(const struct picture *p, unsigned row, const char *text)
{
	char seen[256];
	row_text(p, row, seen);
	cr_expect_str_eq(seen, text, "row %u: %s", row, seen);
}

#define SIZE "'rows':2,'cols':8,'offset':7,'next':null,'cursor':{'row':1,'col':2,'visible':true}"

Test(picture_update, changes_of_rows)
{
	struct picture p = {0};
	cr_assert_eq(receive(&p, 0,
			     "{" SIZE ",'version':3,'lines':[{'row':0,'text':'ab','cells':["
			     "{'column':0,'columns':2,'text':'ab','fg':1,'bold':true},"
			     "{'column':4,'columns':4,'text':'\xe6\xbc\xa2x','bg':'#0a0b0c'}]}]}"),
		0);
	expect_row(&p, 0, "ab..\xe6\xbc\xa2x.");
	expect_row(&p, 1, "........");
	cr_expect_eq(p.cells[0].pen.fg, 1);
	cr_expect_eq(p.cells[0].pen.attributes, PEN_BOLD);
	cr_expect_eq(p.cells[3].pen.bg, PEN_DEFAULT);
	cr_expect_eq(p.cells[7].pen.bg, PEN_RGB | 0x0a0b0c, "a run has one style");
	cr_expect_eq(p.version, 3);
	cr_expect_eq(p.cursor_row, 1);
	cr_assert_eq(receive(&p, 3,
			     "{" SIZE ",'version':4,'lines':[{'row':1,'text':'new','cells':["
			     "{'column':0,'columns':3,'text':'new'}]}]}"),
		0);
	expect_row(&p, 0, "ab..\xe6\xbc\xa2x.");
	expect_row(&p, 1, "new.....");
	picture_finish(&p);
}

Test(picture_update, changes_without_their_base_are_requested_again)
{
	struct picture p = {0};
	cr_assert_eq(receive(&p, 5, "{" SIZE ",'version':6,'lines':[]}"), -EAGAIN);
	cr_assert_eq(receive(&p, 0, "{" SIZE ",'version':6,'lines':[]}"), 0);
	cr_assert_eq(receive(&p, 6, "{'rows':3,'cols':8,'version':7,'lines':[]}"), -EAGAIN);
	cr_assert_null(p.cells);
	cr_assert_eq(p.version, 0);
}

Test(picture_update, truncated_screen_is_requested_as_plain_text)
{
	struct picture p = {0};
	cr_assert_eq(receive(&p, 0, "{'rows':1,'cols':9,'next':5,'version':6,'lines':[]}"), -EAGAIN);
	cr_assert(p.plain);
	cr_assert_eq(
		receive(&p, 0,
			"{'rows':1,'cols':9,'next':5,'version':6,'lines':[{'row':0,'text':'a b'}]}"),
		0);
	expect_row(&p, 0, "a b......");
	picture_finish(&p);
}

Test(picture_update, nothing_is_written_out_of_bounds)
{
	static const char *const runs[] = {
		"{'column':7,'columns':2,'text':'ab'}",
		"{'column':7,'columns':1,'text':'\xe6\xbc\xa2'}",
		"{'column':99999,'columns':99999,'text':'a'}",
		"{'column':-5,'columns':-1,'text':'a'}",
		"{'column':0,'columns':1,'text':'abcdefghijkl'}",
		"{'column':'x','columns':[],'text':7,'fg':-1,'bg':'#gggggg'}",
		"{'column':0,'columns':4,'text':'\\u001b[2J','fg':999,'bg':'#1'}",
		"7",
	};
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		struct picture p = {0};
		char text[600], seen[64];
		snprintf(text, sizeof text,
			"{" SIZE
			",'version':1,'lines':[{'row':0,'cells':[%s]},{'row':2,'cells':[%s]},"
			"{'row':-1,'cells':[]},{'row':99999999999,'cells':[]},7]}",
			runs[i], runs[i]);
		cr_assert_eq(receive(&p, 0, text), 0);
		row_text(&p, 0, seen);
		cr_expect_null(strchr(seen, '\033'));
		picture_finish(&p);
	}
}

Test(picture_update, unusual_sizes)
{
	static const char *const answers[] = {
		"{}", "{'rows':0,'cols':5}", "{'rows':5,'cols':-1}", "{'rows':'5','cols':5}"};
	struct picture p = {0};
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		cr_expect_eq(receive(&p, 0, answers[i]), -EPROTO, "case %zu", i);
	cr_assert_eq(
		receive(&p, 0,
			"{'rows':99999999999,'cols':99999999999,'cursor':{'row':99999,'col':-4}}"),
		0);
	cr_expect_eq(p.rows, PICTURE_ROWS_MAX);
	cr_expect_eq(p.kept, PICTURE_COLS_MAX);
	cr_expect_lt(p.cursor_row, p.rows);
	picture_finish(&p);
}
