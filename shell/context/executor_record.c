#include "shell/context/executor_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_LEAST ((size_t)4 << 10)
#define KEEP_MAX ((size_t)64 << 10) /* bytes of a body's memory that are kept for the next frame */

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns 0 or -EPROTO. */
static int read_header(struct executor_records *r)
{
	const uint8_t *h = r->header;
	size_t length = (size_t)h[4] << 24 | (size_t)h[5] << 16 | (size_t)h[6] << 8 | h[7];
	bool known = h[2] == EXECUTOR_HELLO || h[2] == EXECUTOR_RESULT || h[2] == EXECUTOR_DONE;
	if (h[0] != 'r' || h[1] != 's' || !known || h[3] != '1' || length > EXECUTOR_RECORD_MAX)
		return -EPROTO;
	r->expected = length;
	r->length = 0;
	return 0;
}

/* Make space for more bytes of the body and a NUL. */
static int grow(struct executor_records *r, size_t more)
{
	size_t wanted = r->length + more + 1, capacity = r->capacity;
	if (wanted <= capacity)
		return 0;
	while (capacity < wanted)
		capacity = capacity < CAPACITY_LEAST ? CAPACITY_LEAST : 2 * capacity;
	uint8_t *body = realloc(r->body, capacity);
	if (!body)
		return -ENOMEM;
	r->body = body;
	r->capacity = capacity;
	return 0;
}

/* Report a complete frame. */
static int deliver(struct executor_records *r, executor_record_visit visit, void *user)
{
	enum executor_record_type type = (enum executor_record_type)r->header[2];
	uint8_t *body = r->body;
	size_t length = r->length, capacity = r->capacity;
	body[length] = '\0';
	r->body = NULL;
	r->header_length = r->length = r->capacity = 0;
	bool on = visit(user, type, (const char *)body, length);
	if (!on || capacity > KEEP_MAX) {
		free(body);
	} else {
		r->body = body;
		r->capacity = capacity;
	}
	return on ? 0 : -ECANCELED;
}

/* Consume bytes of the header or the body. Returns 0 or a negative errno. */
static int consume(struct executor_records *r, const uint8_t **bytes, size_t *left)
{
	size_t n;
	if (r->header_length < EXECUTOR_RECORD_HEADER) {
		n = smaller(*left, EXECUTOR_RECORD_HEADER - r->header_length);
		memcpy(r->header + r->header_length, *bytes, n);
		r->header_length += n;
		*bytes += n;
		*left -= n;
		if (r->header_length < EXECUTOR_RECORD_HEADER)
			return 0;
		int rc = read_header(r);
		if (rc < 0)
			return rc;
	}
	n = smaller(*left, r->expected - r->length);
	int rc = grow(r, n);
	if (rc < 0)
		return rc;
	if (n > 0)
		memcpy(r->body + r->length, *bytes, n);
	r->length += n;
	*bytes += n;
	*left -= n;
	return 0;
}

int executor_records_feed(struct executor_records *r, const void *bytes, size_t length,
	executor_record_visit visit, void *user)
{
	const uint8_t *at = bytes;
	int rc = r->broken ? -EPROTO : 0;
	while (rc == 0 && length > 0) {
		rc = consume(r, &at, &length);
		if (rc < 0)
			r->broken = true;
		else if (r->header_length == EXECUTOR_RECORD_HEADER && r->length == r->expected)
			rc = deliver(r, visit, user);
	}
	return rc;
}

void executor_records_finish(struct executor_records *r)
{
	free(r->body);
	*r = (struct executor_records){.broken = true};
}

void executor_record_header(
	enum executor_record_type type, size_t length, uint8_t ret[EXECUTOR_RECORD_HEADER])
{
	ret[0] = 'r';
	ret[1] = 's';
	ret[2] = (uint8_t)type;
	ret[3] = '1';
	for (unsigned i = 0; i < 4; i++)
		ret[4 + i] = (uint8_t)(length >> (24 - 8 * i));
}
