/* tmux's names of keys: every valid name maps to one of the server's. */
#include "shell/input/keys.h"
#include "tests/fuzz/fuzz.h"
#include "ws/client/tmux/key_name.h"
#include "ws/client/tmux/quote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct key key;
	struct fuzz_input in = {data, size};
	char *word = fuzz_text(&in, '\0');
	/* Arguments of invalid UTF-8 are refused before. */
	const char *name = key_name_find(&a, quote_utf8(&a, word));
	if (name)
		FUZZ_CHECK(keys_parse(name, strlen(name), &key));
	free(word);
	arena_finish(&a);
	return 0;
}
