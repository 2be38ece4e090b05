/* Heads of HTTP/1.1 answers: an accepted head, written and parsed again, is the same. */
#include "tests/fuzz/fuzz.h"
#include "ws/preview/answer_head.h"

#include <stdio.h>

static void check_again(const struct answer_head *h, size_t length)
{
	struct answer_head again;
	char *text = fuzz_alloc(2 * length + ANSWER_FIELDS_MAX * 8 + 64);
	size_t n = (size_t)sprintf(text, "HTTP/1.%u %03d %s\r\n", h->minor, h->status, h->reason);
	for (size_t i = 0; i < h->fields_count; i++)
		n += (size_t)sprintf(text + n, "%s: %s\r\n", h->fields[i].name, h->fields[i].value);
	n += (size_t)sprintf(text + n, "\r\n");
	FUZZ_CHECK(http_fields_head_length(text, n) == n);
	FUZZ_CHECK(answer_head_parse(text, n, &again) == 0);
	FUZZ_CHECK(again.fields_count == h->fields_count && again.status == h->status);
	FUZZ_CHECK(again.has_length == h->has_length && again.length == h->length &&
		again.chunked == h->chunked);
	FUZZ_CHECK(!(h->has_length && h->chunked));
	FUZZ_CHECK(answer_head_framing(&again, false) == answer_head_framing(h, false));
	FUZZ_CHECK(answer_head_framing(h, true) == ANSWER_NONE);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answer_head h;
	if (size > ANSWER_HEAD_MAX)
		return 0;
	size_t length = http_fields_head_length((const char *)data, size);
	FUZZ_CHECK(length <= size);
	for (size_t less = 0; less < length; less += 1 + length / 50)
		FUZZ_CHECK(http_fields_head_length((const char *)data, less) == 0);
	char *text = fuzz_copy(data, size);
	if (length > 0 && answer_head_parse(text, length, &h) == 0)
		check_again(&h, length);
	memcpy(text, data, size);
	if (size > 0)
		(void)answer_head_parse(text, size, &h);
	free(text);
	return 0;
}
