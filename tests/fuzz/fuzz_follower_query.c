/* The query of a request for a terminal by cursors, and cursors. Input: its parameters, decoded, with NULs between them. */
#include "tests/fuzz/fuzz.h"
#include "ws/cursor.h"
#include "ws/request.h"
#include "ws/socket/follower.h"

#define INCARNATION "01234567-89ab-8def-8123-456789abcdef"

static void check_query(const struct follower_query *q, const char *cursor)
{
	char again[CURSOR_SIZE];
	FUZZ_CHECK(!q->id[0] || name_is_id(q->id));
	FUZZ_CHECK(q->rows <= PRESENCE_SIDE_MAX && q->cols <= PRESENCE_SIDE_MAX);
	FUZZ_CHECK((q->rows == 0) == (q->cols == 0));
	FUZZ_CHECK(q->resumes || !q->strange);
	FUZZ_CHECK(q->offset <= INT64_MAX);
	if (!q->resumes || q->strange)
		return;
	/* Each place has one text. */
	cursor_format(q->id, q->offset, again);
	FUZZ_CHECK(strcmp(again, cursor) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *params[REQUEST_PARAMS_MAX];
	size_t count = 0;
	struct follower_query q, untouched;
	uint64_t offset = 0;
	memset(&untouched, 0xa5, sizeof untouched);
	memcpy(&q, &untouched, sizeof q);
	while (in.left > 0 && count < REQUEST_PARAMS_MAX)
		params[count++] = fuzz_text(&in, '\0');
	struct refusal r = follower_parse(params, count, INCARNATION, &q);
	if (r.status == 0) {
		check_query(&q, params_find(params, count, "cursor"));
	} else {
		FUZZ_CHECK((r.status == 400 || r.status == 409) && r.code && r.message);
		FUZZ_CHECK(memcmp(&q, &untouched, sizeof q) == 0);
	}
	for (size_t i = 0; i < count; i++) {
		(void)cursor_parse(params[i], "a", &offset);
		free(params[i]);
	}
	return 0;
}
