/*
 * Links for ringside attach. Input: the link. Whatever it is, the results must be safe in a header and a request, and
 * the address that is shown to others must not contain what follows its # or ?.
 */
#include "tests/fuzz/fuzz.h"
#include "ws/client/connect/link.h"

static void check_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		FUZZ_CHECK((unsigned char)*p > ' ' && (unsigned char)*p < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct link *l = fuzz_alloc(sizeof *l);
	char *text = fuzz_text(&in, '\0');
	if (link_parse(text, l) == 0) {
		size_t base = strlen(l->base);
		FUZZ_CHECK(link_is_url(text) && link_is_url(l->base));
		FUZZ_CHECK(strncmp(text, l->base, base) == 0 && !strpbrk(l->base, "?#"));
		FUZZ_CHECK(text[base] == '?' || text[base] == '#');
		FUZZ_CHECK(l->token[0] && strlen(l->session) <= LINK_SESSION_MAX);
		check_plain(l->token);
		check_plain(l->session);
	}
	free(text);
	free(l);
	return 0;
}
