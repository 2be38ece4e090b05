#include "ws/preview/preview_name.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(preview_name_parse, splits_at_the_first_and_the_last_hyphen, .timeout = 10)
{
	struct preview_name n;
	cr_assert(preview_name_parse("5173-my-app-ab_12345.Preview.Example", "preview.example", &n));
	cr_assert_eq(n.port, 5173);
	cr_assert_str_eq(n.id, "my-app");
	cr_assert_str_eq(n.token, "ab_12345");
	cr_assert(preview_name_parse("5173-A-B.localhost:7070", "localhost", &n));
	cr_assert_str_eq(n.id, "a");
	cr_assert_str_eq(n.token, "b");
}

Test(preview_name_parse, invalid_names, .timeout = 10)
{
	static const char *const hosts[] = {"", "localhost", ".localhost", "5173-a-b",
		"5173-a-b.localhost.", "5173-a-b.localhost:x", "5173-a-b.localhost:7:8",
		"5173-a-b.xlocalhost", "5173-a-b.localhost.evil", "x.5173-a-b.localhost",
		"1023-a-b.localhost", "65536-a-b.localhost", "05173-a-b.localhost",
		"123456-a-b.localhost", "a-b-c.localhost", "5173.localhost", "5173-.localhost",
		"5173-a.localhost", "5173--b.localhost", "5173-a-.localhost",
		"5173-a-12345678901234567.localhost", "5173-a!-b.localhost", "5173-a-b localhost",
		"-a-b.localhost", "5173-a-\xc3\xa4.localhost", "[::1]:7070", "127.0.0.1:7070",
		"5173-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-b.localhost"};
	struct preview_name n;
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
		cr_assert_not(preview_name_parse(hosts[i], "localhost", &n), "%s", hosts[i]);
	cr_assert_not(preview_name_parse("5173-a-b.", "", &n));
	cr_assert_not(preview_name_parse("5173-a-b", "", &n));
}

Test(preview_name_format, can_be_parsed, .timeout = 10)
{
	char label[PREVIEW_LABEL_SIZE], host[200], id[PREVIEW_ID_MAX + 1];
	static const char *const sessions[] = {"demo", "My.Session:1", "---", "", "a",
		"an-id-that-is-longer-than-what-a-name-of-a-host-may-have-and-more", "_x_"};
	for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
		struct preview_name n = {.port = 65535, .token = "0123456789abcdef"}, again;
		preview_name_id(sessions[i], id);
		strcpy(n.id, id);
		preview_name_format(&n, label);
		cr_assert_leq(strlen(label), 63, "of DNS");
		snprintf(host, sizeof host, "%s.localhost", label);
		cr_assert(preview_name_parse(host, "localhost", &again), "%s", host);
		cr_assert_str_eq(again.id, id);
		cr_assert_str_eq(again.token, n.token);
	}
}

Test(preview_name_is_token, letters_and_digits, .timeout = 10)
{
	cr_assert(preview_name_is_token("abcdef_1"));
	cr_assert(preview_name_is_token("0123456789abcdef"));
	static const char *const wrong[] = {
		"", "abcdefg", "0123456789abcdefg", "ABCDEFGH", "abc-defgh", "abc.defgh"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_assert_not(preview_name_is_token(wrong[i]), "%s", wrong[i]);
}

Test(preview_place_parse, domain_with_a_scheme_and_a_port, .timeout = 10)
{
	static const struct {
		const char *text, *domain, *scheme;
		unsigned port;
	} cases[] = {{"localhost", "localhost", "", 0},
		{"Preview.Example.com", "preview.example.com", "", 0},
		{"https://p.example", "p.example", "https", 0},
		{"HTTP://p.example:8080", "p.example", "http", 8080},
		{"p.example:65535", "p.example", "", 65535}};
	static const char *const wrong[] = {"", ":80", "ftp://x", "https://", "x/", "x:", "x:0",
		"x:65536", "x:80a", "x y", ".x", "x.", "a..b", "127.0.0.1", "*.example", "u@x",
		"[::1]"};
	struct preview_place p;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_assert(preview_place_parse(cases[i].text, &p), "%s", cases[i].text);
		cr_assert_str_eq(p.domain, cases[i].domain);
		cr_assert_str_eq(p.scheme, cases[i].scheme);
		cr_assert_eq(p.port, cases[i].port);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_assert_not(preview_place_parse(wrong[i], &p), "%s", wrong[i]);
}
