#include "shell/exec/seal.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct typed {
	char text[SEAL_TYPED + 1], mark[SEAL_DIGITS + 1], record[SEAL_DIGITS + 1];
};

static void make(struct seal *seal, struct typed *t)
{
	const size_t lead = sizeof SEAL_LEAD - 1;
	cr_assert_eq(seal_make(seal, t->text), 0);
	cr_assert_eq(strlen(t->text), SEAL_TYPED);
	cr_assert_eq(strncmp(t->text, SEAL_LEAD, lead), 0);
	snprintf(t->mark, sizeof t->mark, "%.*s", (int)SEAL_DIGITS, t->text + lead);
	snprintf(t->record, sizeof t->record, "%s", t->text + lead + SEAL_DIGITS);
}

Test(seal, each_part_proves_its_own_kind)
{
	struct seal seal, other;
	struct typed t, u;
	make(&seal, &t);
	make(&other, &u);
	cr_assert(seal_matches(&seal, SEAL_MARK, t.mark));
	cr_assert(seal_matches(&seal, SEAL_RECORD, t.record));
	const char *const wrong[] = {"", "0123456789abcdef", t.text, u.mark, u.record};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		for (int part = SEAL_MARK; part <= SEAL_RECORD; part++)
			cr_assert_not(seal_matches(&seal, (enum seal_part)part, wrong[i]), "%zu", i);
	cr_assert_not(
		seal_matches(&seal, SEAL_RECORD, t.mark), "a mark's seal does not seal a record");
	cr_assert_not(seal_matches(&seal, SEAL_MARK, t.record));
	cr_assert_not(seal_matches(&(struct seal){.made = false}, SEAL_MARK, ""));
}

Test(seal, next_server_has_only_the_digests)
{
	char text[SEAL_TEXT + 1];
	struct seal seal, next;
	struct typed t;
	make(&seal, &t);
	seal_write(&seal, text);
	cr_assert_eq(strlen(text), SEAL_TEXT);
	cr_assert_null(strstr(text, t.mark));
	seal_read(&next, text);
	cr_assert(seal_matches(&next, SEAL_MARK, t.mark));
	cr_assert(seal_matches(&next, SEAL_RECORD, t.record));
	text[5] = 'x';
	seal_read(&next, text);
	cr_assert_not(next.made, "no digit");
	seal_read(&next, "");
	cr_assert_not(next.made);
	seal_write(&next, text);
	cr_assert_str_eq(text, "");
}
