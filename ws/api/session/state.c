/* The state of a session, with a link for a person to type a secret. */
#include "shell/clock.h"
#include "shell/session/type.h"
#include "ws/api/api.h"
#include "ws/json/state.h"
#include "ws/api/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HUMAN_LINK_NAME "to type a secret"
#define HUMAN_LINK_MS (UINT64_C(15) * 60 * 1000)

/* Find the link for the current prompt, or NULL. Links for earlier prompts are revoked. */
static const struct link_entry *find_link(struct links *l, const struct session *s)
{
	for (size_t i = l->count; i-- > 0;) {
		const struct link_entry *e = &l->entries[i];
		if (!e->answers || strcmp(e->session, session_id(s)) != 0)
			continue;
		if (e->epoch == session_epoch(s) && e->expires_ms > clock_wall_ms() &&
			session_prompt_is_open(s, &e->prompt))
			return e;
		(void)links_revoke(l, e->id);
	}
	return NULL;
}

/* Get the signed link; NULL: too many links, or it has been opened already. */
static char *human_link(struct links *l, const struct session *s)
{
	const struct link_entry *e = find_link(l, s);
	if (e)
		return e->spent ? NULL : links_sign(l, e);
	char *token = NULL;
	struct link_entry issued = {.role = ROLE_VIEWER,
		.name = HUMAN_LINK_NAME,
		.passing = true, /* not stored: it expires soon */
		.answers = true,
		.epoch = session_epoch(s),
		.expires_ms = clock_wall_ms() + HUMAN_LINK_MS};
	session_prompt(s, &issued.prompt);
	snprintf(issued.session, sizeof issued.session, "%s", session_id(s));
	return links_issue(l, &issued, clock_wall_ms(), &token) == 0 ? token : NULL;
}

json_t *api_state_json(
	struct api *a, const struct request *r, struct session *s, const struct pane_state *state)
{
	json_t *root = state_json(state);
	/* The link is for the prompt as it is now, so not before all of it has arrived. */
	bool asks = state->input == STATE_INPUT_PASSWORD && !state->coming;
	if (!root || !asks || r->principal.role != ROLE_OWNER || s->state != SESSION_RUNNING)
		return root;
	char *token = human_link(&a->auth->links, s);
	if (token)
		json_object_set_new(
			root, "humanUrl", json_sprintf("%s#link=%s", a->url ? a->url : "/", token));
	free(token);
	return root;
}

static void show_state(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	struct pane_state state;
	session_state(s, &state);
	reply_success(r, json_pack("{s:o}", "state", api_state_json(a, r, s, &state)));
}

const struct route_row api_state_rows[] = {
	{METHOD_GET, "/api/session/{}/state", ROUTE_VIEWER, .session = show_state},
	{.path = NULL},
};
