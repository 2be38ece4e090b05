/* Commands of tmux as text, as in a file; and any text as a quoted word of such a command, parsed again. */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/tmux_model.h"
#include "ws/client/tmux/quote.h"
#include "ws/client/tmux/script.h"

static void check_lines(const struct script_line *line)
{
	for (; line; line = line->next) {
		FUZZ_CHECK(line->count > 0 && line->number > 0);
		for (unsigned i = 0; i < line->count; i++)
			FUZZ_CHECK(line->words[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tmux t;
	struct fuzz_input in = {data, size};
	struct script_line *line;
	char *text = fuzz_text(&in, '\0');
	tmux_model_begin(&t);
	if (!script_parse(&t, text, &line))
		check_lines(line);
	const char *word = quote_utf8(&t.arena, text), *quoted = quote_word(&t.arena, text);
	/* In single quotes, tmux writes escapes that it then reads literally. */
	if (strcmp(word, text) == 0 && *quoted != '\'') {
		FUZZ_CHECK(!script_parse(&t, arena_print(&t.arena, "set %s", quoted), &line));
		FUZZ_CHECK(line && !line->next && line->count == 2 &&
			strcmp(line->words[1], word) == 0);
	}
	tmux_model_end(&t);
	free(text);
	return 0;
}
