/* Creates events, and decides which commands are worth one. */
#include "ws/hook/hook_event.h"

#include "shell/clock.h"
#include "shell/id.h"
#include "ws/hook/hook_key.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kind_name(enum hook_kind kind)
{
	static const char *const names[] = {
#define HOOK_KIND(name, text) [HOOK_##name] = (text),
		HOOK_KINDS(HOOK_KIND)
#undef HOOK_KIND
	};
	return names[kind];
}

bool hook_command_get_kind(const struct hook_command *c, enum hook_kind *ret_kind)
{
	bool lasted = c->started_ms > 0 && c->ended_ms >= c->started_ms + HOOK_LONG_MS;
	bool failed = c->status > 0 && c->status != HOOK_STATUS_INTERRUPTED;
	if (failed && (c->by_program || lasted))
		*ret_kind = HOOK_FAILED;
	else if (lasted)
		*ret_kind = HOOK_FINISHED;
	else
		return false;
	return true;
}

/* The page's address of the session and the command. It contains no credentials. */
static json_t *url_json(const struct hook_contents *m)
{
	if (!m->url)
		return json_null();
	/* The characters of ids need no escaping in a query. */
	return json_sprintf("%s?s=%s%s%s", m->url, m->session, m->block ? "&block=" : "",
		m->block ? m->block : "");
}

static char *body_of(const struct hook_contents *m, const char *id)
{
	char time[CLOCK_TEXT_SIZE], epoch[17];
	clock_format(m->at_ms, time);
	snprintf(epoch, sizeof epoch, "%016" PRIx64, m->epoch);
	json_t *root = json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:o, s:o, s:o, s:i, s:o}}", "type",
		kind_name(m->kind), "timestamp", time, "id", id, "data", "session", m->session,
		"epoch", epoch, "author", m->author ? json_string(m->author) : json_null(), "block",
		m->block ? json_string(m->block) : json_null(), "exitCode",
		m->status >= 0 ? json_integer(m->status) : json_null(), "clients", (int)m->clients,
		"humanUrl", url_json(m));
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	return text;
}

struct hook_event *hook_event_create(const struct hook_contents *m)
{
	char id[HOOK_ID_SIZE] = "msg_";
	if (id_hex(id + 4, sizeof id - 4) < 0)
		return NULL;
	char *body = body_of(m, id);
	size_t length = body ? strlen(body) : 0;
	struct hook_event *e = body && length <= HOOK_BODY_MAX ? malloc(sizeof *e + length + 1)
							       : NULL;
	if (e) {
		*e = (struct hook_event){.references = 1, .kind = m->kind, .length = length};
		memcpy(e->id, id, sizeof id);
		snprintf(e->session, sizeof e->session, "%s", m->session);
		memcpy(e->body, body, length + 1);
	}
	free(body);
	return e;
}

struct hook_event *hook_event_ref(struct hook_event *e)
{
	atomic_fetch_add(&e->references, 1);
	return e;
}

void hook_event_unref(struct hook_event *e)
{
	if (e && atomic_fetch_sub(&e->references, 1) == 1)
		free(e);
}
