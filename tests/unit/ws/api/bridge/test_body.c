#include "ws/api/bridge/body.h"

#include "tests/lib/shortage.h"
#include "ws/api/bridge/sandbox.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct bridge bridge;
static size_t received;

static void ignore(void *user)
{
	(void)user;
}

static const struct request_transport transport = {.answered = ignore, .uploading = ignore};

static void on_whole(struct request *r, void *user, char *bytes, size_t length)
{
	(void)r;
	free(user);
	for (size_t i = 0; i < length; i++)
		cr_assert_eq(bytes[i], (char)(i % 251));
	received = length;
	bridge_body_free(&bridge, bytes);
}

static void pass(struct request *r, size_t length)
{
	char piece[UPLOAD_PIECE_MAX];
	for (size_t at = 0, n; at < length && upload_wants_piece(r); at += n) {
		n = length - at < sizeof piece ? length - at : sizeof piece;
		for (size_t i = 0; i < n; i++)
			piece[i] = (char)((at + i) % 251);
		upload_pass(r, piece, n);
	}
}

static struct request *begin(uint64_t announced)
{
	struct request *r = request_create();
	r->transport = &transport;
	r->upload.live = true;
	r->upload.length = announced;
	bridge_body_receive(&bridge, r, on_whole, malloc(1));
	return r;
}

/* Receive a body, and return the most memory that it has taken. */
static size_t measure(uint64_t announced, size_t length)
{
	shortage_count();
	struct request *r = begin(announced);
	pass(r, length);
	upload_finish(r);
	cr_expect_eq(received, length);
	cr_expect_eq(bridge.bodies, 0);
	request_unref(r);
	return shortage_peak();
}

#define AROUND ((size_t)8 << 10) /* a request, and rounding */

Test(body, takes_no_more_memory_than_was_announced)
{
	cr_expect_lt(measure(BRIDGE_BODY_MAX, BRIDGE_BODY_MAX), BRIDGE_BODY_MAX + AROUND);
	cr_expect_lt(measure(1, 1), 1 + AROUND);
	cr_expect_lt(measure(100000, 100000), 100000 + AROUND);
}

Test(body, takes_no_more_memory_than_is_allowed)
{
	cr_expect_lt(measure(UPLOAD_UNKNOWN, BRIDGE_BODY_MAX), BRIDGE_BODY_MAX + AROUND);
	cr_expect_lt(measure(UPLOAD_UNKNOWN, 100000), (size_t)300000);
}

Test(body, memory_runs_out)
{
	struct request *r = begin(UPLOAD_UNKNOWN);
	pass(r, 100);
	shortage_after(0);
	pass(r, 1 << 20);
	cr_expect_gt(shortage_over(), 0);
	cr_expect_eq(r->reply.status, 500);
	cr_expect_eq(bridge.bodies, 0);
	request_unref(r);
}
