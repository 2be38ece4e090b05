/* Requests and claims after their link was revoked or has expired. */
#include "shell/clock.h"
#include "tests/lib/counting_transport.h"
#include "tests/lib/folder.h"
#include "ws/access.h"
#include "ws/dispatcher.h"

#include <criterion/criterion.h>
#include <string.h>

static struct folder folder;
static struct auth auth;
static struct access access_all;
static struct principal viewer;
static char link_id[LINK_ID_SIZE];
static struct request *pending; /* abandoned at the end */

static void open_all(void)
{
	char *token;
	struct link_entry e = {.role = ROLE_VIEWER, .expires_ms = clock_wall_ms() + 3600000};
	folder_make(&folder);
	const struct auth_options o = {.runtime_dir = folder.path};
	cr_assert_eq(auth_open(&auth, &o), 0);
	strcpy(e.session, "s");
	cr_assert_eq(links_issue(&auth.links, &e, clock_wall_ms(), &token), 0);
	free(token);
	strcpy(link_id, e.id);
	viewer = (struct principal){.role = ROLE_VIEWER, .expires_ms = e.expires_ms};
	strcpy(viewer.session, "s");
	strcpy(viewer.link, e.id);
	access_open(&access_all, &auth, 100);
}

static void close_all(void)
{
	if (pending)
		request_abandon(pending);
	access_close(&access_all);
	auth_close(&auth);
	folder_remove(&folder);
}

TestSuite(access, .init = open_all, .fini = close_all, .timeout = 60);

static const struct request_transport transport = {
	.answered = count_answered, .streaming = count_streaming, .more = count_more};

/* A handler that replies later, and counts its calls. */
static struct request *held;
static unsigned gone, closed;

static void on_gone(void *user)
{
	gone++;
	request_unref(user);
}

static char *next_event(void *user)
{
	(void)user;
	return strdup("{\"text\":1}");
}

static void on_closed(void *user)
{
	closed++;
	request_unref(user);
}

static void hold(struct request *r)
{
	held = request_ref(r);
	r->gone = on_gone;
	r->gone_user = r;
}

static void hold_without_notice(struct request *r)
{
	held = request_ref(r);
}

static void stream(struct request *r)
{
	held = request_ref(r);
	reply_stream(r, &(struct event_stream){.next = next_event, .closed = on_closed, .user = r});
}

static const struct route_row rows[] = {
	{METHOD_GET, "/hold", ROUTE_VIEWER, .plain = hold},
	{METHOD_GET, "/deaf", ROUTE_VIEWER, .plain = hold_without_notice},
	{METHOD_GET, "/stream", ROUTE_VIEWER, .plain = stream},
	{.path = NULL},
};

static void ask(const char *path, const struct principal *p)
{
	static struct sessions sessions;
	static struct metrics metrics;
	struct dispatcher d = {.sessions = &sessions, .metrics = &metrics, .access = &access_all};
	pending = request_create();
	routes_add(&d.routes, rows, NULL);
	pending->path = strdup(path);
	pending->principal = *p;
	pending->auth = AUTH_OK;
	pending->transport = &transport;
	dispatcher_handle(&d, pending);
}

static void revoke_link(void)
{
	cr_assert_eq(links_revoke(&auth.links, link_id), 0);
	access_sweep(&access_all);
}

Test(access, pending_request_is_answered_and_its_handler_notified)
{
	ask("/hold", &viewer);
	cr_assert_eq(access_all.quotas.had[QUOTA_REQUESTS], 1);
	access_sweep(&access_all);
	cr_assert_eq(calls.answered, 0);
	revoke_link();
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(gone, 1);
	cr_assert_eq(pending->reply.status, 401);
	cr_assert_not_null(strstr(pending->reply.body, "ACCESS_ENDED"));
	cr_assert_eq(access_all.quotas.had[QUOTA_REQUESTS], 0);
}

Test(access, later_reply_of_the_handler_is_dropped)
{
	ask("/deaf", &viewer);
	revoke_link();
	reply_header(held, "X", "secret");
	reply_success(held, json_pack("{s:s}", "text", "secret"));
	request_unref(held);
	cr_assert_eq(calls.answered, 1);
	cr_assert_null(strstr(pending->reply.body, "secret"));
	cr_assert_eq(pending->reply.headers_count, 0);
}

Test(access, late_reply_is_checked_again)
{
	ask("/deaf", &viewer);
	cr_assert_eq(links_revoke(&auth.links, link_id), 0);
	reply_success(held, json_pack("{s:s}", "text", "secret"));
	request_unref(held);
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(pending->reply.status, 401);
	cr_assert_null(strstr(pending->reply.body, "secret"));
}

Test(access, late_stream_is_refused)
{
	ask("/deaf", &viewer);
	cr_assert_eq(links_revoke(&auth.links, link_id), 0);
	reply_stream(held,
		&(struct event_stream){.next = next_event, .closed = on_closed, .user = held});
	cr_assert_eq(closed, 1);
	cr_assert_eq(calls.streaming, 0);
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(pending->reply.status, 401);
}

Test(access, stream_gets_one_last_event)
{
	ask("/stream", &viewer);
	cr_assert_eq(access_all.quotas.had[QUOTA_STREAMS], 1);
	cr_assert_eq(access_all.quotas.had[QUOTA_REQUESTS], 0);
	revoke_link();
	cr_assert_eq(closed, 1);
	cr_assert_eq(calls.more, 1);
	char *event = pending->stream.next(pending->stream.user);
	cr_assert_not_null(strstr(event, "ACCESS_ENDED"));
	free(event);
	cr_assert_null(pending->stream.next(pending->stream.user));
	cr_assert(pending->stream_complete);
	cr_assert_eq(access_all.quotas.had[QUOTA_STREAMS], 0);
}

Test(access, expiry_needs_no_sweep_before)
{
	viewer.expires_ms = clock_wall_ms();
	access_all.seen = auth_revoked(&auth);
	ask("/hold", &viewer);
	cr_assert_eq(pending->reply.status, 401, "the request is refused at once");
	request_abandon(pending);
	viewer.expires_ms = clock_wall_ms() + 3600000;
	ask("/hold", &viewer);
	pending->principal.expires_ms = clock_wall_ms();
	access_sweep(&access_all);
	cr_assert_eq(gone, 1);
	cr_assert_eq(calls.answered, 2);
}

Test(access, requests_of_other_principals_continue)
{
	const struct principal owner = {.role = ROLE_OWNER};
	ask("/hold", &owner);
	revoke_link();
	cr_assert_eq(calls.answered, 0);
	cr_assert_eq(gone, 0);
	reply_success(held, NULL);
	request_unref(held);
	cr_assert_eq(pending->reply.status, 200);
}

static unsigned withdrawn;

static void on_withdrawn(struct claim *c)
{
	withdrawn++;
	claim_release(&c);
}

Test(access, claims_are_withdrawn)
{
	static const struct access_amount want[ACCESS_PLACES] = {
		{QUOTA_WAITS, 1}, {QUOTA_PATTERNS, 3}};
	struct claim *mine, *owners;
	const struct principal owner = {.role = ROLE_OWNER};
	cr_assert_eq(access_claim(&access_all, &viewer, want, &mine, NULL), 0);
	cr_assert_eq(access_claim(&access_all, &owner, want, &owners, NULL), 0);
	mine->withdraw = owners->withdraw = on_withdrawn;
	cr_assert_str_eq(mine->key, link_id);
	cr_assert_str_eq(owners->key, "");
	cr_assert_eq(access_all.quotas.had[QUOTA_PATTERNS], 3);
	revoke_link();
	cr_assert_eq(withdrawn, 1);
	cr_assert_eq(access_all.quotas.had[QUOTA_PATTERNS], 0);
	claim_release(&owners);
}

Test(access, refused_claim_uses_no_quota)
{
	static const struct access_amount want[ACCESS_PLACES] = {
		{QUOTA_WAITS, 1}, {QUOTA_PATTERNS, 1000}};
	struct claim *c;
	enum quota_kind kind;
	cr_assert_lt(access_claim(&access_all, &viewer, want, &c, &kind), 0);
	cr_assert_null(c);
	cr_assert_eq(kind, QUOTA_PATTERNS);
	cr_assert_eq(access_all.quotas.had[QUOTA_WAITS], 0);
}
