/* Valid addresses of webhooks, and names of them without secrets. */
#include "ws/hook/hook_url.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>

Test(hook_url_check, addresses)
{
	static const struct {
		const char *url;
		enum hook_url_result verdict;
		const char *name;
	} cases[] = {
		{"https://example.com/hook", HOOK_URL_GOOD, "https://example.com"},
		{"https://user:secret@example.com:8443/secret?key=secret#secret", HOOK_URL_GOOD,
			"https://example.com:8443"},
		{"https://[2001:db8::7]/x", HOOK_URL_GOOD, "https://[2001:db8::7]"},
		{"HTTPS://EXAMPLE.com", HOOK_URL_GOOD, "https://EXAMPLE.com"},
		{"http://127.0.0.1:8080/x", HOOK_URL_GOOD, "http://127.0.0.1:8080"},
		{"http://127.9.9.9", HOOK_URL_GOOD, "http://127.9.9.9"},
		{"http://[::1]:1/x", HOOK_URL_GOOD, "http://[::1]:1"},
		{"http://localhost/x", HOOK_URL_GOOD, "http://localhost"},
		{"http://LocalHost/x", HOOK_URL_GOOD, "http://LocalHost"},
		{"http://example.com/x", HOOK_URL_PLAIN, "http://example.com"},
		{"http://localhost.example.com/x", HOOK_URL_PLAIN, "http://localhost.example.com"},
		{"http://127.0.0.1.example.com/", HOOK_URL_PLAIN, "http://127.0.0.1.example.com"},
		{"http://127.0.0.1@example.com/", HOOK_URL_PLAIN, "http://example.com"},
		{"http://128.0.0.1/", HOOK_URL_PLAIN, "http://128.0.0.1"},
		{"http://[::2]/", HOOK_URL_PLAIN, "http://[::2]"},
		{"http://0.0.0.0/", HOOK_URL_PLAIN, "http://0.0.0.0"},
		{"ftp://127.0.0.1/", HOOK_URL_INVALID, NULL},
		{"file:///etc/passwd", HOOK_URL_INVALID, NULL},
		{"unix:/x", HOOK_URL_INVALID, NULL},
		{"example.com/x", HOOK_URL_INVALID, NULL},
		{"https://", HOOK_URL_INVALID, NULL},
		{"https:///x", HOOK_URL_GOOD, "https://x"}, /* as libcurl parses it */
		{"https://example.com:99999/", HOOK_URL_INVALID, NULL},
		{"https://exa mple.com/", HOOK_URL_INVALID, NULL},
		{"https://example.com/\r\nX: y", HOOK_URL_INVALID, NULL},
		{"https://\xc3\xa4.example/", HOOK_URL_INVALID, NULL},
		{"https://a%0ab/", HOOK_URL_INVALID, NULL},
		{"", HOOK_URL_INVALID, NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hook_url url = {.name = "untouched"};
		cr_expect_eq(
			hook_url_check(cases[i].url, &url), cases[i].verdict, "%s", cases[i].url);
		cr_expect_str_eq(url.name, cases[i].name ? cases[i].name : "untouched");
	}
}

Test(hook_url_check, address_that_is_too_long)
{
	char url[HOOK_URL_MAX + 2] = "https://example.com/";
	struct hook_url ret;
	memset(url + strlen(url), 'x', sizeof url - 1 - strlen("https://example.com/"));
	cr_assert_eq(hook_url_check(url, &ret), HOOK_URL_INVALID);
	url[HOOK_URL_MAX] = '\0';
	cr_assert_eq(hook_url_check(url, &ret), HOOK_URL_GOOD);
}

Test(hook_address_is_loopback, addresses)
{
	static const struct {
		int family;
		const char *text;
		bool loopback;
	} cases[] = {
		{AF_INET, "127.0.0.1", true},
		{AF_INET, "127.255.255.254", true},
		{AF_INET, "126.255.255.255", false},
		{AF_INET, "128.0.0.0", false},
		{AF_INET, "0.0.0.0", false},
		{AF_INET6, "::1", true},
		{AF_INET6, "::", false},
		{AF_INET6, "::2", false},
		{AF_INET6, "::ffff:10.0.0.1", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sockaddr_in four = {.sin_family = AF_INET};
		struct sockaddr_in6 six = {.sin6_family = AF_INET6};
		bool is_four = cases[i].family == AF_INET;
		void *to = is_four ? (void *)&four.sin_addr : (void *)&six.sin6_addr;
		cr_assert_eq(inet_pton(cases[i].family, cases[i].text, to), 1);
		cr_expect_eq(hook_address_is_loopback(
				     is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six),
			cases[i].loopback, "%s", cases[i].text);
	}
	struct sockaddr other = {.sa_family = AF_UNIX};
	cr_assert_not(hook_address_is_loopback(&other));
}
