/* Text for models: any bytes become UTF-8 of visible characters, which a second pass does not change. */
#include "ring/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "ws/mcp/visible.h"

static void check_seen(const char *text, size_t length, bool line)
{
	for (size_t at = 0; at < length;) {
		uint32_t code;
		unsigned size = utf8_decode((const uint8_t *)text + at, length - at, &code);
		FUZZ_CHECK(size > 0);
		FUZZ_CHECK(code >= ' ' || (!line && (code == '\n' || code == '\t')));
		FUZZ_CHECK(code < 0x7f || code >= 0xa0);
		FUZZ_CHECK((code < 0x202a || code > 0x202e) && (code < 0xe0000 || code > 0xe0fff));
		at += size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	bool line = fuzz_byte(&in) & 1;
	char *copy = fuzz_alloc(in.left), *seen = fuzz_alloc(VISIBLE_SIZE(in.left));
	memcpy(copy, in.at, in.left);
	size_t n = visible_text(copy, in.left, line, seen);
	FUZZ_CHECK(n < VISIBLE_SIZE(in.left) && seen[n] == '\0' && strlen(seen) == n);
	check_seen(seen, n, line);
	char *again = fuzz_alloc(VISIBLE_SIZE(n));
	FUZZ_CHECK(visible_text(seen, n, line, again) == n && memcmp(seen, again, n) == 0);
	free(again);
	free(seen);
	free(copy);
	return 0;
}
