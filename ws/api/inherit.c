/* Asks a session's shell for the state that a command beside it inherits. */
#include "ws/api/inherit.h"

#include "ws/api/cwd_check.h"
#include "ws/api/read/refuse.h"
#include "shell/exec/shell_environment.h"

#include <stdlib.h>
#include <string.h>

struct inquiry {
	struct shell_environment_waiter waiter;
	struct api *api;
	struct request *request; /* our reference */
	json_t *body;            /* our reference */
	inherit_fn *fn;
	char session[NAME_ID_MAX + 1];
	char *cwd, *text; /* the shell's answer; may be NULL */
	size_t length;
};

static void on_checked(void *user, bool goes_on)
{
	struct inquiry *q = user;
	const struct inherited state = {.session = q->session,
		.cwd = q->cwd,
		.preamble = q->text,
		.preamble_length = q->length};
	/* The client's access may have ended in the meantime. */
	if (goes_on && !q->request->cut)
		q->fn(q->api, q->request, q->body, &state);
	request_unref(q->request);
	json_decref(q->body);
	free(q->cwd);
	free(q->text);
	free(q);
}

static void on_state(void *user, const char *cwd, const char *text, size_t length)
{
	struct inquiry *q = user;
	bool named = json_is_string(json_object_get(q->body, "cwd")); /* already checked */
	q->cwd = cwd ? strdup(cwd) : NULL;
	q->text = text ? malloc(length + 1) : NULL;
	if ((cwd && !q->cwd) || (text && !q->text)) {
		refuse_memory(q->request);
		on_checked(q, false);
		return;
	}
	if (cwd && !*cwd && !named) { /* unknown: do not fall back to another directory */
		refuse_shell_directory(q->request);
		on_checked(q, false);
		return;
	}
	if (text) {
		memcpy(q->text, text, length);
		q->text[length] = '\0';
		q->length = length;
	}
	if (named || q->request->cut)
		on_checked(q, true);
	else
		cwd_check(q->api, q->request, q->cwd, on_checked, q);
}

void inherit_from(struct api *a, struct request *r, json_t *body, struct session *s, inherit_fn *fn)
{
	struct inquiry *q = request_alloc(r, sizeof *q);
	if (!q)
		return;
	q->waiter = (struct shell_environment_waiter){.done = on_state, .user = q};
	q->api = a;
	q->request = request_ref(r);
	q->body = json_incref(body);
	q->fn = fn;
	memcpy(q->session, session_id(s), sizeof q->session);
	shell_environment_ask(session_executor(s), &q->waiter);
}
