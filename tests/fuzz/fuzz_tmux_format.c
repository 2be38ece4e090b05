/* Formats of `ringside tmux`: all must terminate and leak nothing. Commands (#()) are not run. */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/tmux_model.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tmux t;
	struct fuzz_input in = {data, size};
	uint8_t how = fuzz_byte(&in);
	char *text = fuzz_text(&in, '\0');
	tmux_model_begin(&t);
	struct format f = {.t = &t, .at = {.index = -1}, .silent = true, .times = how & 1};
	if (how & 2)
		FUZZ_CHECK(target_current(&t, &f.at));
	const char *out = format_expand(&f, text);
	FUZZ_CHECK(f.depth == 0);
	if (!strpbrk(text, "#%"))
		FUZZ_CHECK(strcmp(out, text) == 0);
	tmux_model_end(&t);
	free(text);
	return 0;
}
