#include "ring/screen/effects.h"
#include "tests/lib/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char heard[1 << 16];

static void hear(const char *before, const char *text, size_t length, const char *behind)
{
	size_t used = strlen(heard);
	snprintf(heard + used, sizeof heard - used, "%s%.*s%s", before, (int)length, text, behind);
}

static void on_reply(void *user, const char *bytes, size_t length)
{
	cr_assert_eq(user, &heard);
	hear("reply:", bytes, length, " ");
}

static void on_event(void *user, const struct screen_event *e)
{
	char head[96];
	cr_assert_eq(user, &heard);
	cr_assert_eq(e->text[e->length], '\0');
	snprintf(head, sizeof head, "%d@%llu,%llu,%u,%d:", (int)e->type,
		(unsigned long long)e->offset, (unsigned long long)e->line, e->column, e->number);
	hear(head, e->text, e->length, e->detail ? "[" : " ");
	if (e->detail)
		hear("", e->detail, e->detail_length, "] ");
}

static const struct screen_callbacks callbacks = {.reply = on_reply, .event = on_event};

static struct screen_event event(enum screen_event_type type, const char *text)
{
	return (struct screen_event){.type = type,
		.offset = 7,
		.line = 3,
		.column = 5,
		.number = 133,
		.text = text,
		.length = strlen(text)};
}

Test(effects, all_of_it_in_its_order_and_once)
{
	struct effects s = {0};
	struct screen_event title = event(SCREEN_TITLE, "a title"),
			    note = event(SCREEN_NOTIFICATION, "");
	note.detail = "detail";
	note.detail_length = 6;
	effects_reply(&s, "\033[1;1R", 6);
	effects_event(&s, &title);
	effects_event(&s, &note);
	effects_reply(&s, "", 0);
	effects_deliver(&s, &callbacks, &heard);
	cr_assert_str_eq(heard, "reply:\033[1;1R 1@7,3,5,133:a title 4@7,3,5,133:[detail] reply: ");
	heard[0] = '\0';
	effects_deliver(&s, &callbacks, &heard);
	cr_assert_str_eq(heard, "");
	effects_finish(&s);
	ASSERT_NO_LEAKS();
}

Test(effects, bells_in_a_row_are_one)
{
	struct effects s = {0};
	struct screen_event bell = event(SCREEN_BELL, ""), icon = event(SCREEN_ICON, "i");
	for (int i = 0; i < 3; i++)
		effects_event(&s, &bell);
	effects_event(&s, &icon);
	effects_event(&s, &bell);
	effects_reply(&s, "r", 1);
	effects_event(&s, &bell);
	effects_event(&s, &bell);
	effects_deliver(&s, &callbacks, &heard);
	effects_event(&s, &bell);
	effects_deliver(&s, &callbacks, &heard);
	cr_assert_str_eq(heard,
		"0@7,3,5,133: 2@7,3,5,133:i 0@7,3,5,133: reply:r 0@7,3,5,133: 0@7,3,5,133: ");
	effects_finish(&s);
}

Test(effects, is_bounded_and_says_what_it_lost)
{
	struct effects s = {0};
	static char text[4096];
	memset(text, 'x', sizeof text - 1);
	struct screen_event title = event(SCREEN_TITLE, text);
	for (unsigned i = 0; i < 2 * EFFECTS_MAX / sizeof text; i++)
		effects_event(&s, &title);
	cr_assert_leq(s.length, EFFECTS_MAX);
	cr_assert_gt(s.lost, EFFECTS_MAX / sizeof text / 2);
	static const struct screen_callbacks deaf = {0};
	effects_deliver(&s, &deaf, NULL);
	cr_assert_null(s.bytes, "so much is not kept");
	cr_assert_gt(s.lost, 0);
	effects_finish(&s);
	ASSERT_NO_LEAKS();
}
