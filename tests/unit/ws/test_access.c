/* Requests and claims after their link was revoked or has expired. */
#include "shell/clock.h"
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
	access_close(&access_all);
	auth_close(&auth);
	folder_remove(&folder);
}

TestSuite(access, .init = open_all, .fini = close_all, .timeout = 60);

/* A transport, which counts its calls. */
struct calls {
	unsigned answered, streaming, more;
};

static void on_answered(void *user)
{
	((struct calls *)user)->answered++;
}
static void on_streaming(void *user)
{
	((struct calls *)user)->streaming++;
}
static void on_more(void *user)
{
	((struct calls *)user)->more++;
}
static const struct request_transport transport = {
	.answered = on_answered, .streaming = on_streaming, .more = on_more};

/* A handler that replies later, and counts its calls. */
static struct request *held;
static unsigned gone, closed;

static void on_gone(void *user)
{
	struct request *r = user;
	gone++;
	request_unref(r);
}

static char *next_event(void *user)
{
	(void)user;
	return strdup("{\"text\":1}");
}

static void on_closed(void *user)
{
	struct request *r = user;
	closed++;
	request_unref(r);
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

static struct request *ask(const char *path, const struct principal *p, struct calls *calls)
{
	static struct sessions sessions;
	static struct metrics metrics;
	struct dispatcher d = {.sessions = &sessions, .metrics = &metrics, .access = &access_all};
	struct request *r = request_create();
	routes_add(&d.routes, rows, NULL);
	r->path = strdup(path);
	r->principal = *p;
	r->auth = AUTH_OK;
	r->transport = &transport;
	r->transport_user = calls;
	dispatcher_handle(&d, r);
	return r;
}

static void revoke_link(void)
{
	cr_assert_eq(links_revoke(&auth.links, link_id), 0);
	access_sweep(&access_all);
}

Test(access, pending_request_is_answered_and_its_handler_notified)
{
	struct calls calls = {0};
	struct request *r = ask("/hold", &viewer, &calls);
	cr_assert_eq(access_all.quotas.had[QUOTA_REQUESTS], 1);
	access_sweep(&access_all);
	cr_assert_eq(calls.answered, 0);
	revoke_link();
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(gone, 1);
	cr_assert_eq(r->reply.status, 401);
	cr_assert_not_null(strstr(r->reply.body, "ACCESS_ENDED"));
	cr_assert_eq(access_all.quotas.had[QUOTA_REQUESTS], 0);
	request_abandon(r);
}

Test(access, later_reply_of_the_handler_is_dropped)
{
	struct calls calls = {0};
	struct request *r = ask("/deaf", &viewer, &calls);
	revoke_link();
	reply_header(held, "X", "secret");
	reply_success(held, json_pack("{s:s}", "text", "secret"));
	request_unref(held);
	cr_assert_eq(calls.answered, 1);
	cr_assert_null(strstr(r->reply.body, "secret"));
	cr_assert_eq(r->reply.headers_count, 0);
	request_abandon(r);
}

Test(access, late_reply_is_checked_again)
{
	struct calls calls = {0};
	struct request *r = ask("/deaf", &viewer, &calls);
	cr_assert_eq(links_revoke(&auth.links, link_id), 0);
	reply_success(held, json_pack("{s:s}", "text", "secret"));
	request_unref(held);
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(r->reply.status, 401);
	cr_assert_null(strstr(r->reply.body, "secret"));
	request_abandon(r);
}

Test(access, late_stream_is_refused)
{
	struct calls calls = {0};
	struct request *r = ask("/deaf", &viewer, &calls);
	cr_assert_eq(links_revoke(&auth.links, link_id), 0);
	reply_stream(held,
		&(struct event_stream){.next = next_event, .closed = on_closed, .user = held});
	cr_assert_eq(closed, 1);
	cr_assert_eq(calls.streaming, 0);
	cr_assert_eq(calls.answered, 1);
	cr_assert_eq(r->reply.status, 401);
	request_abandon(r);
}

Test(access, stream_gets_one_last_event)
{
	struct calls calls = {0};
	struct request *r = ask("/stream", &viewer, &calls);
	cr_assert_eq(access_all.quotas.had[QUOTA_STREAMS], 1);
	cr_assert_eq(access_all.quotas.had[QUOTA_REQUESTS], 0);
	revoke_link();
	cr_assert_eq(closed, 1);
	cr_assert_eq(calls.more, 1);
	char *event = r->stream.next(r->stream.user);
	cr_assert_not_null(strstr(event, "ACCESS_ENDED"));
	free(event);
	cr_assert_null(r->stream.next(r->stream.user));
	cr_assert(r->stream_complete);
	cr_assert_eq(access_all.quotas.had[QUOTA_STREAMS], 0);
	request_abandon(r);
}

Test(access, expiry_needs_no_sweep_before)
{
	struct calls calls = {0};
	viewer.expires_ms = clock_wall_ms();
	access_all.seen = auth_revoked(&auth);
	struct request *r = ask("/hold", &viewer, &calls);
	cr_assert_eq(r->reply.status, 401, "the request is refused at once");
	request_abandon(r);
	viewer.expires_ms = clock_wall_ms() + 3600000;
	r = ask("/hold", &viewer, &calls);
	r->principal.expires_ms = clock_wall_ms();
	access_sweep(&access_all);
	cr_assert_eq(gone, 1);
	cr_assert_eq(calls.answered, 2);
	request_abandon(r);
}

Test(access, requests_of_other_principals_continue)
{
	struct calls calls = {0};
	const struct principal owner = {.role = ROLE_OWNER};
	struct request *r = ask("/hold", &owner, &calls);
	revoke_link();
	cr_assert_eq(calls.answered, 0);
	cr_assert_eq(gone, 0);
	reply_success(held, NULL);
	request_unref(held);
	cr_assert_eq(r->reply.status, 200);
	request_abandon(r);
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
