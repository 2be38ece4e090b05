/*
 * One request and its answer as a whole. The loop turns until it is there; an answer that is an error is complained of on
 * standard error, as the server words it.
 */
#include "ws/client/connect/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asking {
	struct answer *answer;
	struct client_call *call;
	int error;
	bool over;
};

char *call_encode(const char *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@";
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
	struct asking *k = user;
	k->answer->status = status;
	snprintf(k->answer->type, sizeof k->answer->type, "%s", content_type);
	struct answer *a = k->answer;
	client_call_header(k->call, "ringside-to:", a->to, sizeof a->to);
	client_call_header(k->call, "ringside-screen:", a->screen, sizeof a->screen);
	client_call_header(k->call, "ringside-first:", a->first, sizeof a->first);
	client_call_header(k->call, "ringside-omitted:", a->omitted, sizeof a->omitted);
}

static void on_body(void *user, const void *bytes, size_t length)
{
	struct asking *k = user;
	struct answer *a = k->answer;
	char *body = a->length + length <= CALL_ANSWER_MAX ? realloc(a->body, a->length + length + 1)
							   : NULL;
	if (!body) {
		k->error = -ENOMEM;
		return;
	}
	memcpy(body + a->length, bytes, length);
	a->body = body;
	a->length += length;
	body[a->length] = '\0';
}

static void on_done(void *user, int error)
{
	struct asking *k = user;
	k->over = true;
	if (error < 0)
		k->error = error;
}

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .done = on_done};

static int perform_call(struct cli *cli, const struct client_request *r, struct answer *a)
{
	struct asking k = {.answer = a};
	int rc = client_request(cli->client, r, &callbacks, &k, &k.call);
	while (rc == 0 && !k.over)
		uv_run(&cli->loop, UV_RUN_ONCE);
	return rc < 0 ? rc : k.error;
}

int call_try(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	bool good = path && (text || !body);
	int rc = -ENOMEM;
	*ret_answer = (struct answer){0};
	json_decref(body);
	/* A POST has a body, if an empty one: its length has to be told. */
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
	else if (ret_answer->body && strncmp(ret_answer->type, "application/json", 16) == 0)
		ret_answer->json = json_loadb(
			ret_answer->body, ret_answer->length, JSON_DECODE_ANY, NULL);
	return rc;
}

int call_ask(
	struct cli *cli, const char *method, char *path, json_t *body, struct answer *ret_answer)
{
	int rc = call_try(cli, method, path, body, ret_answer);
	if (rc == 0)
		return 0;
	if (rc == -ECONNREFUSED || rc == -ECONNRESET)
		cli->status = CLI_NO_SERVER;
	if (rc == -ECONNREFUSED)
		cli_fail(cli, "the server cannot be reached");
	else if (rc == -ECONNRESET)
		cli_fail(cli, "the server has closed the connection%s",
			cli->target.tls ? ", or its certificate is not trusted" : "");
	else
		cli_fail(cli, "%s", strerror(-rc));
	return cli->status != 0 ? cli->status : CLI_FAILED;
}

int call_complain(struct cli *cli, const struct answer *a)
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
	int rc = call_ask(cli, method, path, body, ret_answer);
	if (rc != 0 || (ret_answer->status >= 200 && ret_answer->status < 300))
		return rc;
	rc = call_complain(cli, ret_answer);
	answer_finish(ret_answer);
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
