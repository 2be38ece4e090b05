/*
 * The same command over MCP and over the API, in turn, on a persistent HTTP connection each. The API is the baseline:
 * MCP adds parsing the message, checks, and the result's text.
 */
#include "process.h"
#include "stats.h"
#include "target.h"
#include "web.h"

#include <stdio.h>
#include <string.h>

#define COMMANDS 200 /* per round and way */
#define ROUNDS_MAX 101

/* A connection, the request that is sent each time, and the text that the answer must contain. */
struct way {
	struct web web;
	const char *path, *headers, *expected;
	char body[1024];
};

static double ask_us(struct way *w)
{
	uint64_t start = stats_now_ns();
	web_ask(&w->web, w->path, w->headers, w->body);
	const char *answer = web_wait(&w->web);
	double us = stats_us_since(start);
	if (!strstr(answer, w->expected))
		die(answer);
	return us;
}

/* Measure both in turn. Returns the medians. */
static void measure(struct way *api, struct way *mcp, double *ret_api, double *ret_mcp)
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
	double api_us[ROUNDS_MAX], mcp_us[ROUNDS_MAX];
	unsigned rounds = 7;
	const char *program = target_arguments(argc, argv, &rounds, ROUNDS_MAX);
	target_open(&t, program, 4ul << 20);
	target_session(&t, "s", "/bin/bash");
	printf("mcp: microseconds of a command, over the API and over MCP\ncommand        API      MCP   ratio\n");
	for (unsigned n = 0; n < 3; n++) {
		struct way api = {
			.path = "/api/session/s/exec", .headers = "", .expected = "\"exitCode\":0,"};
		struct way mcp = {.path = "/mcp", .headers = modern, .expected = "\"exit_code\":0,"};
		web_open(&api.web, t.port);
		web_open(&mcp.web, t.port);
		snprintf(api.body, sizeof api.body, "{\"command\":\"%s\",\"yieldMs\":10000}",
			commands[n]);
		snprintf(mcp.body, sizeof mcp.body, call, commands[n]);
		for (unsigned i = 0; i < rounds; i++)
			measure(&api, &mcp, &api_us[i], &mcp_us[i]);
		double of_both = stats_ratio(mcp_us, api_us, rounds);
		double of_api = stats_median(api_us, rounds), of_mcp = stats_median(mcp_us, rounds);
		printf("%-9s %8.0f %8.0f %7.2f\n", names[n], of_api, of_mcp, of_both);
		stats_add(&line, of_mcp, "%s_us", names[n]);
		stats_add(&line, of_both, "%s_ratio", names[n]);
		web_close(&api.web);
		web_close(&mcp.web);
	}
	target_close(&t);
	stats_print(&line, "mcp");
	return 0;
}
