/* An invalid size of the window counts as absent, because the container's server accepts any. */
#include "ws/socket/terminal_query.h"

#include "ring/screen/screen.h"
#include "shell/session/presence.h"
#include "ws/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENT_TYPED_MAX (INT64_MAX / 2) /* a sum of two such numbers fits into JSON */

static struct refusal invalid(const char *message)
{
	return (struct refusal){.status = 400, .code = "VALIDATION_FAILED", .message = message};
}

static unsigned parse_side(const char *text)
{
	uint64_t side;
	return text && params_number(text, PRESENCE_SIDE_MAX, &side) ? (unsigned)side : 0;
}

/* Parse an optional number; larger ones count as max. */
static bool parse_count(
	char *const *params, size_t count, const char *name, uint64_t max, uint64_t *ret_value)
{
	const char *text = params_find(params, count, name);
	uint64_t value;
	if (!text)
		return true;
	if (!params_number(text, INT64_MAX, &value))
		return false;
	*ret_value = value < max ? value : max;
	return true;
}

static bool parse_epoch(const char *text, uint64_t *ret_epoch)
{
	char *end;
	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return false;
	*ret_epoch = strtoull(text, &end, 16);
	return true;
}

struct refusal terminal_query_parse(
	char *const *params, size_t count, struct terminal_query *ret_query)
{
	struct terminal_query q = {.rows = parse_side(params_find(params, count, "rows")),
		.cols = parse_side(params_find(params, count, "cols")),
		.lag = TERMINAL_LAG};
	uint64_t lines = SCREEN_SCROLLBACK_MAX, acks = 0, blocks = 0;
	const char *id = params_find(params, count, "sessionId");
	const char *name = params_find(params, count, "name");
	const char *shell = params_find(params, count, "shell");
	const char *epoch = params_find(params, count, "epoch");
	const char *offset = params_find(params, count, "offset");
	const char *client = params_find(params, count, "client");
	const char *person = params_find(params, count, "person");
	if (!id || !*id)
		return invalid("sessionId query parameter required");
	if (!name_is_id(id))
		return invalid("sessionId is not a valid id");
	if (name && *name && !name_is_text(name))
		return invalid("name is not a valid name");
	if (shell && strlen(shell) >= sizeof q.shell)
		return invalid("shell is too long");
	if (epoch &&
		(!offset || !parse_epoch(epoch, &q.epoch) ||
			!params_number(offset, INT64_MAX, &q.offset)))
		return invalid("epoch and offset must both be given, as they were received");
	if ((client && !name_is_id(client)) || (person && !name_is_id(person)))
		return invalid("client and person must be valid ids");
	if (!parse_count(params, count, "scrollback", SCREEN_SCROLLBACK_MAX, &lines) ||
		!parse_count(params, count, "lag", INT64_MAX, &q.lag) ||
		!parse_count(params, count, "acks", 1, &acks) ||
		!parse_count(params, count, "blocks", 1, &blocks) ||
		!parse_count(params, count, "typed", CLIENT_TYPED_MAX, &q.typed))
		return invalid("scrollback, lag, acks, blocks and typed must be numbers");
	q.blocks = blocks > 0;
	q.lines = (unsigned)lines;
	q.acks = acks > 0;
	if (q.rows == 0 || q.cols == 0)
		q.rows = q.cols = 0;
	q.resume = epoch != NULL;
	snprintf(q.session, sizeof q.session, "%s", id);
	snprintf(q.name, sizeof q.name, "%s", name ? name : "");
	snprintf(q.shell, sizeof q.shell, "%s", shell ? shell : "");
	snprintf(q.client, sizeof q.client, "%s", client ? client : "");
	snprintf(q.person, sizeof q.person, "%s", person ? person : "");
	*ret_query = q;
	return (struct refusal){0};
}

/* Whether it is absent or has only digits. */
static bool is_number(const char *text)
{
	return !text || (*text && !text[strspn(text, "0123456789")]);
}

struct refusal terminal_query_parse_private(const char *sandbox, const char *header,
	char *const *params, size_t count, struct terminal_query *ret_query)
{
	struct terminal_query q = {.rows = parse_side(params_find(params, count, "rows")),
		.cols = parse_side(params_find(params, count, "cols")),
		.lag = TERMINAL_LAG};
	const char *shell = params_find(params, count, "shell");
	const char *session = *header ? header : params_find(params, count, "session");
	if (!*sandbox || strlen(sandbox) > NAME_ID_MAX)
		return invalid("Invalid sandbox ID format");
	if (session && (!*session || strlen(session) > NAME_ID_MAX))
		return invalid("Invalid session ID format");
	if (!is_number(params_find(params, count, "cols")) ||
		!is_number(params_find(params, count, "rows")))
		return invalid("cols and rows must be numbers");
	if (shell && strlen(shell) >= sizeof q.shell)
		return invalid("shell is too long");
	if (q.rows == 0 || q.cols == 0)
		q.rows = q.cols = 0;
	snprintf(q.sandbox, sizeof q.sandbox, "%s", sandbox);
	snprintf(q.session, sizeof q.session, "%s", session ? session : "");
	snprintf(q.shell, sizeof q.shell, "%s", shell ? shell : "");
	*ret_query = q;
	return (struct refusal){0};
}
