/* Heads of HTTP/1.1 requests: an accepted head, written and parsed again, is the same. */
#include "tests/fuzz/fuzz.h"
#include "ws/net/http_head.h"

#include <stdio.h>

static void check_again(const struct http_head *h)
{
	struct http_head again;
	char *text = fuzz_alloc(2 * HTTP_HEAD_MAX + HTTP_FIELDS_MAX * 8);
	size_t n = (size_t)sprintf(text, "%s %s%s%s HTTP/1.%u\r\n", h->method,
		h->authority ? "http://" : "", h->authority ? h->authority : "", h->target,
		h->minor);
	for (size_t i = 0; i < h->fields_count; i++)
		n += (size_t)sprintf(text + n, "%s: %s\r\n", h->fields[i].name, h->fields[i].value);
	n += (size_t)sprintf(text + n, "\r\n");
	FUZZ_CHECK(http_fields_head_length(text, n) == n);
	FUZZ_CHECK(http_head_parse(text, n, &again) == 0);
	FUZZ_CHECK(again.fields_count == h->fields_count && again.minor == h->minor);
	FUZZ_CHECK(strcmp(again.method, h->method) == 0 && strcmp(again.target, h->target) == 0);
	for (size_t i = 0; i < h->fields_count; i++)
		FUZZ_CHECK(strcmp(again.fields[i].name, h->fields[i].name) == 0 &&
			strcmp(again.fields[i].value, h->fields[i].value) == 0);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_head h;
	if (size > HTTP_HEAD_MAX)
		return 0;
	size_t length = http_fields_head_length((const char *)data, size);
	FUZZ_CHECK(length <= size);
	for (size_t less = 0; less < length; less += 1 + length / 50)
		FUZZ_CHECK(http_fields_head_length((const char *)data, less) == 0);
	char *text = fuzz_copy(data, size);
	if (length > 0 && http_head_parse(text, length, &h) == 0)
		check_again(&h);
	memcpy(text, data, size);
	(void)http_text_accepts_page(text, size);
	if (size > 0)
		(void)http_head_parse(text, size, &h);
	free(text);
	return 0;
}
