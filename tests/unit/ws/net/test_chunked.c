#include "ws/net/chunked.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decode text in pieces of step. Returns chunked_decode()'s last result; *ret_rest: bytes after the body. */
static int decode(const char *text, size_t length, size_t step, char *body, size_t *ret_rest)
{
	struct chunked c = {0};
	size_t at = 0, got = 0;
	int rc = 0;
	while (rc == 0 && at < length && !chunked_is_complete(&c)) {
		size_t size = length - at < step ? length - at : step, used, n;
		char *piece = malloc(size);
		memcpy(piece, text + at, size);
		rc = chunked_decode(&c, piece, size, &used, &n);
		cr_assert(n <= used && used <= size);
		if (rc == 0)
			cr_assert(used == size || chunked_is_complete(&c));
		memcpy(body + got, piece, n);
		got += n;
		at += used;
		free(piece);
	}
	body[got] = '\0';
	*ret_rest = length - at;
	return rc == 0 && !chunked_is_complete(&c) ? -EAGAIN : rc;
}

Test(chunked_decode, table)
{
	static const struct {
		const char *text, *body;
		int rc;
		size_t rest;
	} cases[] = {
		{"0\r\n\r\n", "", 0, 0},
		{"5\r\nhello\r\n0\r\n\r\n", "hello", 0, 0},
		{"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\nGET / HTTP/1.1", "hello!", 0, 14},
		{"A\r\n0123456789\r\n0\r\n\r\n", "0123456789", 0, 0},
		{"a\r\n0123456789\r\n00\r\n\r\n", "0123456789", 0, 0},
		{"0000000000000002\r\n\r\n\r\n0\r\n\r\n", "\r\n", 0, 0},
		{"1;x\r\na\r\n0;y=\"z\"\r\n\r\n", "a", 0, 0},
		{"1;\r\na\r\n0\r\n\r\n", "a", 0, 0},
		{"0\r\nA: b\r\nC: d\r\n\r\nX", "", 0, 1},
		{"0\r\nA:\r\n\r\n", "", 0, 0},
		/* Incomplete bodies. */
		{"", "", -EAGAIN, 0},
		{"5\r\nhell", "hell", -EAGAIN, 0},
		{"5\r\nhello\r\n0\r\n", "hello", -EAGAIN, 0},
		{"0\r\nA: b\r\n", "", -EAGAIN, 0},
		/* Lines that end otherwise. */
		{"1\na\n0\n\n", "", -EINVAL, 7},
		{"1\ra\r\n0\r\n\r\n", "", -EINVAL, 8},
		{"1\r\na\n0\r\n\r\n", "a", -EINVAL, 5},
		{"1\r\na\r0\r\n\r\n", "a", -EINVAL, 4},
		{"0\r\n\n", "", -EINVAL, 0},
		{"0\r\nA: b\n\r\n", "", -EINVAL, 2},
		{"0\r\n\rX", "", -EINVAL, 0},
		{"1;a\nb\r\na\r\n0\r\n\r\n", "", -EINVAL, 0},
		/* Invalid sizes. */
		{"\r\n0\r\n\r\n", "", -EINVAL, 0},
		{";x\r\n", "", -EINVAL, 0},
		{" 1\r\na\r\n0\r\n\r\n", "", -EINVAL, 0},
		{"1 \r\na\r\n0\r\n\r\n", "", -EINVAL, 0},
		{"1\t;x\r\na\r\n0\r\n\r\n", "", -EINVAL, 0},
		{"+1\r\na\r\n0\r\n\r\n", "", -EINVAL, 0},
		{"-1\r\na\r\n0\r\n\r\n", "", -EINVAL, 0},
		{"0x1\r\na\r\n0\r\n\r\n", "", -EINVAL, 0},
		{"1_0\r\n", "", -EINVAL, 0},
		{"g\r\n", "", -EINVAL, 0},
		/* Sizes larger or smaller than the data. */
		{"2\r\na\r\n0\r\n\r\n", "a\r", -EINVAL, 0},
		{"1\r\nab\r\n0\r\n\r\n", "a", -EINVAL, 0},
		/* Invalid trailers. */
		{"0\r\n A: b\r\n\r\n", "", -EINVAL, 0},
		{"0\r\n:b\r\n\r\n", "", -EINVAL, 0},
		{"0\r\nA: \001\r\n\r\n", "", -EINVAL, 0},
		/* Sizes that overflow. */
		{"10000000000000000\r\n", "", -E2BIG, 0},
		{"00000000000000001\r\n", "", -E2BIG, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t step = 1; step <= 40; step++) {
			char body[64];
			size_t rest;
			int rc = decode(cases[i].text, strlen(cases[i].text), step, body, &rest);
			cr_expect_eq(rc, cases[i].rc, "%s by %zu: %d", cases[i].text, step, rc);
			if (rc == 0 || rc == -EAGAIN) {
				cr_expect_eq(rest, cases[i].rest, "%s by %zu", cases[i].text, step);
				cr_expect_str_eq(
					body, cases[i].body, "%s by %zu", cases[i].text, step);
			}
		}
}

Test(chunked_decode, nul_in_a_size_is_invalid)
{
	char body[16];
	size_t rest;
	cr_assert_eq(decode("1;\0\r\na\r\n0\r\n\r\n", 14, 14, body, &rest), -EINVAL);
	cr_assert_eq(decode("\0", 1, 1, body, &rest), -EINVAL);
}

Test(chunked_decode, largest_size_is_accepted)
{
	struct chunked c = {0};
	char text[] = "ffffffffffffffff\r\nabc";
	size_t used, size;
	cr_assert_eq(chunked_decode(&c, text, sizeof text - 1, &used, &size), 0);
	cr_assert_eq(size, 3);
	cr_assert_eq(memcmp(text, "abc", 3), 0);
	cr_assert_eq(chunked_left(&c), UINT64_MAX - 3);
}

/* Decode a line that begins with head and n times more. */
static int decode_long(const char *head, const char *more, size_t n)
{
	size_t length = strlen(head) + n * strlen(more), rest;
	char *text = malloc(length + 1), *body = malloc(length + 1), *at = stpcpy(text, head);
	while (n-- > 0)
		at = stpcpy(at, more);
	int rc = decode(text, length, 777, body, &rest);
	free(text);
	free(body);
	return rc;
}

Test(chunked_decode, extensions_of_a_chunk_are_bounded)
{
	cr_assert_eq(decode_long("1;", "x", CHUNKED_LINE_MAX - 2), -EAGAIN);
	cr_assert_eq(decode_long("1;", "x", CHUNKED_LINE_MAX - 1), -E2BIG);
}

Test(chunked_decode, extensions_of_a_body_are_bounded)
{
	size_t most = CHUNKED_EXTENSIONS_MAX / 100;
	char chunk[128];
	snprintf(chunk, sizeof chunk, "1;%0100d\r\na\r\n", 0);
	cr_assert_eq(decode_long("", chunk, most), -EAGAIN);
	cr_assert_eq(decode_long("", chunk, most + 1), -E2BIG);
}

Test(chunked_decode, trailers_are_bounded)
{
	cr_assert_eq(decode_long("0\r\n", "A: bcd\r\n", 100), -EAGAIN);
	cr_assert_eq(decode_long("0\r\n", "A: bcd\r\n", CHUNKED_TRAILERS_MAX / 7 + 1), -E2BIG);
	cr_assert_eq(decode_long("0\r\nA: ", "b", CHUNKED_TRAILERS_MAX), -E2BIG);
}

Test(chunked_decode, error_is_permanent)
{
	struct chunked c = {0};
	char text[] = "1 ";
	size_t used, size;
	cr_assert_eq(chunked_decode(&c, text, 2, &used, &size), -EINVAL);
	for (int i = 0; i < 3; i++) {
		char more[] = "\r\n0\r\n\r\n";
		cr_assert_eq(chunked_decode(&c, more, strlen(more), &used, &size), -EINVAL);
		cr_assert_not(chunked_is_complete(&c));
	}
}

Test(chunked_decode, a_million_chunks_of_one_byte, .timeout = 10)
{
	struct chunked c = {0};
	enum { AT_ONCE = 1000 };
	char *text = malloc(AT_ONCE * 6);
	size_t got = 0;
	for (int turn = 0; turn < 1000; turn++) {
		size_t used, size;
		for (int i = 0; i < AT_ONCE; i++)
			memcpy(text + (size_t)i * 6, "1\r\nz\r\n", 6);
		cr_assert_eq(chunked_decode(&c, text, AT_ONCE * 6, &used, &size), 0);
		cr_assert_eq(used, AT_ONCE * 6);
		got += size;
	}
	cr_assert_eq(got, 1000000);
	free(text);
}
