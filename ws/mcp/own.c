/*
 * The id of a caller's own session is derived from the caller's identity, so it is the same after a
 * restart. What a caller has seen is stored in the cursors, by a hash of the caller, the session
 * and its epoch.
 */
#include "ws/mcp/own.h"

#include "shell/hash.h"
#include "shell/session/sessions.h"
#include "ws/dispatcher.h"
#include "ws/mcp/mcp.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define OWN_SESSION "agent" /* prefix of the id of an own session */
#define OWN_NAME 24         /* bytes of the caller's name in the id */
#define OWN_IDLE_MS ((json_int_t)7 * 24 * 3600 * 1000)

/* The key for this caller and session. Bit 63 distinguishes it from the numbers of exec_command. */
static uint64_t key_of(const struct mcp_call *c)
{
	const struct session *s = sessions_find(c->mcp->dispatcher->sessions, c->session);
	uint64_t key = hash_text(c->client, c->session);
	return (s ? key ^ session_epoch(s) : key) | UINT64_C(1) << 63;
}

/* XORed with the key for other values: */
#define OF_SCREEN UINT64_C(0x53637265656e5363)
#define OF_DIRECTORY UINT64_C(0x4469726563746f72)
#define OF_OUTPUT UINT64_C(0x4f7574707574536e)

/* A value for this caller; 0 for callers without a scope, which cannot be told apart. */
static uint64_t value_of(const struct mcp_call *c, uint64_t of)
{
	return c->has_scope ? mcp_cursors_get(&c->mcp->cursors, key_of(c) ^ of) : 0;
}

uint64_t mcp_shown_offset(const struct mcp_call *c)
{
	return value_of(c, OF_OUTPUT);
}

void mcp_set_shown_offset(struct mcp_call *c, uint64_t offset)
{
	mcp_set_known_offset(c, offset);
	if (offset > mcp_shown_offset(c))
		mcp_cursors_set(&c->mcp->cursors, key_of(c) ^ OF_OUTPUT, offset);
}

uint64_t mcp_shown_screen(const struct mcp_call *c)
{
	return value_of(c, OF_SCREEN);
}

void mcp_set_shown_screen(struct mcp_call *c, uint64_t version)
{
	mcp_cursors_set(&c->mcp->cursors, key_of(c) ^ OF_SCREEN, version);
}

bool mcp_update_shown_directory(struct mcp_call *c, const char *cwd)
{
	uint64_t key = key_of(c) ^ OF_DIRECTORY, number = hash_text(HASH_START, cwd);
	bool told = value_of(c, OF_DIRECTORY) == number;
	mcp_cursors_set(&c->mcp->cursors, key, number);
	return told;
}

uint64_t mcp_known_offset(const struct mcp_call *c)
{
	return mcp_cursors_get(&c->mcp->cursors, key_of(c));
}

void mcp_set_known_offset(struct mcp_call *c, uint64_t offset)
{
	if (offset > mcp_known_offset(c))
		mcp_cursors_set(&c->mcp->cursors, key_of(c), offset);
}

void mcp_own_identity(char reader[EXEC_READER_SIZE], const char *scope, const struct principal *p,
	const char *author)
{
	snprintf(reader, EXEC_READER_SIZE, "%s|%s|%s", scope, p->link, author);
}

static void open_own(struct mcp_call *c);

/* The session with the ended shell was deleted. */
static void on_removed(struct mcp_call *c, const struct mcp_answer *a)
{
	if (mcp_succeeded(c, a))
		open_own(c);
}

static void on_opened(struct mcp_call *c, const struct mcp_answer *a)
{
	if (!mcp_succeeded(c, a))
		return;
	const json_t *session = json_object_get(a->json, "data");
	const char *state = json_string_value(json_object_get(session, "state"));
	bool ended = state && strcmp(state, "exited") == 0;
	/* A repeated call may have ended the shell itself, so it gets no new one. */
	bool renew = ended && !c->renewed && !c->retried && c->tool->role > ROLE_VIEWER;
	if (c->renewed)
		mcp_add_note(c,
			json_sprintf("the shell of %s had ended: this is a new one", c->session));
	else if (json_is_true(json_object_get(a->json, "created")))
		mcp_add_note(c,
			c->has_scope
				? json_sprintf("session %s is yours%s", c->session,
					  c->restored ? ", and new: if you had one before it is gone"
						      : "")
				: json_sprintf("session %s is shared by all clients of this name: "
					       "session_create makes one of your own",
					  c->session));
	if (!renew) {
		c->first(c, NULL);
		return;
	}
	c->renewed = true;
	mcp_request(c, on_removed, METHOD_POST, "/api/session/delete",
		json_pack("{s:s}", "sessionId", c->session), NULL);
}

static void open_own(struct mcp_call *c)
{
	json_t *body = json_pack("{s:s, s:I}", "id", c->session, "idleTimeoutMs", OWN_IDLE_MS);
	if (c->author[0])
		json_object_set_new(body, "name", json_string(c->author));
	mcp_request(c, on_opened, METHOD_POST, "/api/session/open", body, NULL);
}

/* The id of the caller's own session, the same after a restart. */
static void name_own(const struct mcp_call *c, char session[NAME_ID_MAX + 1])
{
	char name[OWN_NAME + 1];
	size_t n = 0;
	for (const char *at = c->author; *at && n < OWN_NAME; at++)
		name[n++] = isalnum((unsigned char)*at) ? *at : '-';
	name[n] = '\0';
	int length = snprintf(session, NAME_ID_MAX + 1, OWN_SESSION "%s%s", n > 0 ? "-" : "", name);
	if (c->has_scope)
		snprintf(session + length, NAME_ID_MAX + 1 - (size_t)length, "-%06x",
			(unsigned)(c->client & 0xffffff));
}

bool mcp_is_own(const struct mcp_call *c)
{
	char own[NAME_ID_MAX + 1];
	name_own(c, own);
	return strcmp(c->session, own) == 0 && !c->principal.session[0];
}

void mcp_in_session(struct mcp_call *c, mcp_step first)
{
	const char *id = mcp_text_arg(c, "session_id");
	if (!id && c->principal.session[0])
		id = c->principal.session;
	if (id && !name_is_id(id)) {
		mcp_fail(c, "VALIDATION_FAILED",
			"session_id must be 1 to 128 of A-Z a-z 0-9 . _ : @ -", NULL);
		return;
	}
	c->first = first;
	if (id) {
		snprintf(c->session, sizeof c->session, "%s", id);
		first(c, NULL);
	} else {
		name_own(c, c->session);
		open_own(c);
	}
}
