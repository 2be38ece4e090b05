/* Frames of an executor: the same in one piece and in two, and none larger than the limit. */
#include "shell/context/executor_record.h"
#include "tests/fuzz/fuzz.h"

struct seen {
	size_t frames, bytes;
	unsigned sum;
};

static bool on_record(void *user, enum executor_record_type type, const char *body, size_t length)
{
	struct seen *s = user;
	FUZZ_CHECK(length <= EXECUTOR_RECORD_MAX && body[length] == 0);
	s->frames++;
	s->bytes += length;
	s->sum = s->sum * 31 + (unsigned)type;
	for (size_t i = 0; i < length; i++)
		s->sum = s->sum * 31 + (uint8_t)body[i];
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct executor_records whole = {.header_length = 0}, pieces = {.header_length = 0};
	struct seen a = {0}, b = {0};
	size_t cut = size > 0 ? data[0] % (size + 1) : 0;
	int first = executor_records_feed(&whole, data, size, on_record, &a);
	int second = executor_records_feed(&pieces, data, cut, on_record, &b);
	if (second == 0)
		second = executor_records_feed(&pieces, data + cut, size - cut, on_record, &b);
	FUZZ_CHECK(first == second && memcmp(&a, &b, sizeof a) == 0 && a.bytes <= size);
	executor_records_finish(&whole);
	executor_records_finish(&pieces);
	return 0;
}
