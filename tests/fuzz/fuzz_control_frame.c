/* Messages of clients on the control socket, and the targets of their requests. */
#include "tests/fuzz/fuzz.h"
#include "ws/socket/control_frame.h"
#include "ws/request.h"

#include <jansson.h>

static void check_target(const char *target)
{
	struct request *r = request_create();
	FUZZ_CHECK(r);
	int rc = request_parse_target(r, target);
	if (rc == 0)
		FUZZ_CHECK(r->path && strlen(r->path) <= strlen(target));
	for (size_t i = 0; i < r->params_count; i++)
		FUZZ_CHECK(*r->params[i] && strlen(r->params[i]) <= strlen(target));
	FUZZ_CHECK(r->params_count <= REQUEST_PARAMS_MAX);
	request_unref(r);
}

static void check_request(const struct control_frame *f, const char *text, size_t length)
{
	FUZZ_CHECK(f->id[0] && f->method < METHOD_OTHER && f->target[0] == '/');
	check_target(f->target);
	json_t *root = f->root, *body = json_object_get(root, "body");
	FUZZ_CHECK((f->body != NULL) == (body && !json_is_null(body)));
	if (!f->body)
		return;
	/* The body's exact part of the text. */
	FUZZ_CHECK(f->body >= text && f->body + f->body_length <= text + length);
	json_t *same = json_loadb(f->body, f->body_length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	FUZZ_CHECK(json_equal(same, body));
	json_decref(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_frame f;
	const char *text = (const char *)data;
	memset(&f, 0xff, sizeof f);
	control_frame_parse(text, size, &f);
	FUZZ_CHECK(memchr(f.id, '\0', sizeof f.id));
	if (f.type == CONTROL_INVALID)
		FUZZ_CHECK(f.code && f.message && !f.body);
	else
		FUZZ_CHECK(f.root);
	if (f.type == CONTROL_REQUEST)
		check_request(&f, text, size);
	if (f.type == CONTROL_CANCEL)
		FUZZ_CHECK(f.id[0]);
	control_frame_free(&f);
	return 0;
}
