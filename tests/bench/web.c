#include "web.h"

#include "client.h"
#include "process.h"
#include "stats.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER ((size_t)4 << 20)
#define WAIT_MS 60000

void web_open(struct web *w, unsigned port)
{
	*w = (struct web){.fd = client_connect(port), .port = port, .answer = malloc(ANSWER)};
	if (!w->answer)
		die("memory");
	w->answer[0] = '\0';
}

void web_close(struct web *w)
{
	close(w->fd);
	free(w->answer);
}

void web_send(
	struct web *w, const char *method, const char *path, const char *headers, const char *body)
{
	char request[8192];
	int length = snprintf(request, sizeof request,
		"%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n%s",
		method, path, w->port, strlen(body), headers, body);
	if (length < 0 || (size_t)length >= sizeof request ||
		write(w->fd, request, (size_t)length) != length)
		die("request");
	w->length = 0;
	w->answer[0] = '\0';
}

void web_ask(struct web *w, const char *path, const char *headers, const char *body)
{
	web_send(w, "POST", path, headers, body);
}

/* Read more of the answer. Returns where it begins. */
static const char *read_more(struct web *w)
{
	size_t had = w->length;
	struct pollfd p = {.fd = w->fd, .events = POLLIN};
	errno = 0;
	if (poll(&p, 1, WAIT_MS) <= 0)
		die("no answer");
	ssize_t n = read(w->fd, w->answer + had, ANSWER - 1 - had);
	if (n <= 0)
		die("answer");
	w->length += (size_t)n;
	w->answer[w->length] = '\0';
	return w->answer + had;
}

void web_wait_text(struct web *w, const char *text)
{
	size_t reach = strlen(text);
	const char *from;
	do {
		from = read_more(w);
		from -= (size_t)(from - w->answer) < reach ? (size_t)(from - w->answer) : reach;
	} while (!strstr(from, text));
}

size_t web_head(struct web *w, size_t *ret_body)
{
	const char *end, *field;
	while (!(end = strstr(w->answer, "\r\n\r\n")))
		read_more(w);
	field = strstr(w->answer, "content-length: ");
	errno = 0;
	if (strncmp(w->answer, "HTTP/1.1 200", 12) != 0 || !field || field > end)
		die(w->answer);
	*ret_body = w->length - (size_t)(end + 4 - w->answer);
	return strtoul(field + 16, NULL, 10);
}

const char *web_read(struct web *w)
{
	ssize_t n = read(w->fd, w->answer + w->length, ANSWER - 1 - w->length);
	if (n <= 0)
		die("answer");
	w->length += (size_t)n;
	w->answer[w->length] = '\0';
	const char *body = strstr(w->answer, "\r\n\r\n");
	const char *field = strstr(w->answer, "content-length: ");
	if (!body || !field ||
		w->length < (size_t)(body + 4 - w->answer) + strtoul(field + 16, NULL, 10))
		return NULL;
	errno = 0;
	return body + 4;
}

const char *web_wait(struct web *w)
{
	const char *body;
	do {
		struct pollfd p = {.fd = w->fd, .events = POLLIN};
		errno = 0;
		if (poll(&p, 1, WAIT_MS) <= 0)
			die("no answer");
		body = web_read(w);
	} while (!body);
	return body;
}

double web_request_us(
	struct web *w, const char *method, const char *path, const char *body, const char *expected)
{
	uint64_t start = stats_now_ns();
	web_send(w, method, path, "", body);
	const char *answer = web_wait(w);
	double us = stats_us_since(start);
	if (!strstr(answer, expected))
		die(answer);
	return us;
}

double web_ask_us(struct web *w, const char *path, const char *body, const char *expected)
{
	return web_request_us(w, "POST", path, body, expected);
}
