/*
 * The terminal socket tells which clients are attached and whether the server drains; the stream of
 * events tells what the sessions do. Names are cut, but not filtered: the canvas does that.
 */
#include "ws/client/attach/status.h"

#include "ws/client/connect/call.h"

#include <stdio.h>
#include <string.h>

/* Append to a text, with a separator unless it is empty. */
static void add(char *text, size_t size, const char *separator, const char *more)
{
	size_t length = strlen(text);
	snprintf(text + length, size - length, "%s%s", length > 0 ? separator : "", more);
}

static enum attention assess(const json_t *session, char words[ATTENTION_WORDS_MAX])
{
	const json_t *activity = json_object_get(session, "activity");
	bool called = json_is_true(json_object_get(activity, "unread"));
	return attention_of(session, json_is_object(activity) ? activity : NULL, called, words);
}

static void count(struct status *s)
{
	const char *id;
	json_t *session;
	char words[ATTENTION_WORDS_MAX];
	s->needing = 0;
	json_object_foreach (s->sessions, id, session)
		if (strcmp(id, s->session) != 0)
			s->needing += assess(session, words) <= ATTENTION_STUCK;
	session = json_object_get(s->sessions, s->session);
	s->words[0] = '\0';
	if (session)
		assess(session, s->words);
	const json_t *bells = json_object_get(json_object_get(session, "activity"), "bells");
	json_int_t before = s->bells;
	if (json_is_integer(bells))
		s->bells = json_integer_value(bells);
	s->rung = s->rung || (before >= 0 && s->bells > before);
}

void status_begin(struct status *s, const char *session)
{
	snprintf(s->session, sizeof s->session, "%s", session);
	s->name[0] = s->words[0] = s->people[0] = s->lease[0] = '\0';
	s->client = 0;
	s->bells = -1;
	s->rung = false;
	count(s);
}

static void set_people(struct status *s, const json_t *clients)
{
	size_t i;
	json_t *client;
	s->people[0] = '\0';
	json_array_foreach (clients, i, client)
		if (json_integer_value(json_object_get(client, "id")) != s->client)
			add(s->people, sizeof s->people, ", ", answer_text(client, "name"));
}

static void set_name(struct status *s, const char *name)
{
	snprintf(s->name, sizeof s->name, "%s", strcmp(name, s->session) == 0 ? "" : name);
}

bool status_handle_message(struct status *s, const json_t *message)
{
	const char *type = answer_text(message, "type");
	if (strcmp(type, "attached") == 0) {
		s->client = json_integer_value(json_object_get(message, "clientId"));
		s->lease[0] = '\0';
		s->away = s->draining = false;
	} else if (strcmp(type, "presence") == 0)
		set_people(s, json_object_get(message, "clients"));
	else if (strcmp(type, "state") == 0)
		set_name(s, answer_text(message, "name"));
	else if (strcmp(type, "lease") == 0)
		snprintf(s->lease, sizeof s->lease, "%s",
			answer_text(json_object_get(message, "lease"), "owner"));
	else if (strcmp(type, "drain") == 0)
		s->draining = json_is_true(json_object_get(message, "draining"));
	else
		return false;
	return true;
}

static void set_list(struct status *s, const json_t *list)
{
	size_t i;
	json_t *session;
	json_decref(s->sessions);
	s->sessions = json_object();
	json_array_foreach (list, i, session)
		if (i < STATUS_SESSIONS_MAX && *answer_text(session, "id"))
			json_object_set(s->sessions, answer_text(session, "id"), session);
}

static void set_activities(struct status *s, const json_t *list)
{
	size_t i;
	json_t *entry;
	json_array_foreach (list, i, entry) {
		json_t *session = json_object_get(s->sessions, answer_text(entry, "id"));
		if (session)
			json_object_set(session, "activity", json_object_get(entry, "activity"));
	}
}

bool status_handle_event(struct status *s, const json_t *event)
{
	const char *type = answer_text(event, "type");
	if (strcmp(type, "sessions") == 0)
		set_list(s, json_object_get(event, "sessions"));
	else if (strcmp(type, "activity") == 0)
		set_activities(s, json_object_get(event, "activities"));
	else
		return false;
	count(s);
	return true;
}

void status_line(const struct status *s, const char *leave, char text[STATUS_TEXT_MAX])
{
	char part[STATUS_NAME_MAX + STATUS_ID_MAX + 8];
	snprintf(part, sizeof part, " %s%s%s%s", s->session, s->name[0] ? " (" : "", s->name,
		s->name[0] ? ")" : "");
	text[0] = '\0';
	add(text, STATUS_TEXT_MAX, "", part);
	if (s->away) {
		snprintf(part, sizeof part, "the server is away; trying again%s%s",
			*leave ? "; leave with " : "", leave);
		add(text, STATUS_TEXT_MAX, " | ", part);
		return;
	}
	if (s->draining)
		add(text, STATUS_TEXT_MAX, " | ", "the server is being drained");
	if (s->words[0])
		add(text, STATUS_TEXT_MAX, " | ", s->words);
	if (s->needing > 0) {
		snprintf(part, sizeof part, "%u other%s you", s->needing,
			s->needing == 1 ? " needs" : "s need");
		add(text, STATUS_TEXT_MAX, " | ", part);
	}
	if (s->lease[0]) {
		snprintf(part, sizeof part, "%s has the keyboard", s->lease);
		add(text, STATUS_TEXT_MAX, " | ", part);
	}
	if (s->people[0]) {
		snprintf(part, sizeof part, "with %s", s->people);
		add(text, STATUS_TEXT_MAX, " | ", part);
	}
}

void status_finish(struct status *s)
{
	json_decref(s->sessions);
	s->sessions = NULL;
}
