/* Ids and names. */
#include "ring/utf8.h"
#include "shell/name.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *text = fuzz_text(&in, '\0');
	/* jansson refuses invalid UTF-8, with a decoder of its own. */
	json_t *string = json_string(text);
	bool id = name_is_id(text), name = name_is_text(text), utf8 = utf8_is_valid_string(text);
	FUZZ_CHECK(utf8 == (string != NULL));
	FUZZ_CHECK(!name || (utf8 && *text && strlen(text) <= NAME_BYTES_MAX));
	FUZZ_CHECK(!id || name);
	/* The id is also the name of a directory. */
	FUZZ_CHECK(!id || (!strchr(text, '/') && text[0] != '.' && strlen(text) <= NAME_ID_MAX));
	json_decref(string);
	free(text);
	return 0;
}
