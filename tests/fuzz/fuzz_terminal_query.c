/* The query of a terminal socket's request. Input: its parameters, decoded, with NULs between them. */
#include "tests/fuzz/fuzz.h"
#include "ws/request.h"
#include "ws/socket/terminal.h"

static void check_query(const struct terminal_query *q)
{
	FUZZ_CHECK(name_is_id(q->session));
	FUZZ_CHECK(!q->name[0] || name_is_text(q->name));
	FUZZ_CHECK(memchr(q->shell, '\0', sizeof q->shell));
	FUZZ_CHECK(q->rows <= PRESENCE_SIDE_MAX && q->cols <= PRESENCE_SIDE_MAX);
	FUZZ_CHECK((q->rows == 0) == (q->cols == 0));
	FUZZ_CHECK(q->offset <= INT64_MAX && q->typed <= INT64_MAX);
	FUZZ_CHECK(!q->client[0] || name_is_id(q->client));
	FUZZ_CHECK(!q->person[0] || name_is_id(q->person));
	FUZZ_CHECK(q->resume || (q->epoch == 0 && q->offset == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *params[REQUEST_PARAMS_MAX];
	size_t count = 0;
	struct terminal_query q, untouched;
	memset(&untouched, 0xa5, sizeof untouched);
	memcpy(&q, &untouched, sizeof q);
	while (in.left > 0 && count < REQUEST_PARAMS_MAX)
		params[count++] = fuzz_text(&in, '\0');
	struct refusal r = terminal_query_parse(params, count, &q);
	if (r.status == 0) {
		check_query(&q);
	} else {
		FUZZ_CHECK(r.status == 400 && r.code && r.message);
		FUZZ_CHECK(memcmp(&q, &untouched, sizeof q) == 0);
	}
	for (size_t i = 0; i < count; i++)
		free(params[i]);
	return 0;
}
