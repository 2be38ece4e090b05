#include "ring/screen/effects.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char recorded[1 << 16];

static void record_effect(const char *before, const char *text, size_t length, const char *behind)
{
	size_t used = strlen(recorded);
	snprintf(recorded + used, sizeof recorded - used, "%s%.*s%s", before, (int)length, text,
		behind);
}

static void on_reply(void *user, const char *bytes, size_t length)
{
	cr_assert_eq(user, &recorded);
	record_effect("reply:", bytes, length, " ");
}

static void on_event(void *user, const struct screen_event *e)
{
	char head[96];
	cr_assert_eq(user, &recorded);
	cr_assert_eq(e->text[e->length], '\0');
	snprintf(head, sizeof head, "%d@%llu,%llu,%u,%d:", (int)e->type,
		(unsigned long long)e->offset, (unsigned long long)e->line, e->column, e->number);
	record_effect(head, e->text, e->length, e->detail ? "[" : " ");
	if (e->detail)
		record_effect("", e->detail, e->detail_length, "] ");
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

Test(effects, are_delivered_once_in_order)
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
	effects_deliver(&s, &callbacks, &recorded);
	cr_assert_str_eq(
		recorded, "reply:\033[1;1R 1@7,3,5,133:a title 4@7,3,5,133:[detail] reply: ");
	recorded[0] = '\0';
	effects_deliver(&s, &callbacks, &recorded);
	cr_assert_str_eq(recorded, "");
	effects_finish(&s);
}

Test(effects, consecutive_bells_are_one)
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
	effects_deliver(&s, &callbacks, &recorded);
	effects_event(&s, &bell);
	effects_deliver(&s, &callbacks, &recorded);
	cr_assert_str_eq(recorded,
		"0@7,3,5,133: 2@7,3,5,133:i 0@7,3,5,133: reply:r 0@7,3,5,133: 0@7,3,5,133: ");
	effects_finish(&s);
}

Test(effects, are_bounded_and_count_what_is_lost)
{
	struct effects s = {0};
	static char text[4096];
	memset(text, 'x', sizeof text - 1);
	struct screen_event title = event(SCREEN_TITLE, text);
	for (unsigned i = 0; i < 2 * EFFECTS_MAX / sizeof text; i++)
		effects_event(&s, &title);
	cr_assert_leq(s.length, EFFECTS_MAX);
	cr_assert_gt(s.lost, EFFECTS_MAX / sizeof text / 2);
	static const struct screen_callbacks without_callbacks = {0};
	effects_deliver(&s, &without_callbacks, NULL);
	cr_assert_null(s.bytes, "a large buffer is freed");
	cr_assert_gt(s.lost, 0);
	effects_finish(&s);
}
