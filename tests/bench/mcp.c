/*
 * The same command asked for over MCP and over the API, on a kept HTTP connection each, in turn. The measure
 * of MCP is the API: what it adds is the reading of the message, the checks, and the result's text.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "target.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS 200 /* in a round, of each kind */
#define ROUNDS_MAX 101
#define WAIT_MS 60000
#define ANSWER ((size_t)256 << 10)

/* A connection, what is sent on it each time, and what has to be in the answer. */
struct way {
	int fd;
	char request[2048];
	size_t length;
	const char *expected;
};

static void open_way(struct way *w, const struct target *t, const char *path, const char *headers,
	const char *body, const char *expected)
{
	w->fd = client_connect(t->port);
	w->expected = expected;
	w->length = (size_t)snprintf(w->request, sizeof w->request,
		"POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n%s\r\n%s",
		path, t->port, strlen(body), headers, body);
}

static double ask_us(const struct way *w)
{
	static char answer[ANSWER];
	size_t length = 0;
	uint64_t start = stats_now_ns();
	if (write(w->fd, w->request, w->length) != (ssize_t)w->length)
		die("request");
	for (;;) {
		struct pollfd p = {.fd = w->fd, .events = POLLIN};
		errno = 0;
		if (poll(&p, 1, WAIT_MS) <= 0)
			die("no answer");
		ssize_t n = read(w->fd, answer + length, sizeof answer - 1 - length);
		if (n <= 0)
			die("answer");
		length += (size_t)n;
		answer[length] = '\0';
		const char *body = strstr(answer, "\r\n\r\n");
		const char *field = strstr(answer, "content-length: ");
		if (!body || !field ||
			length < (size_t)(body + 4 - answer) + strtoul(field + 16, NULL, 10))
			continue;
		if (!strstr(body, w->expected))
			die(body);
		return (double)(stats_now_ns() - start) / 1e3;
	}
}

/* Both in turn; the medians. */
static void measure(const struct way *api, const struct way *mcp, double *ret_api, double *ret_mcp)
{
	static double us[2][COMMANDS];
	for (unsigned i = 0; i < COMMANDS; i++) {
		us[i % 2][i] = ask_us(i % 2 ? mcp : api);
		us[1 - i % 2][i] = ask_us(i % 2 ? api : mcp);
	}
	*ret_api = stats_median(us[0], COMMANDS);
	*ret_mcp = stats_median(us[1], COMMANDS);
}

int main(int argc, char **argv)
{
	static const char modern[] =
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: exec\r\n"
		"Accept: application/json, text/event-stream\r\n";
	static const char call[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"exec\","
		"\"arguments\":{\"session_id\":\"s\",\"command\":\"%s\"},\"_meta\":{"
		"\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		"\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
	static const char *const commands[] = {
		"true", "/bin/true", "head -c 20000 /dev/zero | tr '\\\\0' x"};
	static const char *const names[] = {"builtin", "program", "output"};
	static struct stats_line line;
	static struct target t;
	double api_us[ROUNDS_MAX], mcp_us[ROUNDS_MAX], ratio[ROUNDS_MAX];
	unsigned rounds = 7;
	const char *program = target_arguments(argc, argv, &rounds);
	rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	setenv("HOME", "/nonexistent", 1); /* nobody's own files take part */
	target_open(&t, program, 4ul << 20);
	target_session(&t, "s", "/bin/bash");
	printf("mcp: microseconds of a command, over the API and over MCP\ncommand        API      MCP   ratio\n");
	for (unsigned n = 0; n < 3; n++) {
		struct way api, mcp;
		char body[1024];
		snprintf(body, sizeof body, "{\"command\":\"%s\",\"yieldMs\":10000}", commands[n]);
		open_way(&api, &t, "/api/session/s/exec", "", body, "\"exitCode\":0,");
		snprintf(body, sizeof body, call, commands[n]);
		open_way(&mcp, &t, "/mcp", modern, body, "\"exit_code\":0,");
		for (unsigned i = 0; i < rounds; i++) {
			measure(&api, &mcp, &api_us[i], &mcp_us[i]);
			ratio[i] = mcp_us[i] / api_us[i];
		}
		double of_api = stats_median(api_us, rounds), of_mcp = stats_median(mcp_us, rounds);
		double of_both = stats_median(ratio, rounds);
		printf("%-9s %8.0f %8.0f %7.2f\n", names[n], of_api, of_mcp, of_both);
		stats_add(&line, of_mcp, "%s_us", names[n]);
		stats_add(&line, of_both, "%s_ratio", names[n]);
		close(api.fd);
		close(mcp.fd);
	}
	target_close(&t);
	stats_print(&line, "mcp");
	return 0;
}
