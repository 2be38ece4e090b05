/* A sandbox stores the session ids of its terminals, to end them when it is deleted. */
#include "ws/api/bridge/terminal.h"

#include "shell/id.h"
#include "ws/api/bridge/sandbox.h"
#include "ws/api/read/body.h"

#include <stdio.h>
#include <string.h>

#define ORPHANED_MS 60000u /* idle timeout, for terminals of a killed server */

_Static_assert(
	TERMINAL_PRIVATE_ENV_MAX >= BODY_ENV_MAX + 2, "a session's variables and two of ours");

static char *free_slot(struct sandbox *s)
{
	for (unsigned i = 0; i < SANDBOX_TERMINALS_MAX; i++)
		if (!s->terminals[i][0])
			return s->terminals[i];
	return NULL;
}

static struct refusal check(void *user, const struct terminal_query *q)
{
	const struct api *a = user;
	struct sandbox *s = sandbox_find(a->bridge, q->sandbox);
	if (!sandbox_is_id(q->sandbox))
		return (struct refusal){400, "VALIDATION_FAILED", "Invalid sandbox ID format"};
	if (q->session[0] && !sandbox_is_session(q->session))
		return (struct refusal){400, "VALIDATION_FAILED", "Invalid session ID format"};
	if (!s || s->removing)
		return (struct refusal){404, "UNKNOWN_ERROR",
			"No such sandbox: first run a command in it or write a file"};
	if (!free_slot(s))
		return (struct refusal){429, "LIMIT_REACHED", "The sandbox has too many terminals"};
	return (struct refusal){0};
}

static bool make(void *user, const struct terminal_query *q, struct terminal_private *ret)
{
	const struct api *a = user;
	struct sandbox *s = sandbox_find(a->bridge, q->sandbox);
	char *place = s && !s->removing ? free_slot(s) : NULL;
	char digits[27];
	if (!place || id_digits(digits, sizeof digits - 1, 36) < 0)
		return false;
	struct sandbox_session session = sandbox_session_find(s, q->session);
	snprintf(place, SANDBOX_TERMINAL_SIZE, SANDBOX_TERMINAL_PREFIX "%s", digits);
	snprintf(ret->id, sizeof ret->id, "%s", place);
	snprintf(ret->program, sizeof ret->program, "%s.enter", s->root);
	snprintf(ret->at, sizeof ret->at, "%s", session.cwd);
	snprintf(ret->shell, sizeof ret->shell, "%s", q->shell);
	size_t count = 0;
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)session.env, key, value) {
		ret->names[count] = key;
		ret->values[count++] = json_string_value(value);
	}
	ret->names[count] = "RINGSIDE_SANDBOX_AT";
	ret->values[count++] = ret->at;
	if (ret->shell[0]) {
		ret->names[count] = "RINGSIDE_SANDBOX_SHELL";
		ret->values[count++] = ret->shell;
	}
	ret->options = (struct session_options){.id = ret->id,
		.cwd = s->root,
		.shell = ret->program,
		.rows = q->rows,
		.cols = q->cols,
		.idle_timeout_ms = ORPHANED_MS,
		.env_names = ret->names,
		.env_values = ret->values,
		.env_count = count};
	return true;
}

static void over(void *user, const struct terminal_query *q, const char *id)
{
	const struct api *a = user;
	struct sandbox *s = sandbox_find(a->bridge, q->sandbox);
	for (unsigned i = 0; s && i < SANDBOX_TERMINALS_MAX; i++)
		if (strcmp(s->terminals[i], id) == 0)
			s->terminals[i][0] = '\0';
}

struct terminal_factory bridge_terminals(struct api *a)
{
	return (struct terminal_factory){.check = check, .make = make, .over = over, .user = a};
}
