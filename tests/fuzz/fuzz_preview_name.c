/* Hosts of previews, and the headers that are changed when forwarded: none may exceed its limits. */
#include "tests/fuzz/fuzz.h"
#include "ws/http_field.h"
#include "ws/preview/pass.h"
#include "ws/preview/preview_name.h"

#include <stdio.h>

static void check_name(const char *host)
{
	struct preview_name name, again;
	char label[PREVIEW_LABEL_SIZE], whole[PREVIEW_LABEL_SIZE + 16];
	if (!preview_name_parse(host, "localhost", &name))
		return;
	FUZZ_CHECK(name.port >= PREVIEW_PORT_MIN && name.port <= PREVIEW_PORT_MAX);
	preview_name_format(&name, label);
	snprintf(whole, sizeof whole, "%s.localhost", label);
	FUZZ_CHECK(preview_name_parse(whole, "localhost", &again));
	FUZZ_CHECK(memcmp(&name, &again, sizeof name) == 0);
}

/* A changed field must be one line or none, and contain nothing of Ringside's. */
static void check_field(const char *name, const char *value, bool by_path, bool answer)
{
	const struct pass p = {.port = 5173,
		.by_path = by_path,
		.scheme = "http",
		.host = "5173-a-b.localhost",
		.connection = ""};
	struct pass_text t = {0};
	if (answer)
		pass_answer_field(&t, &p, name, value);
	else
		pass_request_field(&t, &p, name, value);
	pass_add_bytes(&t, "", 1);
	if (!t.failed && t.length > 1) {
		FUZZ_CHECK(strstr(t.bytes, "\r\n") == t.bytes + t.length - 3);
		FUZZ_CHECK(answer || strcmp(name, "cookie") != 0 || !strstr(t.bytes, " ringside-"));
		FUZZ_CHECK(!by_path || strcmp(name, "set-cookie") != 0);
	}
	free(t.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"cookie", "origin", "referer", "x"},
				 *const answers[] = {"set-cookie", "location", "x"};
	if (size > 4096)
		return 0;
	char *text = fuzz_copy(data, size);
	check_name(text);
	struct preview_place place;
	if (preview_place_parse(text, &place))
		FUZZ_CHECK(place.domain[0] && place.port <= PREVIEW_PORT_MAX);
	char id[PREVIEW_ID_MAX + 1];
	preview_name_id(text, id);
	FUZZ_CHECK(id[0]);
	for (size_t i = 0; http_is_value(text) && i < 2 * sizeof names / sizeof *names; i++)
		check_field(names[i / 2], text, i % 2, false);
	for (size_t i = 0; http_is_value(text) && i < 2 * sizeof answers / sizeof *answers; i++)
		check_field(answers[i / 2], text, i % 2, true);
	free(text);
	return 0;
}
