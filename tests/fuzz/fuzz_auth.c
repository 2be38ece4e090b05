/*
 * Three lines: an Authorization header, a Cookie header, a link's id; and the whole input as a token. None may ever
 * authenticate, because the input does not contain the key and the token.
 */
#include "tests/fuzz/fuzz.h"
#include "ws/auth/auth.h"
#include "ws/auth/token.h"

static struct auth a;

static void prepare(void)
{
	static struct link_entry entry = {
		.session = "main", .id = "00000000000000000000000000000000"};
	if (a.links.entries)
		return;
	a.dir_fd = a.links.file.dir_fd = a.logins.file.dir_fd = -1;
	static struct login_entry login = {.id = "00000000000000000000000000000000",
		.digest = "0000000000000000000000000000000000000000000000000000000000000000",
		.owner = "0123456789abcdef0123456789abcdef"};
	login.expires_ms = login.stored_used_ms = UINT64_MAX / 2;
	a.logins.entries = &login;
	a.logins.count = 1;
	strcpy(a.token, "a token that the input does not have");
	strcpy(a.fingerprint, "0123456789abcdef0123456789abcdef");
	strcpy(a.cookie, "ringside-01234567");
	memcpy(a.links.key, "a key that the input hasn't got.", LINKS_KEY_SIZE);
	entry.expires_ms = UINT64_MAX;
	a.links.entries = &entry;
	a.links.count = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct principal principal = {.role = ROLE_VIEWER, .session = "untouched"};
	char id[TOKEN_ID_SIZE];
	char cookie[AUTH_COOKIE_SIZE];
	prepare();
	struct fuzz_input in = {data, size};
	char *copy = fuzz_copy(data, size), *lines[3];
	for (int i = 0; i < 3; i++)
		lines[i] = fuzz_text(&in, '\n');
	/* Also without the first header, so that the cookie is used. */
	for (int i = 0; i < 2; i++) {
		struct credentials c = {.authorization = i ? NULL : lines[0],
			.cookie = lines[1],
			.link = lines[2],
			.peer = "peer"};
		FUZZ_CHECK(auth_check(&a, &c, &principal) != AUTH_OK);
		FUZZ_CHECK(strcmp(principal.session, "untouched") == 0);
	}
	const struct auth_request request = {.token = copy, .peer = "peer", .agent = copy};
	FUZZ_CHECK(auth_login(&a, &request, &principal, cookie) != AUTH_OK);
	FUZZ_CHECK(token_verify(copy, a.links.key, LINKS_KEY_SIZE, 0, id) < 0);
	for (int i = 0; i < 3; i++)
		free(lines[i]);
	free(copy);
	return 0;
}
