#include "ws/net/http_head.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;

static int parse(const char *head, size_t length, struct http_head *h)
{
	free(text);
	text = malloc(length + 1);
	memcpy(text, head, length);
	return http_head_parse(text, length, h);
}

static int parse_text(const char *head, struct http_head *h)
{
	return parse(head, strlen(head), h);
}

Test(http_fields_head_length, ends_with_the_first_empty_line, .timeout = 10)
{
	static const char head[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /";
	size_t whole = sizeof head - 1 - 5;
	for (size_t length = 0; length < whole; length++)
		cr_assert_eq(http_fields_head_length(head, length), 0, "%zu", length);
	for (size_t length = whole; length < sizeof head; length++)
		cr_assert_eq(http_fields_head_length(head, length), whole);
	cr_assert_eq(http_fields_head_length("GET / HTTP/1.1\n\nx", 17), 16);
}

Test(http_head_parse, splits_line_and_fields, .timeout = 10)
{
	struct http_head h;
	cr_assert_eq(parse_text("POST /a%20b?x=y HTTP/1.1\r\nHost:  me:1 \t\r\nX-Y:\r\n"
				"Connection: keep-alive , UPGRADE\r\nconnection: trailers\r\n\r\n",
			     &h),
		0);
	cr_assert_str_eq(h.method, "POST");
	cr_assert_str_eq(h.target, "/a%20b?x=y");
	cr_assert_null(h.authority);
	cr_assert_eq(h.minor, 1);
	cr_assert_eq(h.fields_count, 4);
	cr_assert_str_eq(http_head_field(&h, "host"), "me:1");
	cr_assert_str_eq(http_head_field(&h, "x-y"), "");
	cr_assert_null(http_head_field(&h, "none"));
	cr_assert_eq(http_head_count(&h, "connection"), 2);
	cr_assert(http_head_lists(&h, "connection", "upgrade"));
	cr_assert(http_head_lists(&h, "connection", "trailers"));
	cr_assert_not(http_head_lists(&h, "connection", "close"));
	cr_assert_not(http_head_lists(&h, "connection", "keep"));
}

Test(http_head_parse, absolute_target_gives_the_host, .timeout = 10)
{
	struct http_head h;
	cr_assert_eq(parse_text("GET http://me:7070/x?y HTTP/1.0\r\n\r\n", &h), 0);
	cr_assert_str_eq(h.authority, "me:7070");
	cr_assert_str_eq(h.target, "/x?y");
	cr_assert_eq(h.minor, 0);
	cr_assert_eq(parse_text("GET HTTPS://me HTTP/1.1\r\n\r\n", &h), 0);
	cr_assert_str_eq(h.authority, "me");
	cr_assert_str_eq(h.target, "/");
}

Test(http_head_parse, ambiguous_heads_are_refused, .timeout = 10)
{
	static const struct {
		const char *head;
		int want;
	} cases[] = {
		{"GET /\r\n\r\n", -EINVAL},
		{"GET  / HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET / HTTP/1.1 \r\n\r\n", -EPROTONOSUPPORT},
		{"GET / HTTP/2.0\r\n\r\n", -EPROTONOSUPPORT},
		{"GET / HTTP/1.10\r\n\r\n", -EPROTONOSUPPORT},
		{"GET / http/1.1\r\n\r\n", -EINVAL},
		{"G(T / HTTP/1.1\r\n\r\n", -EINVAL},
		{" / HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET x HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET ftp://x/ HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET http:///x HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET http://a@b/ HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET http://a?b HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET /\x80 HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET /\t HTTP/1.1\r\n\r\n", -EINVAL},
		{"GET / HTTP/1.1\r\nno colon\r\n\r\n", -EINVAL},
		{"GET / HTTP/1.1\r\n Name: x\r\n\r\n", -EINVAL},
		{"GET / HTTP/1.1\r\nName: x\r\n folded\r\n\r\n", -EINVAL},
		{"GET / HTTP/1.1\r\nName: x\ry\r\n\r\n", -EINVAL},
		{"GET / HTTP/1.1\r\n\r\nmore", -EINVAL},
		{"GET / HTTP/1.1\r\nName: \xe4\ty\r\n\r\n", 0},
		{"GET / HTTP/1.1\nName: x\r\n\r\n", -EINVAL},
		{"GET / HTTP/1.1\r\nName: x\nY: z\r\n\r\n", -EINVAL},
		{"GET / HTTP/1.1\r\nName: x\r\n\n", -EINVAL},
		{"GET / HTTP/1.1\r\nName: x\n\r\n", -EINVAL},
		{"GET / HTTP/1.1\r\nName: x\r\n\tfolded\r\n\r\n", -EINVAL},
		{"OPTIONS * HTTP/1.1\r\n\r\n", 0},
	};
	struct http_head h;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_assert_eq(parse_text(cases[i].head, &h), cases[i].want, "%s", cases[i].head);
	static const char nul[] = "GET / HTTP/1.1\r\nName: x\0y\r\n\r\n";
	cr_assert_eq(parse(nul, sizeof nul - 1, &h), -EINVAL);
}

Test(http_head_parse, too_many_fields, .timeout = 10)
{
	struct http_head h;
	char head[HTTP_HEAD_MAX];
	size_t length = (size_t)sprintf(head, "GET / HTTP/1.1\r\n");
	for (unsigned i = 0; i < HTTP_FIELDS_MAX; i++)
		length += (size_t)sprintf(head + length, "a: b\r\n");
	memcpy(head + length, "\r\n", 3);
	cr_assert_eq(parse(head, length + 2, &h), 0);
	memcpy(head + length, "c: d\r\n\r\n", 9);
	cr_assert_eq(parse(head, length + 8, &h), -E2BIG);
}

Test(http_head_coding, table, .timeout = 10)
{
	static const struct {
		const char *fields;
		enum http_coding want;
	} cases[] = {
		{"", HTTP_CODING_NONE},
		{"X-Transfer-Encoding: chunked\r\n", HTTP_CODING_NONE},
		{"Transfer-Encoding: chunked\r\n", HTTP_CODING_CHUNKED},
		{"transfer-encoding:\tChunKed \r\n", HTTP_CODING_CHUNKED},
		{"Transfer-Encoding: gzip, chunked\r\n", HTTP_CODING_UNKNOWN},
		{"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", HTTP_CODING_UNKNOWN},
		{"Transfer-Encoding: identity, chunked\r\n", HTTP_CODING_UNKNOWN},
		{"Transfer-Encoding:\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: ,\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: gzip\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: identity\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: xchunked\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: chunked;a=b\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: \"chunked\"\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: chunked, gzip\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: chunked,\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: , chunked\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: chunked, chunked\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", HTTP_CODING_INVALID},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
			HTTP_CODING_INVALID},
		{"Transfer-Encoding: chunked chunked\r\n", HTTP_CODING_INVALID},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char head[256];
		struct http_head h;
		snprintf(head, sizeof head, "PUT / HTTP/1.1\r\n%s\r\n", cases[i].fields);
		cr_assert_eq(parse_text(head, &h), 0, "%s", head);
		cr_expect_eq(http_head_coding(&h), cases[i].want, "%s", head);
	}
	struct http_head h;
	cr_assert_eq(parse_text("PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", &h), 0);
	cr_assert_eq(http_head_coding(&h), HTTP_CODING_INVALID);
}

Test(http_text_accepts_page, finds_the_line_in_any_bytes, .timeout = 10)
{
	static const struct {
		const char *bytes;
		bool accepts;
	} cases[] = {
		{"GET / HTTP/1.1\r\nAccept: text/html,*/*\r\n\r\n", true},
		{"x\nACCEPT:text/html", true},
		{"x\naccept: */*, Text/HTML", true},
		{"\n\n\naccept: */*\naccept: text/html\n", true},
		{"GET / HTTP/1.1\r\nAccept: */*\r\n\r\n", false},
		{"GET / HTTP/1.1\r\nX-Accept: text/html\r\n", false},
		{"GET / HTTP/1.1\r\nX: accept: text/html\r\n", false},
		{"accept: text/html", false}, /* the request line */
		{"x\naccept: \r\ntext/html", false},
		{"x\nAccept: text/htm", false},
		{"x\nAccept", false},
		{"x\n", false},
		{"", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(http_text_accepts_page(cases[i].bytes, strlen(cases[i].bytes)),
			cases[i].accepts, "%s", cases[i].bytes);
	cr_expect(http_text_accepts_page("\0\nAccept: \0text/html", 21), "NULs are bytes");
}

Test(http_text_accepts_page, looks_at_the_beginning_of_a_line, .timeout = 10)
{
	char bytes[2 * HTTP_ACCEPT_LOOKED];
	memset(bytes, 'x', sizeof bytes);
	memcpy(bytes, "\naccept:", 8);
	memcpy(bytes + 1 + HTTP_ACCEPT_LOOKED - 9, "text/html", 9);
	cr_assert(http_text_accepts_page(bytes, sizeof bytes));
	memmove(bytes + 2 + HTTP_ACCEPT_LOOKED - 9, "text/html", 9);
	cr_assert_not(http_text_accepts_page(bytes, sizeof bytes));
}
