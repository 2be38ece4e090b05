#include "tests/lib/counting_transport.h"
#include "ws/request.h"

#include <criterion/criterion.h>
#include <string.h>

/* A handler that counts its calls. */
static struct {
	char got[64];
	size_t length;
	unsigned pieces, completed, broken, gone;
	enum upload_end why;
	bool pause, answer, resume; /* what the next piece's callback calls */
} seen;

static struct request *r;

static const struct request_transport live = {
	.answered = count_answered, .uploading = count_uploading};
static const struct request_transport whole = {.answered = count_answered};

static void on_piece(void *user, const char *bytes, size_t length)
{
	cr_assert_eq(user, &seen);
	memcpy(seen.got + seen.length, bytes, length);
	seen.length += length;
	seen.pieces++;
	if (seen.pause)
		upload_pause(r);
	if (seen.resume)
		upload_resume(r);
	if (seen.answer)
		reply_error(r, "NO_SPACE", "full", NULL);
}

static void on_complete(void *user)
{
	(void)user;
	seen.completed++;
}

static void on_broken(void *user, enum upload_end why)
{
	(void)user;
	seen.broken++;
	seen.why = why;
}

static void on_gone(void *user)
{
	(void)user;
	seen.gone++;
}

static const struct upload_sink sink = {
	.piece = on_piece, .complete = on_complete, .broken = on_broken, .user = &seen};

static void make(const struct request_transport *transport, const char *body)
{
	r = request_create();
	cr_assert_not_null(r);
	r->transport = transport;
	r->upload.live = transport == &live;
	r->upload.length = UPLOAD_UNKNOWN;
	r->gone = on_gone;
	if (body) {
		r->body = strdup(body);
		r->body_length = strlen(body);
	}
}

static void open_live(void)
{
	make(&live, NULL);
}

static void begin_live(void)
{
	open_live();
	upload_begin(r, &sink);
}

/* Tests abandon their request themselves if something is expected after that. */
static void abandon(void)
{
	if (r)
		request_abandon(r);
	r = NULL;
}

TestSuite(upload, .init = begin_live, .fini = abandon);
TestSuite(upload_begin, .init = open_live, .fini = abandon);
TestSuite(upload_whole, .fini = abandon);

Test(upload_begin, nothing_is_wanted_before_the_handler_begins)
{
	cr_assert_eq(upload_length(r), UPLOAD_UNKNOWN);
	cr_assert_not(upload_wants_piece(r));
	upload_begin(r, &sink);
	cr_assert(upload_wants_piece(r));
	cr_assert_eq(calls.uploading, 1);
	upload_pass(r, "ab", 2);
	upload_pass(r, "c", 1);
	cr_assert_eq(seen.completed, 0);
	upload_finish(r);
	cr_assert_str_eq(seen.got, "abc");
	cr_assert_eq(seen.pieces, 2);
	cr_assert_eq(seen.completed, 1);
	cr_assert_not(upload_wants_piece(r));
	reply_success(r, NULL);
	abandon();
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(seen.broken + seen.gone, 0);
}

Test(upload, paused_upload_wants_nothing_until_it_resumes)
{
	upload_resume(r); /* it is not paused */
	cr_assert_eq(calls.uploading, 1);
	seen.pause = true;
	upload_pass(r, "a", 1);
	cr_assert_not(upload_wants_piece(r));
	upload_resume(r);
	cr_assert(upload_wants_piece(r));
	cr_assert_eq(calls.uploading, 2);
}

Test(upload, lost_client_is_reported_once)
{
	upload_pass(r, "a", 1);
	struct request *kept = request_ref(r);
	abandon();
	cr_assert_eq(seen.broken, 1);
	cr_assert_eq(seen.why, UPLOAD_LOST);
	cr_assert_eq(seen.gone, 0);
	reply_success(kept, NULL); /* dropped */
	cr_assert_eq(calls.answered, 0);
	request_unref(kept);
}

Test(upload, client_lost_before_the_reply_is_reported_by_gone)
{
	upload_finish(r);
	abandon();
	cr_assert_eq(seen.completed, 1);
	cr_assert_eq(seen.broken, 0);
	cr_assert_eq(seen.gone, 1);
}

Test(upload_begin, client_lost_before_the_begin_is_reported_by_gone_and_broken)
{
	struct request *kept = request_ref(r);
	abandon();
	cr_assert_eq(seen.gone, 1);
	cr_assert_eq(seen.broken, 0);
	upload_begin(kept, &sink);
	cr_assert_eq(seen.broken, 1);
	cr_assert_eq(seen.why, UPLOAD_LOST);
	request_unref(kept);
}

Test(upload, reply_from_a_piece_ends_the_upload)
{
	seen.answer = true;
	upload_pass(r, "a", 1);
	cr_assert_eq(calls.answered, 1);
	cr_assert_not(upload_wants_piece(r));
	cr_assert_not(upload_abort(r, UPLOAD_SLOW));
	abandon();
	cr_assert_eq(seen.completed + seen.broken + seen.gone, 0);
}

Test(upload, refusal_by_the_transport_is_answered_once)
{
	struct request *kept = request_ref(r);
	upload_refuse(r, UPLOAD_TOO_LARGE, "REQUEST_TOO_LARGE", "too large");
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(seen.broken, 1);
	cr_assert_eq(seen.why, UPLOAD_TOO_LARGE);
	cr_assert_eq(r->reply.status, 413);
	reply_success(r, NULL); /* a handler without callbacks */
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(r->reply.status, 413);
	abandon();
	cr_assert_eq(seen.broken + seen.gone, 1);
	request_unref(kept);
}

Test(upload, end_of_access_is_reported)
{
	request_cut(r);
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(seen.broken, 1);
	cr_assert_eq(seen.why, UPLOAD_CUT);
	cr_assert_eq(r->reply.status, 401);
	abandon();
	cr_assert_eq(seen.broken + seen.gone, 1);
}

Test(upload_begin, end_of_access_before_the_begin)
{
	request_cut(r);
	cr_assert_eq(seen.gone, 1);
	upload_begin(r, &sink);
	cr_assert_eq(seen.why, UPLOAD_CUT);
	cr_assert_eq(seen.broken, 1);
}

Test(upload_whole, whole_body_is_one_piece)
{
	make(&whole, "hello");
	cr_assert_eq(upload_length(r), 5);
	upload_begin(r, &sink);
	cr_assert_str_eq(seen.got, "hello");
	cr_assert_eq(seen.pieces, 1);
	cr_assert_eq(seen.completed, 1);
	reply_success(r, NULL);
	abandon();
	cr_assert_eq(seen.broken + seen.gone, 0);
}

Test(upload_whole, empty_whole_body_ends_at_once)
{
	make(&whole, NULL);
	upload_begin(r, &sink);
	cr_assert_eq(seen.pieces, 0);
	cr_assert_eq(seen.completed, 1);
}

Test(upload_whole, end_of_a_whole_body_waits_while_paused)
{
	make(&whole, "x");
	seen.pause = true;
	upload_begin(r, &sink);
	cr_assert_eq(seen.completed, 0);
	upload_resume(r);
	cr_assert_eq(seen.completed, 1);
	cr_assert_eq(seen.pieces, 1);
}

Test(upload_whole, resume_in_a_callback_does_not_recurse)
{
	make(&whole, "x");
	seen.pause = seen.resume = true;
	upload_begin(r, &sink);
	cr_assert_eq(seen.completed, 1);
	cr_assert_eq(seen.pieces, 1);
}
