/* Addresses to which parts of an archive may be sent. */
#include "shell/backup/parts.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

Test(parts_url_is_valid, table)
{
	static const struct {
		const char *url;
		bool want;
	} cases[] = {{"https://store.example/bucket/key?partNumber=1&X-Amz-Signature=a%2Fb", true},
		{"https://[::1]:9000/x", true}, {"HTTPS://store.example", true}, {"", false},
		{"https://", false}, {"http://store.example/", false}, {"file:///etc/passwd", false},
		{"//store.example/", false}, {"store.example", false}, {"https:store", false},
		{"https://user@store.example/", false}, {"https://u:p@store.example/", false},
		{"https://store.example/a b", false}, {"https://store.example/\n", false},
		{"https://store.example/\x7f", false}, {"https://store.example/ä", false},
		{"https://store.example:99999/", false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(parts_url_is_valid(cases[i].url), cases[i].want, "%s", cases[i].url);
}

Test(parts_url_is_valid, length)
{
	char url[PARTS_URL_MAX + 2];
	memset(url, 'x', sizeof url);
	memcpy(url, "https://store/", 14);
	url[PARTS_URL_MAX] = '\0';
	cr_expect(parts_url_is_valid(url));
	url[PARTS_URL_MAX] = 'x';
	url[PARTS_URL_MAX + 1] = '\0';
	cr_expect_not(parts_url_is_valid(url));
}

static bool is_refused(const char *text)
{
	struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
		return parts_address_is_refused((const struct sockaddr *)&four);
	cr_assert_eq(inet_pton(AF_INET6, text, &six.sin6_addr), 1, "%s", text);
	return parts_address_is_refused((const struct sockaddr *)&six);
}

Test(parts_address_is_refused, private_addresses)
{
	static const char *const cases[] = {"169.254.169.254", "169.254.0.1", "0.0.0.0", "0.1.2.3",
		"224.0.0.1", "255.255.255.255", "::", "fe80::1", "ff02::1", "fd00:ec2::254",
		"::ffff:169.254.169.254", "::ffff:0.0.0.0", "64:ff9b::a9fe:a9fe",
		"64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1", "::169.254.169.254"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect(is_refused(cases[i]), "%s", cases[i]);
}

Test(parts_address_is_refused, public_addresses)
{
	static const char *const cases[] = {"127.0.0.1", "10.0.0.1", "192.168.1.1", "169.253.1.1",
		"169.255.1.1", "223.255.255.255", "1.1.1.1", "::1", "fd00::1", "2606:4700::1111",
		"::ffff:127.0.0.1", "64:ff9b::101:101", "::1", "2002:101:101::1"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_not(is_refused(cases[i]), "%s", cases[i]);
}

Test(parts_address_is_refused, another_family)
{
	const struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/tmp/x"};
	cr_expect(parts_address_is_refused((const struct sockaddr *)&local));
}
