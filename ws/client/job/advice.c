/*
 * POST /wait tells when a command waits for input; it is called only for commands that run longer
 * than a moment. Its errors are not reported, because they do not concern the command.
 */
#include "ws/client/job/advice.h"

#include "ring/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATER_MS 700u  /* shorter commands are not watched */
#define AGAIN_MS 1000u /* before a lost server is asked again */
#define SHOWN_MAX 60   /* bytes that are shown of the other command */

static const char question[] =
	"{\"until\":[{\"type\":\"input\"},{\"type\":\"exit\"}],\"timeoutMs\":600000}";

static void on_head(void *user, int status, const char *content_type)
{
	struct advice *a = user;
	a->answer.status = status;
	snprintf(a->answer.type, sizeof a->answer.type, "%s", content_type);
}

static void on_body(void *user, const void *bytes, size_t length)
{
	struct advice *a = user;
	(void)answer_append(&a->answer, bytes, length); /* cut off, it is not parsed */
}

static void on_timer(uv_timer_t *timer);

static void on_done(void *user, int error)
{
	struct advice *a = user;
	a->call = NULL;
	if (error == 0)
		answer_parse(&a->answer);
	bool waits = strcmp(answer_text(a->answer.json, "type"), "input") == 0;
	bool again = error < 0 || strcmp(answer_text(a->answer.json, "type"), "timeout") == 0;
	answer_finish(&a->answer);
	if (waits)
		fprintf(stderr,
			"ringside exec: it waits for input; to answer: ringside send --text TEXT --enter %s, or "
			"ringside attach %s\n",
			a->session, a->session);
	else if (again)
		uv_timer_start(&a->timer, on_timer, AGAIN_MS, 0);
}

static const struct client_call_callbacks callbacks = {
	.head = on_head, .body = on_body, .done = on_done};

static void on_timer(uv_timer_t *timer)
{
	struct advice *a = timer->data;
	char *path = call_path(a->session, "/wait");
	if (path)
		client_request(a->cli->client,
			&(struct client_request){.method = "POST",
				.path = path,
				.body = question,
				.length = sizeof question - 1},
			&callbacks, a, &a->call);
	free(path);
}

void advice_open(struct advice *a, struct cli *cli, const char *session, const char *id)
{
	*a = (struct advice){.cli = cli, .session = session, .id = id, .open = true};
	uv_timer_init(&cli->loop, &a->timer);
	a->timer.data = a;
	uv_timer_start(&a->timer, on_timer, LATER_MS, 0);
}

void advice_close(struct advice *a)
{
	if (!a->open)
		return;
	a->open = false;
	if (a->call)
		client_call_cancel(a->call);
	answer_finish(&a->answer);
	uv_close((uv_handle_t *)&a->timer, NULL);
	uv_run(&a->cli->loop, UV_RUN_NOWAIT);
}

void advice_busy(const struct cli *cli, const struct answer *refusal)
{
	const json_t *context = json_object_get(refusal->json, "context");
	const json_t *exec = json_object_get(context, "exec");
	const char *command = answer_text(exec, "command");
	if (cli->json || strcmp(answer_text(refusal->json, "code"), "RESOURCE_BUSY") != 0)
		return;
	if (*command) {
		fprintf(stderr, "ringside exec: what runs there is %s: ", answer_text(exec, "id"));
		char shown[SHOWN_MAX + 1];
		size_t length = strlen(command), cut = utf8_cut(command, length, SHOWN_MAX);
		snprintf(shown, sizeof shown, "%.*s", (int)cut, command);
		cli_print_text(stderr, shown);
		fputs(cut < length ? "...\n" : "\n", stderr);
	}
	fputs("ringside exec: --queue waits for its end\n", stderr);
}

void advice_left(const char *session, const char *id)
{
	fprintf(stderr,
		"ringside exec: the command runs on, as %s; to wait for its end: ringside wait --exec %s %s\n",
		id, id, session);
}
