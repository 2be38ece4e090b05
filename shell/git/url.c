/* See url.h. All before the "@" of a URL, and its query, may be secret: it is masked. */
#include "shell/git/url.h"

#include "ring/hex.h"

#include <string.h>
#include <strings.h>

#define MASK "***"
#define URL_END " \t\r\n'\"<>"

static bool has_controls(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

/* Whether the first length bytes of text are one of GIT_PROTOCOLS. */
static bool is_protocol(const char *text, size_t length)
{
	for (const char *p = GIT_PROTOCOLS;;) {
		size_t n = strcspn(p, ":");
		if (n == length && strncmp(p, text, n) == 0)
			return true;
		if (!p[n])
			return false;
		p += n + 1;
	}
}

bool git_url_is_valid(const char *url, const char **ret_why)
{
	const char *colon = strchr(url, ':'), *slash = strchr(url, '/');
	*ret_why = NULL;
	if (!*url || strlen(url) > GIT_URL_MAX)
		*ret_why = "Invalid repository URL: must be 1 to 2048 bytes";
	else if (*url == '-')
		*ret_why = "Invalid repository URL: must not begin with a dash";
	else if (has_controls(url))
		*ret_why = "Invalid repository URL: must not contain control characters";
	else if (colon && (!slash || colon < slash) && colon[1] == ':')
		*ret_why = "Invalid repository URL: remote helpers (\"ext::\") are not supported";
	else if (colon && strncmp(colon, "://", 3) == 0 && !is_protocol(url, (size_t)(colon - url)))
		*ret_why = "Invalid repository URL: the protocol must be http, https, ssh, git or file";
	return !*ret_why;
}

bool git_branch_is_valid(const char *branch)
{
	return *branch && *branch != '-' && strlen(branch) <= GIT_NAME_MAX && !has_controls(branch);
}

bool git_url_name(const char *url, char ret_name[GIT_NAME_MAX + 1])
{
	size_t end = strlen(url);
	while (end > 0 && url[end - 1] == '/')
		end--;
	size_t begin = end;
	while (begin > 0 && !strchr("/:", url[begin - 1]))
		begin--;
	if (end - begin > 4 && strncmp(url + end - 4, ".git", 4) == 0)
		end -= 4;
	size_t length = end - begin;
	bool dots = length <= 2 && strncmp(url + begin, "..", length) == 0;
	if (length == 0 || length > GIT_NAME_MAX || dots)
		return false;
	memcpy(ret_name, url + begin, length);
	ret_name[length] = '\0';
	return true;
}

/*
 * The length of the credentials in front of the host, with the "@"; 0: none. A password may contain
 * an "@", so the last one counts. It may also contain a slash that should have been encoded: assume
 * that if the text between the colon and the slash is not a port.
 */
static size_t user_length(const char *authority)
{
	size_t length = strcspn(authority, "/ \t\r\n'\"<>?#");
	const char *colon = memchr(authority, ':', length);
	bool has_user = memchr(authority, '@', length) != NULL;
	bool has_port = !colon || *authority == '[' ||
		colon + 1 + strspn(colon + 1, "0123456789") == authority + length;
	if (!has_user && !has_port)
		length = strcspn(authority, URL_END);
	while (length > 0 && authority[length - 1] != '@')
		length--;
	return length;
}

/* Write as much of the mask as fits into length bytes. */
static char *put_mask(char *to, size_t length)
{
	for (const char *mask = MASK; *mask && length > 0; length--)
		*to++ = *mask++;
	return to;
}

void git_mask(char *text)
{
	char *to = text;
	bool in_url = false;
	for (const char *from = text; *from;) {
		in_url &= !strchr(URL_END, *from);
		if (in_url && *from == '?') {
			size_t query = strcspn(++from, URL_END);
			*to++ = '?';
			to = put_mask(to, query);
			from += query;
			continue;
		}
		if (strncmp(from, "://", 3) != 0) {
			*to++ = *from++;
			continue;
		}
		in_url = true;
		memmove(to, "://", 3);
		to += 3;
		from += 3;
		size_t user = user_length(from);
		if (user == 0)
			continue;
		to = put_mask(to, user - 1);
		*to++ = '@';
		from += user;
	}
	*to = '\0';
}

/*
 * Decode %XX as git does; invalid escapes stay. Returns false if the result has control characters.
 */
static bool decode(const char *text, size_t length, char *ret)
{
	for (size_t i = 0; i < length; i++) {
		int c = (unsigned char)text[i];
		int high = c == '%' && length - i > 2 ? hex_value(text[i + 1]) : -1;
		int low = high >= 0 ? hex_value(text[i + 2]) : -1;
		if (low >= 0) {
			c = high * 16 + low;
			i += 2;
		}
		if (c < 0x20 || c == 0x7f)
			return false;
		*ret++ = (char)c;
	}
	*ret = '\0';
	return true;
}

bool git_url_login(const char *url, struct git_login *ret)
{
	size_t scheme = strncasecmp(url, "https://", 8) == 0 ? 8
		: strncasecmp(url, "http://", 7) == 0        ? 7
							     : 0;
	const char *login = url + scheme;
	size_t host = strcspn(login, "/?#"), at = host;
	while (at > 0 && login[at - 1] != '@')
		at--;
	if (scheme == 0 || at == 0 || strlen(url) > GIT_URL_MAX)
		return false;
	size_t end = at - 1, colon = strcspn(login, ":");
	size_t user = colon < end ? colon : end;
	memcpy(ret->plain, url, scheme);
	memcpy(ret->plain + scheme, login + at, strlen(login + at) + 1);
	ret->password[0] = '\0';
	return decode(login, user, ret->user) &&
		(user == end || decode(login + user + 1, end - user - 1, ret->password));
}
