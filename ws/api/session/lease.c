/* The keyboard lease of a session, and the log of typed input with its authors. */
#include "shell/clock.h"
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/json/session.h"
#include "ws/api/read/query.h"
#include "ws/api/read/refuse.h"
#include "ws/api/rows.h"
#include "ws/api/read/typist.h"
#include "ws/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

/* Typed input */

static json_t *typed_json(const struct typed_entry *e)
{
	struct text_decoder decoder = {0};
	json_t *text = e->text ? text_json(&decoder, e->text, e->bytes, true) : json_null();
	return json_pack("{s:I, s:o, s:s, s:o, s:o, s:I, s:o}", "offset", (json_int_t)e->offset,
		"at", time_json(e->at_ms), "author", e->author, "label",
		*e->label ? json_string(e->label) : json_null(), "client",
		e->client ? json_integer((json_int_t)e->client) : json_null(), "bytes",
		(json_int_t)e->bytes, "text", text);
}

static void list_typed(struct request *r, struct session *s)
{
	const struct typed_entry *e;
	uint64_t from = 0;
	if (!query_offset(r, "from", &from))
		return;
	json_t *list = json_array();
	DL_FOREACH (session_typed(s)->entries, e)
		if (e->offset >= from)
			json_array_append_new(list, typed_json(e));
	reply_success(r, json_pack("{s:o}", "typed", list));
}

/* The lease */

static void show_lease(struct request *r, struct session *s)
{
	reply_success(r,
		json_pack("{s:o, s:o}", "lease", lease_json(session_keyboard(s)), "note",
			lease_note_json(session_keyboard(s))));
}

/* Parse "take": acquire a lease that another client holds. Returns false after it has answered r. */
static bool parse_take(struct request *r, const json_t *body, enum lease_acquire *ret_take)
{
	const char *take;
	if (!body_text(r, body, "take", &take))
		return false;
	if (!take)
		return true;
	if (strcmp(take, "now") != 0 && strcmp(take, "after") != 0)
		return reply_invalid(r, "take", "Must be now or after", "invalid");
	if (r->principal.role != ROLE_OWNER)
		return reply_error(r, "PERMISSION_DENIED",
			"Only the owner may take a lease that another client holds", NULL);
	*ret_take = strcmp(take, "now") == 0 ? LEASE_ACQUIRE_NOW : LEASE_ACQUIRE_AFTER;
	return true;
}

/* The lease, or the position as its heir, with the id that proves it. */
static json_t *acquired_json(const struct lease *l, const struct lease_terms *terms)
{
	bool waits = terms->take == LEASE_ACQUIRE_AFTER && l->heir.id[0];
	json_t *lease = lease_json(l);
	json_object_set_new(lease, "id", json_string(waits ? l->heir.id : l->id));
	return json_pack(
		"{s:o, s:b, s:o}", "lease", lease, "waits", (int)waits, "note", lease_note_json(l));
}

static void acquire_lease(struct request *r, struct session *s)
{
	const char *mode;
	struct lease_terms terms = {.ttl_ms = LEASE_TTL_DEFAULT_MS};
	json_t *body = body_read(r);
	if (!body || !typist_label(r, body, "owner", &terms.owner) ||
		!body_text(r, body, "mode", &mode) || !body_text(r, body, "renew", &terms.renew) ||
		!parse_take(r, body, &terms.take) ||
		!body_number(r, body, "ttlMs", LEASE_TTL_MIN_MS, LEASE_TTL_MAX_MS, &terms.ttl_ms))
		return;
	terms.exclusive = !mode || strcmp(mode, "exclusive") == 0;
	terms.author = typist_author(r);
	if (!terms.owner)
		terms.owner = typist_default_label(r);
	if (!terms.exclusive && strcmp(mode, "advisory") != 0) {
		reply_invalid(r, "mode", "Must be exclusive or advisory", "invalid");
		return;
	}
	int rc = session_acquire_lease(s, &terms);
	if (rc < 0) {
		refuse_session(r, s, rc == -EBUSY ? -EACCES : rc);
		return;
	}
	reply_success(r, acquired_json(session_keyboard(s), &terms));
}

/* Parse the optional note for the next holder. Returns false after it has answered r. */
static bool parse_note(struct request *r, const struct session *s, struct lease_note *ret_note)
{
	const struct lease *l = session_keyboard(s);
	const char *text = request_param(r, "note");
	*ret_note = (struct lease_note){0};
	if (!text)
		return true;
	json_t *valid = json_string(text); /* NULL: not UTF-8 */
	bool fits = valid && *text && strlen(text) <= LEASE_NOTE_MAX;
	json_decref(valid);
	if (!fits)
		return reply_invalid(r, "note", "A note is 1 to 500 bytes of text", "invalid");
	snprintf(ret_note->text, sizeof ret_note->text, "%s", text);
	snprintf(ret_note->by, sizeof ret_note->by, "%s",
		request_param(r, "id") && lease_is_held(l, clock_wall_ms())
			? l->owner
			: typist_default_label(r));
	snprintf(ret_note->author, sizeof ret_note->author, "%s", typist_author(r));
	return true;
}

static void release_lease(struct request *r, struct session *s)
{
	struct lease_note note;
	const char *id = request_param(r, "id");
	if (!parse_note(r, s, &note))
		return;
	if (!id && r->principal.role != ROLE_OWNER)
		reply_invalid(r, "id", "The id of the lease is required", "required");
	else if (lease_is_held(session_keyboard(s), clock_wall_ms()) &&
		!session_release_lease(s, id, note.text[0] ? &note : NULL))
		refuse_session(r, s, -EACCES);
	else
		reply_success(r, json_pack("{s:o}", "lease", lease_json(session_keyboard(s))));
}

const struct route_row api_lease_rows[] = {
	{METHOD_GET, "/api/session/{}/typed", ROUTE_VIEWER, .session = list_typed},
	{METHOD_GET, "/api/session/{}/lease", ROUTE_VIEWER, .session = show_lease},
	{METHOD_POST, "/api/session/{}/lease", ROUTE_DRIVER, .session = acquire_lease},
	{METHOD_DELETE, "/api/session/{}/lease", ROUTE_DRIVER, .session = release_lease},
	{.path = NULL},
};
