/* Bodies of webhook events, and which commands cause events. */
#include "tests/lib/json_text.h"
#include "ws/hook/hook_event.h"
#include "ws/hook/hook_key.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct hook_contents failed = {.kind = HOOK_FAILED,
	.session = "work:1",
	.epoch = 0x1f,
	.at_ms = 1000,
	.author = "driver/0123",
	.block = "b17",
	.status = 3,
	.clients = 2,
	.url = "http://127.0.0.1:7070/"};

static json_t *body_of(const struct hook_contents *m, char id[HOOK_ID_SIZE])
{
	struct hook_event *e = hook_event_create(m);
	cr_assert_not_null(e);
	cr_assert_eq(strlen(e->body), e->length);
	cr_assert_str_eq(e->session, m->session);
	memcpy(id, e->id, HOOK_ID_SIZE);
	json_t *body = json_loads(e->body, 0, NULL);
	cr_assert_not_null(body);
	hook_event_unref(e);
	return body;
}

Test(hook_event_create, every_field)
{
	char id[HOOK_ID_SIZE], want[512];
	json_t *body = body_of(&failed, id);
	snprintf(want, sizeof want,
		"{'type':'failed','timestamp':'1970-01-01T00:00:01.000Z','id':'%s','data':{"
		"'session':'work:1','epoch':'000000000000001f','author':'driver/0123','block':'b17',"
		"'exitCode':3,'clients':2,'humanUrl':'http://127.0.0.1:7070/?s=work:1&block=b17'}}",
		id);
	json_expect(body, want);
	cr_assert_eq(strlen(id), HOOK_ID_SIZE - 1);
	cr_assert_eq(strncmp(id, "msg_", 4), 0);
}

Test(hook_event_create, unknown_values_are_null)
{
	const struct hook_contents bell = {.kind = HOOK_BELL, .session = "s", .status = -1};
	char id[HOOK_ID_SIZE];
	json_t *body = body_of(&bell, id), *data = json_object_get(body, "data");
	static const char *const none[] = {"author", "block", "exitCode", "humanUrl"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		cr_expect(json_is_null(json_object_get(data, none[i])), "%s", none[i]);
	json_decref(body);
}

Test(hook_event_create, longest_names_fit)
{
	static char session[NAME_ID_MAX + 1], author[NAME_AUTHOR_MAX + 1], url[1024];
	memset(session, 'x', NAME_ID_MAX);
	memset(author, '"', NAME_AUTHOR_MAX);
	memset(url, 'u', sizeof url - 1);
	struct hook_contents m = failed;
	char id[HOOK_ID_SIZE];
	m.session = session;
	m.author = author;
	m.url = url;
	json_decref(body_of(&m, id));
}

Test(hook_event_create, body_that_cannot_be_signed_is_refused)
{
	static char url[HOOK_BODY_MAX];
	struct hook_contents m = failed;
	memset(url, 'u', sizeof url - 1);
	m.url = url;
	cr_assert_null(hook_event_create(&m));
	m.url = NULL;
	m.author = "\xff";
	cr_assert_null(hook_event_create(&m));
}

Test(hook_command_get_kind, commands)
{
	static const struct {
		struct hook_command command;
		bool reported;
		enum hook_kind kind;
	} cases[] = {
		{{true, 1, 1, 2}, true, HOOK_FAILED},
		{{true, 1, 0, 0}, true, HOOK_FAILED},
		{{true, 0, 1, 2}, false, 0},
		{{true, -1, 1, 2}, false, 0},
		{{true, 130, 1, 2}, false, 0},
		{{false, 1, 1, 2}, false, 0},
		{{false, 1, 1, 1 + HOOK_LONG_MS}, true, HOOK_FAILED},
		{{false, 1, 1, HOOK_LONG_MS}, false, 0},
		{{false, 0, 1, 1 + HOOK_LONG_MS}, true, HOOK_FINISHED},
		{{false, 130, 1, 1 + HOOK_LONG_MS}, true, HOOK_FINISHED},
		{{true, -1, 1, 1 + HOOK_LONG_MS}, true, HOOK_FINISHED},
		{{false, 0, 0, 1 + HOOK_LONG_MS}, false, 0},
		{{false, 0, 20000, 1}, false, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum hook_kind kind = 0;
		cr_expect_eq(hook_command_get_kind(&cases[i].command, &kind), cases[i].reported,
			"%zu", i);
		cr_expect_eq(kind, cases[i].kind, "%zu", i);
	}
}
