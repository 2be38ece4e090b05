/* Accept-Encoding headers. Input: the available encodings, then the header. */
#include "tests/fuzz/fuzz.h"
#include "ws/asset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char byte[] = "x";
	struct fuzz_input in = {data, size};
	uint8_t kinds = fuzz_byte(&in);
	struct asset a = {.path = "/x", .plain = {byte, 1}};
	const char *encoding = "untouched";
	a.brotli.data = kinds & 1 ? byte : NULL;
	a.gzip.data = kinds & 2 ? byte : NULL;
	char *accept = fuzz_text(&in, '\0');
	const struct asset_body *body = asset_choose_encoding(&a, accept, &encoding);
	FUZZ_CHECK(body->data);
	if (!encoding)
		FUZZ_CHECK(body == &a.plain);
	else if (strcmp(encoding, "br") == 0)
		FUZZ_CHECK(body == &a.brotli && strcasestr(accept, "br"));
	else
		FUZZ_CHECK(body == &a.gzip && strcasestr(accept, "gzip"));
	free(accept);
	return 0;
}
