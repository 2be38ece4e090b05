/* POST /api/session/ID/wait for a port, and for the lease. */
#include "tests/lib/memory_api.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(api_wait_port, .init = memory_api_open_session, .fini = memory_api_close, .timeout = 60);
TestSuite(api_wait_lease, .init = memory_api_open_session, .fini = memory_api_close, .timeout = 60);

#define WAIT "POST /api/session/s/wait"
#define LEASE "POST /api/session/s/lease"
#define UNTIL_1(rest) "{'until':[{" rest "}]}"
#define UNTIL_LEASE UNTIL_1("'type':'lease'")
#define MANY 17 /* one port more than a session may wait for */

/* Bind a port without listening. */
static int bind_port(unsigned *ret_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static struct call *wait_for_port(unsigned port)
{
	char body[128];
	snprintf(body, sizeof body, "{'until':[{'type':'exit'},{'type':'port','port':%u}]}", port);
	return memory_api_begin(WAIT, body);
}

Test(api_wait_port, invalid_requests)
{
	static const struct refused cases[] = {
		{WAIT, UNTIL_1("'type':'port'"), INVALID, "until[0].port"},
		{WAIT, UNTIL_1("'type':'port','port':80"), 403, "PERMISSION_DENIED", NULL, BY_DRIVER},
		{WAIT, UNTIL_1("'type':'port','port':80"), 403, "PERMISSION_DENIED", NULL,
			BY_VIEWER}};
	EXPECT_REFUSED(cases);
	EXPECT_INVALID_IN("until[0].", WAIT, "{'until':[{'type':'port',", "'port':null", "'port':0",
		"'port':65536", "'port':-1", "'port':'80'", "'port':80.5");
}

Test(api_wait_port, until_a_process_listens)
{
	unsigned port;
	int fd = bind_port(&port);
	struct call *c = wait_for_port(port), *none = wait_for_port(port);
	memory_api_settle();
	cr_expect_not(c->answered);
	call_end(none);
	cr_assert_eq(listen(fd, 1), 0);
	call_has(c, "{'fired':1,'type':'port'}");
	call_await(c = wait_for_port(port));
	cr_expect_str_eq(call_text(c, "type"), "port", "a port that listens already");
	close(fd);
}

Test(api_wait_port, other_ends_of_the_wait)
{
	unsigned port;
	int fd = bind_port(&port);
	struct call *ends = wait_for_port(port);
	memory_holder_exit(memory_api_holder("s"), 0);
	call_has(ends, "{'type':'exit'}");
	memory_api_start("t");
	char line[] = "POST /api/session/t/wait", body[128];
	snprintf(body, sizeof body, UNTIL_1("'type':'port','port':%u"), port);
	struct call *deleted = memory_api_begin(line, body);
	cr_expect_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'t'}"), 200);
	call_await(deleted);
	cr_expect_str_eq(call_code(deleted), "SESSION_DESTROYED");
	close(fd);
}

Test(api_wait_port, number_of_a_session_is_limited)
{
	struct call *all[MANY];
	unsigned port;
	int fd = bind_port(&port);
	for (unsigned i = 0; i < MANY; i++)
		all[i] = wait_for_port(port);
	call_await(all[MANY - 1]);
	cr_expect_eq(call_status(all[MANY - 1]), 429);
	cr_expect_str_eq(call_code(all[MANY - 1]), "LIMIT_REACHED");
	cr_expect_not(all[MANY - 2]->answered);
	call_end(all[0]);
	struct call *next = wait_for_port(port);
	memory_api_settle();
	cr_expect_not(next->answered, "an ended wait leaves a place");
	close(fd);
}

Test(api_wait_lease, free_lease)
{
	memory_api_check(WAIT, UNTIL_LEASE, "{'type':'lease'}");
	cr_expect_eq(memory_api_status(LEASE, "{'mode':'advisory'}"), 200);
	struct call *c = memory_api_call(WAIT, UNTIL_LEASE);
	cr_expect_str_eq(call_text(c, "type"), "lease", "an advisory lease does not count");
}

Test(api_wait_lease, until_the_lease_is_released)
{
	char line[256];
	struct call *lease = memory_api_call(LEASE, "{}");
	struct call *c = memory_api_begin(WAIT, UNTIL_LEASE);
	memory_api_settle();
	cr_expect_not(c->answered);
	memory_api_check(WAIT, "{'until':[{'type':'lease'}],'timeoutMs':0}", "{'type':'timeout'}");
	snprintf(line, sizeof line, "DELETE /api/session/s/lease?id=%s",
		call_text(lease, "lease.id"));
	cr_expect_eq(memory_api_status(line, NULL), 200);
	call_has(c, "{'fired':0,'type':'lease'}");
}

Test(api_wait_lease, until_the_lease_expires)
{
	cr_assert_eq(memory_api_status(LEASE, "{'ttlMs':1000}"), 200);
	struct call *c = memory_api_begin(WAIT, UNTIL_LEASE);
	memory_api_settle();
	cr_expect_not(c->answered);
	call_has(c, "{'type':'lease'}");
}
