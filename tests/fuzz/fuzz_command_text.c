/*
 * The text of a command, from the terminal's output. Input: columns, then the output, folded. The result must be text,
 * and must be found only at a prompt.
 */
#include "shell/block/command_text.h"
#include "tests/fuzz/fuzz.h"

#define NONCE "n"
#define OUTPUT_MAX ((size_t)24 << 10)

/* Lines of whole characters without controls. */
static void check_text(const char *text)
{
	size_t length = strlen(text), left = 0;
	FUZZ_CHECK(length <= COMMAND_TEXT_MAX && (length == 0 || text[length - 1] != '\n'));
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		if (left > 0) {
			FUZZ_CHECK((c & 0xc0) == 0x80);
			left--;
			continue;
		}
		FUZZ_CHECK((c >= ' ' && c < 0x7f) || c == '\n' || (c >= 0xc2 && c < 0xf5));
		left = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	}
	FUZZ_CHECK(left == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char prompt[] = "\033]133;B;aid=" NONCE "\a";
	static uint8_t output[OUTPUT_MAX];
	struct fuzz_input in = {data, size};
	unsigned cols = 2 + fuzz_byte(&in);
	size_t length = fuzz_unfold(&in, output, sizeof output);
	uint8_t *bytes = fuzz_alloc(length);
	memcpy(bytes, output, length);
	char *text = command_text(NONCE, bytes, length, cols);
	if (text)
		check_text(text);
	else
		FUZZ_CHECK(!memmem(bytes, length, prompt, sizeof prompt - 1));
	free(text);
	free(bytes);
	return 0;
}
