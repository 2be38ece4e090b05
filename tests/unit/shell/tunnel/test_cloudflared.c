/* What lines of cloudflared's log tell. */
#include "shell/tunnel/cloudflared.h"

#include <criterion/criterion.h>
#include <string.h>

Test(cloudflared_url, table)
{
	static const struct {
		const char *line, *want; /* NULL: none */
	} cases[] = {
		{"{\"level\":\"info\",\"message\":\"|  https://some-words-here.trycloudflare.com  |\"}",
			"https://some-words-here.trycloudflare.com"},
		{"{\"message\":\"https://a.trycloudflare.com\"}", "https://a.trycloudflare.com"},
		{"{\"message\":\"see https://example.com and https://b2.trycloudflare.com\"}",
			"https://b2.trycloudflare.com"},
		{"{\"message\":\"Post \\\"https://api.trycloudflare.com/tunnel\\\": dial tcp\"}",
			NULL},
		{"{\"message\":\"https://a.trycloudflare.com.evil.example\"}", NULL},
		{"{\"message\":\"https://a.trycloudflare.com:8080\"}", NULL},
		{"{\"message\":\"https://a@trycloudflare.com\"}", NULL},
		{"{\"message\":\"https://.trycloudflare.com\"}", NULL},
		{"{\"message\":\"http://a.trycloudflare.com\"}", NULL},
		{"{\"message\":5}", NULL},
		{"{\"url\":\"https://a.trycloudflare.com\"}", NULL},
		{"https://a.trycloudflare.com", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char url[CLOUDFLARED_URL_SIZE] = "";
		bool found = cloudflared_url(cases[i].line, url);
		cr_expect_eq(found, cases[i].want != NULL, "%s", cases[i].line);
		cr_expect_str_eq(url, cases[i].want ? cases[i].want : "", "%s", cases[i].line);
	}
}

Test(cloudflared_url, one_that_is_too_long)
{
	char line[1024] = "{\"message\":\"https://", url[CLOUDFLARED_URL_SIZE] = "";
	size_t length = strlen(line);
	memset(line + length, 'a', CLOUDFLARED_URL_SIZE);
	strcpy(line + length + CLOUDFLARED_URL_SIZE, ".trycloudflare.com\"}");
	cr_expect_not(cloudflared_url(line, url));
	cr_expect_str_eq(url, "");
}

Test(cloudflared_metrics, table)
{
	static const struct {
		const char *line;
		unsigned want;
	} cases[] = {
		{"{\"message\":\"Starting metrics server on 127.0.0.1:39853/metrics\"}", 39853},
		{"{\"message\":\"Starting metrics server on 127.0.0.1:99999/metrics\"}", 0},
		{"{\"message\":\"Starting metrics server on 10.0.0.1:80/metrics\"}", 0},
		{"{\"message\":\"Starting metrics server on 127.0.0.1:\"}", 0},
		{"{\"message\":\"no Starting metrics server on 127.0.0.1:1\"}", 0},
		{"Starting metrics server on 127.0.0.1:39853/metrics", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(cloudflared_metrics(cases[i].line), cases[i].want, "%s", cases[i].line);
}

Test(cloudflared_error, table)
{
	static const struct {
		const char *line, *want; /* NULL: none */
	} cases[] = {
		{"{\"level\":\"error\",\"error\":\"no route\",\"message\":\"Failed\"}", "no route"},
		{"{\"level\":\"fatal\",\"message\":\"Failed\"}", "Failed"},
		{"{\"level\":\"info\",\"message\":\"Failed\"}", NULL},
		{"{\"level\":\"error\",\"message\":\"\"}", NULL},
		{"{\"level\":\"error\"}", NULL},
		{"error", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[8] = "as was";
		bool found = cloudflared_error(cases[i].line, text, sizeof text);
		cr_expect_eq(found, cases[i].want != NULL, "%s", cases[i].line);
		cr_expect_eq(
			strncmp(text, cases[i].want ? cases[i].want : "as was", 7), 0, "%s", text);
	}
}
