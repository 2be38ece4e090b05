/*
 * An HTTP/1.1 connection from its first byte to its end, through the server's border to handlers and back: see
 * border.h. Input: a byte of options, a seed for the pieces, and the client's bytes.
 *
 * Every answer must be valid, with no more answers than requests. Other pieces of the same bytes must give the same
 * answers. After the client has disconnected, nothing may be left of it.
 */
#include "tests/fuzz/border.h"
#include "tests/fuzz/pieces.h"

#define ANSWERS_MAX 512u

enum {
	HOW_OWNER = 1,
	HOW_UNIX = 2,
	HOW_GONE = 4, /* the client reads nothing and disconnects */
};

struct answer {
	int status;
	bool closes;
	bool whole;
	uint64_t hash; /* of its body */
};

struct answers {
	struct answer list[ANSWERS_MAX];
	size_t count;
	bool upgraded; /* the rest is not HTTP */
};

static bool has_text(const uint8_t *bytes, size_t length, const char *text)
{
	return length > 0 && memmem(bytes, length, text, strlen(text));
}

/* An upper bound of the heads in these bytes: each ends with an empty line, or is too long. */
static size_t heads_in(const uint8_t *bytes, size_t length)
{
	size_t count = length / HTTP_HEAD_MAX;
	for (size_t i = 1; i < length; i++)
		count += bytes[i] == '\n' &&
			(bytes[i - 1] == '\n' ||
				(i > 1 && bytes[i - 1] == '\r' && bytes[i - 2] == '\n'));
	return count;
}

/* The value of a field in an answer's head, or NULL. There are never two. */
static const char *field_of(const char *head, const char *end, const char *name)
{
	const char *found = NULL;
	size_t length = strlen(name);
	for (const char *line = strstr(head, "\r\n") + 2; line < end;
		line = strstr(line, "\r\n") + 2) {
		if (strncasecmp(line, name, length) != 0 || line[length] != ':')
			continue;
		FUZZ_CHECK(!found);
		found = line + length + 2;
	}
	return found;
}

/* Each line of a head must be "name: value" with valid characters. */
static void check_fields(const char *head, const char *end)
{
	for (const char *line = strstr(head, "\r\n") + 2; line < end;) {
		const char *next = strstr(line, "\r\n");
		size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
		FUZZ_CHECK(name > 0 && strncmp(line + name, ": ", 2) == 0);
		for (const char *at = line; at < next; at++)
			FUZZ_CHECK(*at >= ' ' && *at < 0x7f);
		line = next + 2;
	}
}

/* Parse the chunks of a body. Returns what follows them, or NULL if they are incomplete. */
static const char *parse_chunks(const char *at, const char *end, struct answer *a)
{
	for (;;) {
		char *line;
		if (!memmem(at, (size_t)(end - at), "\r\n", 2))
			return NULL;
		FUZZ_CHECK(strspn(at, "0123456789abcdef") > 0);
		size_t size = strtoul(at, &line, 16);
		FUZZ_CHECK(strncmp(line, "\r\n", 2) == 0);
		if ((size_t)(end - line) < size + 4)
			return NULL;
		at = line + 2;
		a->hash = hash_bytes(a->hash, at, size);
		FUZZ_CHECK(strncmp(at + size, "\r\n", 2) == 0);
		at += size + 2;
		if (size == 0)
			return at;
	}
}

/* Parse a body. Returns what follows it. */
static const char *parse_body(
	const char *head, const char *at, const char *end, bool may_be_head, struct answer *a)
{
	const char *length = field_of(head, at - 2, "content-length");
	const char *coding = field_of(head, at - 2, "transfer-encoding");
	const char *behind = NULL;
	FUZZ_CHECK(!length || !coding);
	a->whole = true;
	if (a->status < 200 || a->status == 204 || a->status == 304) {
		FUZZ_CHECK(!coding && (!length || a->status == 304));
		return at;
	}
	/* Perhaps an answer to HEAD, which has no body. No body begins like a head. */
	if (may_be_head && (at == end || strncmp(at, "HTTP/1.1 ", 9) == 0))
		return at;
	if (coding) {
		FUZZ_CHECK(strncmp(coding, "chunked\r\n", 9) == 0);
		behind = parse_chunks(at, end, a);
	} else if (length) {
		size_t size = strtoul(length, NULL, 10);
		behind = size <= (size_t)(end - at) ? at + size : NULL;
		a->hash = hash_bytes(a->hash, at, behind ? size : 0);
	} else {
		FUZZ_CHECK(a->closes);
		behind = end;
	}
	a->whole = behind != NULL;
	return behind ? behind : end;
}

static void read_answers(const struct border_answers *got, bool may_be_head, struct answers *ret)
{
	const char *at = got->bytes, *end = got->bytes + got->length;
	ret->count = 0;
	ret->upgraded = false;
	while (at < end && !ret->upgraded) {
		struct answer a = {.hash = HASH_START};
		const char *last = strstr(at, "\r\n\r\n");
		FUZZ_CHECK(strncmp(at, "HTTP/1.1 ", 9) == 0 && last);
		a.status = atoi(at + 9);
		FUZZ_CHECK(a.status >= 100 && a.status <= 599 && at[12] == ' ');
		check_fields(at, last + 2);
		const char *connection = field_of(at, last + 2, "connection");
		a.closes = connection &&
			(strncmp(connection, "close\r\n", 7) == 0 ||
				strncmp(connection, "upgrade, close\r\n", 16) == 0);
		ret->upgraded = a.status == 101;
		const char *behind = parse_body(at, last + 4, end, may_be_head, &a);
		at = behind;
		if (a.status == 100)
			continue;
		/* Nothing follows the last answer. */
		FUZZ_CHECK(ret->count == 0 || !ret->list[ret->count - 1].closes);
		FUZZ_CHECK(ret->count < ANSWERS_MAX);
		ret->list[ret->count++] = a;
	}
}

struct client {
	const uint8_t *bytes;
	size_t length;
	unsigned how;
	bool may_be_head, may_fail, may_upgrade;
};

/* Check the number of answers so far against the requests sent. */
static void check_count(
	const struct client *c, size_t sent, const struct border_answers *got, struct answers *all)
{
	if (c->may_upgrade)
		return; /* then libwebsockets answers, and the client's frames may contain lines */
	read_answers(got, c->may_be_head, all);
	/* The last one may be the error for a byte that begins no head. */
	FUZZ_CHECK(all->count <= heads_in(c->bytes, sent) + 1 + (sent >= HTTP_HEAD_MAX));
}

/* Send everything in pieces of at most `most` bytes. *ret: empty if the client has disconnected. */
static void run(const struct client *c, struct random *r, size_t most, struct answers *ret)
{
	struct border_answers got = {0};
	enum conn_trust by = c->how & HOW_OWNER ? CONN_TRUST_OWNER : CONN_TRUST_NONE;
	int fd = border_connect(by, c->how & HOW_UNIX);
	for (size_t at = 0, n; at < c->length; at += n) {
		n = pieces_next(r, most, c->length - at);
		border_send(fd, &got, c->bytes + at, n);
		if (c->how & HOW_GONE) {
			border_turn();
			continue;
		}
		border_settle(fd, &got);
		check_count(c, at + n, &got, ret);
	}
	ret->count = 0;
	if (!(c->how & HOW_GONE)) {
		shutdown(fd, SHUT_WR);
		border_settle(fd, &got);
		check_count(c, c->length, &got, ret);
		for (size_t i = 0; i < ret->count && !c->may_fail; i++)
			FUZZ_CHECK(ret->list[i].whole);
	}
	border_close(fd);
	free(got.bytes);
}

/* Compare the answers to the same bytes. If a body is both invalid and too long, the error depends on the sizes of reads. */
static void expect_same(const struct answers *a, const struct answers *b)
{
	FUZZ_CHECK(a->count == b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct answer *left = &a->list[i], *right = &b->list[i];
		FUZZ_CHECK(left->closes == right->closes && left->whole == right->whole);
		if (left->closes && left->status >= 400 && right->status >= 400)
			return;
		FUZZ_CHECK(left->status == right->status);
		FUZZ_CHECK(left->status >= 300 || left->hash == right->hash);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct answers cut, whole;
	struct fuzz_input in = {data, size};
	struct client c = {.how = fuzz_byte(&in)};
	uint8_t seed = fuzz_byte(&in);
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + seed};
	c.bytes = in.at;
	c.length = in.left;
	c.may_be_head = has_text(in.at, in.left, "HEAD");
	c.may_fail = has_text(in.at, in.left, "fail");
	for (size_t i = 0; i + 9 <= in.left; i++)
		c.may_upgrade |= strncasecmp((const char *)in.at + i, "websocket", 9) == 0;
	border_open();
	run(&c, &r, seed < 128 ? 4 : 1 + (size_t)seed * 4, &cut);
	if (c.how & HOW_GONE || c.may_fail || c.may_upgrade)
		return 0;
	run(&c, &r, SIZE_MAX, &whole);
	expect_same(&cut, &whole);
	return 0;
}
