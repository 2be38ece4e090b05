#include "tests/lib/counting_transport.h"
#include "ws/request.h"

#include <criterion/criterion.h>
#include <string.h>

static struct {
	unsigned closed;
	const char *text; /* read in pieces of 4; NULL: none yet */
	bool fails;
} seen;

static const struct request_transport transport = {
	.answered = count_answered, .downloading = count_downloading, .more = count_more};
static const struct request_transport without = {.answered = count_answered};

static enum download_state on_next(void *user, const char **ret_bytes, size_t *ret_length)
{
	(void)user;
	if (seen.fails || !seen.text)
		return seen.fails ? DOWNLOAD_FAILED : DOWNLOAD_WAIT;
	if (!*seen.text)
		return DOWNLOAD_END;
	*ret_bytes = seen.text;
	*ret_length = strlen(seen.text) < 4 ? strlen(seen.text) : 4;
	seen.text += *ret_length;
	return DOWNLOAD_PIECE;
}

static void on_closed(void *user)
{
	(void)user;
	seen.closed++;
}

static const struct download_source source = {.next = on_next, .closed = on_closed};

static struct request *r;
static char text[32]; /* of read_all() */

static void abandon(void)
{
	if (r)
		request_abandon(r);
	r = NULL;
}

TestSuite(download, .fini = abandon);

static void begin(const struct request_transport *t, uint64_t length)
{
	r = request_create();
	cr_assert_not_null(r);
	r->transport = t;
	download_reply(r, 206, "text/plain", length, &source);
}

/* Read all pieces. Returns what ended them. */
static enum download_state read_all(void)
{
	enum download_state state;
	const char *bytes;
	size_t length;
	*text = '\0';
	while ((state = download_next(r, &bytes, &length)) == DOWNLOAD_PIECE)
		strncat(text, bytes, length);
	return state;
}

Test(download, unknown_length_continues_until_the_end)
{
	begin(&transport, DOWNLOAD_UNKNOWN);
	cr_assert_eq(calls.downloading, 1);
	cr_assert_eq(r->reply.status, 206);
	cr_assert_eq(read_all(), DOWNLOAD_WAIT);
	seen.text = "one two three";
	download_more(r);
	cr_assert_eq(calls.more, 1);
	cr_assert_eq(read_all(), DOWNLOAD_END);
	cr_assert_str_eq(text, "one two three");
	download_close(r);
	download_more(r);
	cr_assert_eq(calls.more, 1);
	abandon();
	cr_assert_eq(seen.closed, 1);
	cr_assert_eq(calls.answered, 0);
}

Test(download, known_length_is_never_exceeded)
{
	begin(&transport, 6);
	seen.text = "one two three";
	cr_assert_eq(read_all(), DOWNLOAD_END);
	cr_assert_str_eq(text, "one tw");
	abandon();
	cr_assert_eq(seen.closed, 1);
}

Test(download, too_few_bytes_are_a_failure)
{
	begin(&transport, 14);
	seen.text = "one two three";
	cr_assert_eq(read_all(), DOWNLOAD_FAILED);
}

Test(download, end_of_access_closes_it)
{
	begin(&transport, 14);
	seen.text = "one two three!";
	request_cut(r);
	cr_assert_eq(seen.closed, 1);
	cr_assert_eq(calls.more, 1);
	cr_assert_eq(read_all(), DOWNLOAD_FAILED);
	abandon();
	cr_assert_eq(seen.closed, 1);
}

Test(download, transport_without_downloads_gets_an_error)
{
	begin(&without, 14);
	cr_assert_eq(seen.closed, 1);
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(r->reply.status, 501);
}

Test(download, is_closed_if_the_client_has_gone)
{
	r = request_create();
	struct request *kept = request_ref(r);
	r->transport = &transport;
	abandon();
	download_reply(kept, 200, NULL, 1, &source);
	cr_assert_eq(seen.closed, 1);
	cr_assert_eq(calls.downloading, 0);
	request_unref(kept);
}
