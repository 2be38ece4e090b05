#include "ws/preview/answer_head.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *text;

static int parse(const char *head, struct answer_head *h)
{
	size_t length = strlen(head);
	free(text);
	text = malloc(length + 1);
	memcpy(text, head, length);
	return answer_head_parse(text, length, h);
}

Test(answer_head_parse, splits_status_and_fields, .timeout = 10)
{
	struct answer_head h;
	cr_assert_eq(
		parse("HTTP/1.1 404 Not  here\r\nA:  b \r\nX-Y:\nConnection: close, X\r\n\r\n", &h),
		0);
	cr_assert_eq(h.status, 404);
	cr_assert_str_eq(h.reason, "Not  here");
	cr_assert_eq(h.fields_count, 3);
	cr_assert_str_eq(http_fields_find(h.fields, h.fields_count, "a"), "b");
	cr_assert_eq(parse("HTTP/1.0 200\r\n\r\n", &h), 0);
	cr_assert_str_eq(h.reason, "");
}

Test(answer_head_parse, invalid_heads_are_refused, .timeout = 10)
{
	static const char *const heads[] = {"", "\r\n\r\n", "HTTP/2 200 OK\r\n\r\n",
		"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
		"HTTP/1.1  200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 O\x01K\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\nmore"};
	struct answer_head h;
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		cr_assert_eq(parse(heads[i], &h), -EINVAL, "%s", heads[i]);
	char many[ANSWER_FIELDS_MAX * 8 + 64] = "HTTP/1.1 200 OK\r\n";
	for (unsigned i = 0; i < ANSWER_FIELDS_MAX + 1; i++)
		strcat(many, "A: b\r\n");
	strcat(many, "\r\n");
	cr_assert_eq(parse(many, &h), -E2BIG);
}

Test(answer_head_framing, body_ends_by_length_chunks_or_close, .timeout = 10)
{
	static const struct {
		const char *head;
		bool to_head;
		enum answer_framing want;
	} cases[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", false,
			ANSWER_LENGTH},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", true, ANSWER_NONE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, ANSWER_NONE},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", false, ANSWER_CHUNKED},
		{"HTTP/1.1 200 OK\r\n\r\n", false, ANSWER_CLOSE},
		{"HTTP/1.1 204 OK\r\nContent-Length: 3\r\n\r\n", false, ANSWER_NONE},
		{"HTTP/1.1 304 OK\r\n\r\n", false, ANSWER_NONE},
		{"HTTP/1.1 103 Early\r\n\r\n", false, ANSWER_NONE},
	};
	struct answer_head h;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_assert_eq(parse(cases[i].head, &h), 0, "%s", cases[i].head);
		cr_assert_eq(answer_head_framing(&h, cases[i].to_head), cases[i].want, "%s",
			cases[i].head);
	}
}
