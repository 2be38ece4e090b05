/* Key files and addresses of webhooks: a key is complete or missing, and a name contains no possible secret. */
#include "tests/fuzz/fuzz.h"
#include "ws/hook/hook_key.h"
#include "ws/hook/hook_url.h"

static void check_keys(const char *text)
{
	struct hook_keys keys;
	char signature[HOOK_SIGNATURE_SIZE];
	if (hook_keys_parse(text, &keys) < 0)
		return;
	FUZZ_CHECK(keys.count >= 1 && keys.count <= HOOK_KEYS_MAX);
	for (size_t i = 0; i < keys.count; i++)
		FUZZ_CHECK(keys.items[i].length >= HOOK_KEY_MIN &&
			keys.items[i].length <= HOOK_KEY_MAX);
	FUZZ_CHECK(hook_sign(&keys, "msg_1", 1, text, strnlen(text, HOOK_BODY_MAX), signature) == 0);
	FUZZ_CHECK(strlen(signature) == keys.count * 48 - 1);
}

static void check_url(const char *text)
{
	struct hook_url url;
	enum hook_url_result verdict = hook_url_check(text, &url);
	if (verdict == HOOK_URL_INVALID)
		return;
	FUZZ_CHECK(strncmp(url.name, url.plain ? "http://" : "https://", url.plain ? 7 : 8) == 0);
	FUZZ_CHECK(verdict != HOOK_URL_PLAIN || url.plain);
	const char *host = url.name + (url.plain ? 7 : 8);
	FUZZ_CHECK(*host && !strpbrk(host, "/?#@ \r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 4096)
		return 0;
	char *text = fuzz_copy(data, size);
	check_keys(text);
	check_url(text);
	free(text);
	return 0;
}
