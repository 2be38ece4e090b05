/*
 * One request and its whole answer. The loop runs until the answer is complete. Errors are reported
 * on standard error, in the server's words.
 */
#include "ws/client/connect/call.h"

#include "ws/client/connect/connection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request under way. */
struct request {
	struct answer *answer;
	struct client_call *call;
	int error;
	bool over;
};

#define UNRESERVED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@"

static char *encode(const char *text, const char *plain)
{
	char *encoded = malloc(strlen(text) * 3 + 1), *p = encoded;
	for (; p && *text; text++) {
		if (strchr(plain, *text))
			*p++ = *text;
		else
			p += sprintf(p, "%%%02X", (unsigned char)*text);
	}
	if (p)
		*p = '\0';
	return encoded;
}

char *call_encode(const char *text)
{
	return encode(text, UNRESERVED);
}

char *call_encode_path(const char *text)
{
	return encode(text, UNRESERVED "/");
}

char *call_path(const char *session, const char *format, ...)
{
	char *rest = NULL, *path = NULL, *id = call_encode(session);
	va_list list;
	va_start(list, format);
	if (!id || vasprintf(&rest, format, list) < 0)
		rest = NULL;
	va_end(list);
	if (rest && asprintf(&path, "/api/session/%s%s", id, rest) < 0)
		path = NULL;
	free(rest);
	free(id);
	return path;
}

static void on_head(void *user, int status, const char *content_type)
{
	struct request *k = user;
	k->answer->status = status;
	snprintf(k->answer->type, sizeof k->answer->type, "%s", content_type);
	struct answer *a = k->answer;
	client_call_header(k->call, "ringside-to:", a->to, sizeof a->to);
	client_call_header(k->call, "ringside-screen:", a->screen, sizeof a->screen);
	client_call_header(k->call, "ringside-first:", a->first, sizeof a->first);
	client_call_header(k->call, "ringside-omitted:", a->omitted, sizeof a->omitted);
}

int answer_append(struct answer *a, const void *bytes, size_t length)
{
	char *body = a->length + length <= CALL_ANSWER_MAX ? realloc(a->body, a->length + length + 1)
							   : NULL;
	if (!body)
		return -ENOMEM;
	memcpy(body + a->length, bytes, length);
	a->body = body;
	a->length += length;
	body[a->length] = '\0';
	return 0;
}

void answer_parse(struct answer *a)
{
	if (a->body && strncmp(a->type, "application/json", 16) == 0)
		a->json = json_loadb(a->body, a->length, JSON_DECODE_ANY, NULL);
}

static void on_body(void *user, const void *bytes, size_t length)
{
	struct request *k = user;
	int rc = answer_append(k->answer, bytes, length);
	if (rc < 0)
		k->error = rc;
}

static void on_done(void *user, int error)
{
	struct request *k = user;
	k->over = true;
	if (error < 0)
		k->error = error;
}

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .done = on_done};

static void on_timeout(uv_timer_t *timer)
{
	struct request *k = timer->data;
	client_call_cancel(k->call);
	k->error = -ETIMEDOUT;
	k->over = true;
}

static void on_timer_closed(uv_handle_t *timer)
{
	timer->data = NULL;
}

static int perform_call(struct cli *cli, const struct client_request *r, struct answer *a)
{
	struct request k = {.answer = a};
	uv_timer_t timer;
	int rc = client_request(cli->client, r, &callbacks, &k, &k.call);
	if (rc < 0)
		return rc;
	uv_timer_init(&cli->loop, &timer);
	timer.data = &k;
	if (cli->patience_ms > 0)
		uv_timer_start(&timer, on_timeout, cli->patience_ms, 0);
	while (!k.over && !(cli->give_up && *cli->give_up))
		uv_run(&cli->loop, UV_RUN_ONCE);
	if (!k.over) {
		client_call_cancel(k.call);
		k.error = -ECANCELED;
	}
	uv_close((uv_handle_t *)&timer, on_timer_closed);
	while (timer.data)
		uv_run(&cli->loop, UV_RUN_NOWAIT);
	return k.error;
}

int call_try(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	bool good = path && (text || !body);
	int rc = -ENOMEM;
	*ret_answer = (struct answer){0};
	json_decref(body);
	/* A POST always has a body, so that it has a Content-Length. */
	const char *bytes = text ? text : strcmp(method, "POST") == 0 ? "{}" : NULL;
	if (good)
		rc = perform_call(cli,
			&(struct client_request){.method = method,
				.path = path,
				.body = bytes,
				.length = bytes ? strlen(bytes) : 0},
			ret_answer);
	free(text);
	free(path);
	if (rc < 0)
		answer_finish(ret_answer);
	else
		answer_parse(ret_answer);
	return rc;
}

int call_report_lost(struct cli *cli, int error)
{
	if (error == -ECONNREFUSED || error == -ECONNRESET)
		cli->status = CLI_NO_SERVER;
	const char *doubt = cli->target.tls ? ", or its certificate is not trusted" : "";
	if (error == -ECONNREFUSED)
		cli_fail(cli, "the server cannot be reached%s", doubt);
	else if (error == -ECONNRESET)
		cli_fail(cli, "the server has closed the connection%s", doubt);
	else
		cli_fail(cli, "%s", strerror(-error));
	return cli->status != 0 ? cli->status : CLI_FAILED;
}

int call_request(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer)
{
	int rc = cli->client ? 0 : connection_open(cli);
	if (rc != 0) {
		free(path);
		json_decref(body);
		return rc;
	}
	rc = call_try(cli, method, path, body, ret_answer);
	return rc == 0 ? 0 : call_report_lost(cli, rc);
}

int call_report_error(struct cli *cli, const struct answer *a)
{
	const char *code = json_string_value(json_object_get(a->json, "code"));
	const char *message = json_string_value(json_object_get(a->json, "message"));
	bool gone = a->status == 410;
	cli->status = gone && !cli->command->passes ? CLI_GONE : CLI_FAILED;
	if (cli->json && a->json) {
		fprintf(stderr, "%s\n", a->body);
		return cli->status;
	}
	if (!message)
		return cli_fail(cli, "the server answered with status %d", a->status);
	json_t *errors = json_object_get(json_object_get(a->json, "context"), "validationErrors");
	json_t *first = json_array_get(errors, 0);
	const char *field = json_string_value(json_object_get(first, "field"));
	const char *detail = json_string_value(json_object_get(first, "message"));
	if (field && detail)
		return cli_fail(cli, "%s: %s (%s)", field, detail, code ? code : "");
	return cli_fail(cli, "%s (%s)", message, code ? code : "");
}

int call_api(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer)
{
	int rc = call_request(cli, method, path, body, ret_answer);
	if (rc != 0 || (ret_answer->status >= 200 && ret_answer->status < 300))
		return rc;
	rc = call_report_error(cli, ret_answer);
	answer_finish(ret_answer);
	return rc;
}

int call_show(struct cli *cli, const char *method, char *path, json_t *body, const char *field,
	void (*show)(const json_t *value))
{
	struct answer a;
	int rc = call_api(cli, method, path, body, &a);
	if (rc != 0)
		return rc;
	json_t *value = field ? json_object_get(a.json, field) : a.json;
	if (cli->json) {
		rc = cli_print_json(cli, json_incref(value));
	} else if (show) {
		show(value);
		rc = cli_flush(cli);
	}
	answer_finish(&a);
	return rc;
}

const char *answer_text(const json_t *object, const char *field)
{
	const char *text = json_string_value(json_object_get(object, field));
	return text ? text : "";
}

void answer_finish(struct answer *a)
{
	free(a->body);
	json_decref(a->json);
	*a = (struct answer){0};
}
