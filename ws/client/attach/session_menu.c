#include "ws/client/attach/session_menu.h"

#include <string.h>

static const char *id_of(const json_t *session)
{
	const char *id = json_string_value(json_object_get(session, "id"));
	return id ? id : "";
}

void session_menu_set(struct session_menu *r, json_t *answer, const char *shown, const char *here)
{
	size_t i;
	json_t *s;
	r->count = 0;
	r->list = json_incref(answer);
	json_array_foreach (json_object_get(answer, "sessions"), i, s) {
		const char *id = id_of(s), *state = json_string_value(json_object_get(s, "state"));
		bool runs = state && strcmp(state, "running") == 0;
		if (*id && (runs || strcmp(id, shown) == 0) && !(here && strcmp(id, here) == 0) &&
			r->count < SESSION_MENU_MAX)
			r->sessions[r->count++] = s;
	}
}

size_t session_menu_find(const struct session_menu *r, const char *id)
{
	for (size_t i = 0; i < r->count; i++)
		if (strcmp(id_of(r->sessions[i]), id) == 0)
			return i;
	return r->count;
}

const char *session_menu_step(const struct session_menu *r, const char *id, int step)
{
	size_t at = session_menu_find(r, id), other_count = r->count - (at < r->count);
	if (other_count == 0)
		return NULL;
	if (at == r->count)
		at = step > 0 ? r->count - 1 : 0;
	at = step > 0 ? (at + 1) % r->count : (at + r->count - 1) % r->count;
	return id_of(r->sessions[at]);
}

void session_menu_finish(struct session_menu *r)
{
	json_decref(r->list);
	r->list = NULL;
	r->count = 0;
}
