#include "ws/net/http_repeat.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Test(http_repeat_head, framing_is_replaced, .timeout = 10)
{
	static const struct {
		const char *head, *want;
		struct http_repeat change;
	} cases[] = {
		{"GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n", {0}},
		{"POST /a HTTP/1.0\r\nCONTENT-LENGTH: 7\r\nHost: x\r\nexpect: 100-continue\r\n\r\n",
			"GET /b HTTP/1.0\r\nHost: x\r\n\r\n", {.method = "GET", .target = "/b"}},
		{"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
			"POST /a HTTP/1.1\r\nContent-Length: 12\r\n\r\n",
			{.has_body = true, .body_length = 12}},
		{"POST /a HTTP/1.1\r\nExpected: x\r\nX-Content-Length: 1\r\n\r\n",
			"POST /longer/than/before HTTP/1.1\r\nExpected: x\r\nX-Content-Length: 1\r\n"
			"Content-Length: 0\r\n\r\n",
			{.target = "/longer/than/before", .has_body = true}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length = 0;
		char *head = http_repeat_head(
			cases[i].head, strlen(cases[i].head), &cases[i].change, &length);
		cr_assert_not_null(head);
		cr_expect_eq(length, strlen(cases[i].want), "%zu", i);
		cr_expect_arr_eq(head, cases[i].want, length, "%zu", i);
		free(head);
	}
}

Test(http_repeat_head, incomplete_heads_are_refused, .timeout = 10)
{
	static const char whole[] = "POST /a HTTP/1.1\r\nHost: x\r\n\r\n";
	const struct http_repeat change = {.has_body = true, .body_length = SIZE_MAX};
	size_t length;
	for (size_t n = 0; n < strlen(whole); n++)
		cr_expect_null(http_repeat_head(whole, n, &change, &length), "%zu", n);
	char *head = http_repeat_head(whole, strlen(whole), &change, &length);
	cr_expect_not_null(head);
	free(head);
	cr_expect_null(http_repeat_head("GET\r\n\r\n", 7, &change, &length));
	cr_expect_null(http_repeat_head("\n\n", 2, &change, &length));
}
