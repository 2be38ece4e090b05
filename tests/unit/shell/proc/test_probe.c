#include "shell/proc/probe.h"

#include "tests/lib/until.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

Test(probe_parse_status, lines)
{
	static const struct {
		const char *line;
		int status;
	} cases[] = {
		{"", 0},
		{"HTTP", 0},
		{"HTTP/1.1 20", 0},
		{"HTTP/1.1 200", 0},
		{"HTTP/1.1 200 ", 200},
		{"HTTP/1.0 404\r\n", 404},
		{"HTTP/1.1 204 No Content\r\nX: y\r\n", 204},
		{"HTTP/1.1 2000 \r\n", -1},
		{"HTTP/1.1 099 \r\n", -1},
		{"HTTP/1.x 200 \r\n", -1},
		{"HTTP/1.1  200 OK\r\n", -1},
		{"HTTP/2.0 200 OK\r\n", -1},
		{"SSH-2.0", -1},
		{"X", -1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_assert_eq(probe_parse_status(cases[i].line, strlen(cases[i].line)),
			cases[i].status, "%s", cases[i].line);
}

Test(probe_path_is_valid, paths)
{
	char longest[PROBE_PATH_MAX + 2] = "/";
	cr_assert(probe_path_is_valid("/"));
	cr_assert(probe_path_is_valid("/a?b=c&d=%20#e"));
	cr_assert_not(probe_path_is_valid(""));
	cr_assert_not(probe_path_is_valid("a"));
	cr_assert_not(probe_path_is_valid("/a b"));
	cr_assert_not(probe_path_is_valid("/a\r\nHost: x"));
	cr_assert_not(probe_path_is_valid("/\x7f"));
	cr_assert_not(probe_path_is_valid("/\xc3\xbc"));
	memset(longest + 1, 'x', PROBE_PATH_MAX - 1);
	cr_assert(probe_path_is_valid(longest));
	longest[PROBE_PATH_MAX] = 'x';
	cr_assert_not(probe_path_is_valid(longest));
}

struct result {
	unsigned times;
	bool ready, closed;
};

static void on_done(void *user, bool ready, int status)
{
	struct result *r = user;
	(void)status;
	r->times++;
	r->ready = ready;
}

static void on_closed(void *user)
{
	((struct result *)user)->closed = true;
}

/* Bind a port, and listen if requested. */
static int bind_port(bool listening, unsigned *ret_port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_geq(fd, 0);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	if (listening)
		cr_assert_eq(listen(fd, 8), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

Test(probe, reports_each_result_once, .timeout = 30)
{
	uv_loop_t loop;
	struct probe p;
	struct result r = {0};
	struct probe_options o = {.path = "/"};
	cr_assert_eq(uv_loop_init(&loop), 0);
	probe_init(&p, &loop, on_done, &r);
	int fd = bind_port(false, &o.port);
	probe_start(&p, &o);
	cr_assert(LOOP_UNTIL(&loop, r.times == 1));
	cr_assert_not(r.ready);
	cr_assert_eq(listen(fd, 8), 0);
	probe_start(&p, &o);
	cr_assert(LOOP_UNTIL(&loop, r.times == 2));
	cr_assert(r.ready);
	/* If it is closed while it runs, it reports nothing. */
	o.http = true;
	o.status_min = 200;
	o.status_max = 299;
	probe_start(&p, &o);
	probe_close(&p, on_closed);
	cr_assert(LOOP_UNTIL(&loop, r.closed));
	cr_assert_eq(r.times, 2);
	r.closed = false;
	probe_init(&p, &loop, on_done, &r);
	probe_close(&p, on_closed);
	cr_assert(LOOP_UNTIL(&loop, r.closed));
	close(fd);
	uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&loop), 0);
}
