/* Names of keys: every valid name can be sent in every mode. */
#include "shell/input/keys.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t flags = fuzz_byte(&in), switches = fuzz_byte(&in);
	char bytes[KEYS_BYTES_MAX];
	struct key key;
	struct screen_modes modes = {.kitty_flags = flags & 0x1f,
		.application_cursor = switches & 1,
		.application_keypad = switches & 2,
		.modify_other_keys = (switches >> 2) % 3};
	/* A copy of its exact size, so that ASan finds reads beyond it. */
	char *name = fuzz_alloc(in.left);
	if (in.left > 0)
		memcpy(name, in.at, in.left);
	if (keys_parse(name, in.left, &key)) {
		FUZZ_CHECK(key.code < KEY_CODES_END);
		size_t length = keys_encode(&key, &modes, NULL, bytes);
		FUZZ_CHECK(length > 0 && length <= KEYS_BYTES_MAX);
	}
	free(name);
	return 0;
}
