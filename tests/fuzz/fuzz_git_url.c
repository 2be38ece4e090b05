/*
 * Addresses of git repositories. Input: the text. Without its credentials, an address must still be one, and must not
 * contain them.
 */
#include "shell/git/url.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static bool has_controls(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct git_login login;
	char text[2 * GIT_URL_MAX], name[GIT_NAME_MAX + 1];
	const char *why = NULL;
	size_t length = size < sizeof text - 1 ? size : sizeof text - 1;
	memcpy(text, data, length);
	text[length] = '\0';
	bool valid = git_url_is_valid(text, &why);
	FUZZ_CHECK(valid || why);
	if (git_url_name(text, name))
		FUZZ_CHECK(*name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, ".."));
	(void)git_branch_is_valid(text);
	if (valid && git_url_login(text, &login)) {
		FUZZ_CHECK(strlen(login.plain) < strlen(text));
		FUZZ_CHECK(!has_controls(login.user) && !has_controls(login.password));
		/* Nothing is left before the host. */
		const char *host = strstr(login.plain, "://") + 3;
		FUZZ_CHECK(!memchr(host, '@', strcspn(host, "/?#")));
		FUZZ_CHECK(git_url_is_valid(login.plain, &why));
	}
	length = strlen(text);
	git_mask(text);
	FUZZ_CHECK(strlen(text) <= length);
	return 0;
}
