/*
 * See lease.h. A lease goes free -> held -> free, or to the heir: it is given back, handed over,
 * cleared, or expires. An expired lease counts as free in all functions.
 */
#include "shell/input/lease.h"

#include "shell/id.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Constant-time comparison. */
static bool are_equal(const char known[LEASE_ID_LENGTH + 1], const char *id)
{
	unsigned char differ = 0;
	if (strlen(id) != LEASE_ID_LENGTH)
		return false;
	for (size_t i = 0; i < LEASE_ID_LENGTH; i++)
		differ |= (unsigned char)(known[i] ^ id[i]);
	return differ == 0;
}

static bool is_id(const struct lease *l, const char *id)
{
	return are_equal(l->id, id);
}

bool lease_is_held(const struct lease *l, uint64_t now_ms)
{
	return l->id[0] && now_ms < l->expires_ms;
}

static int set_heir(struct lease *l, const struct lease_terms *terms)
{
	struct lease_heir heir = {.exclusive = terms->exclusive, .ttl_ms = terms->ttl_ms};
	int rc = id_hex(heir.id, sizeof heir.id);
	if (rc < 0)
		return rc;
	snprintf(heir.owner, sizeof heir.owner, "%s", terms->owner);
	snprintf(heir.author, sizeof heir.author, "%s", terms->author);
	l->heir = heir;
	l->version++;
	return 0;
}

int lease_acquire(struct lease *l, const struct lease_terms *terms, uint64_t now_ms)
{
	if (l->id[0] && !lease_is_held(l, now_ms))
		lease_hand_over(l, now_ms); /* an heir comes before those that ask now */
	bool is_held = lease_is_held(l, now_ms);
	bool is_renewal = is_held && terms->renew && is_id(l, terms->renew);
	if (is_held && !is_renewal && terms->take == LEASE_ACQUIRE_AFTER)
		return set_heir(l, terms);
	if (is_held && !is_renewal && terms->take == LEASE_ACQUIRE_IF_FREE)
		return -EBUSY;
	if (!is_renewal) {
		char id[LEASE_ID_LENGTH + 1];
		int rc = id_hex(id, sizeof id);
		if (rc < 0)
			return rc;
		memcpy(l->id, id, sizeof id);
		l->since_ms = now_ms;
		l->heir = (struct lease_heir){0};
	}
	snprintf(l->owner, sizeof l->owner, "%s", terms->owner);
	snprintf(l->author, sizeof l->author, "%s", terms->author);
	l->exclusive = terms->exclusive;
	l->expires_ms = now_ms + terms->ttl_ms;
	l->version++;
	return 0;
}

bool lease_release(struct lease *l, const char *id, uint64_t now_ms)
{
	if (l->heir.id[0] && are_equal(l->heir.id, id)) {
		l->heir = (struct lease_heir){0};
		l->version++;
		return true;
	}
	if (!lease_is_held(l, now_ms) || !is_id(l, id))
		return false;
	if (!lease_hand_over(l, now_ms))
		lease_clear(l);
	return true;
}

void lease_clear(struct lease *l)
{
	*l = (struct lease){.version = l->version + 1};
}

void lease_leave_note(
	struct lease *l, const char *text, const char *by, const char *author, uint64_t now_ms)
{
	snprintf(l->note.text, sizeof l->note.text, "%s", text);
	snprintf(l->note.by, sizeof l->note.by, "%s", by);
	snprintf(l->note.author, sizeof l->note.author, "%s", author);
	l->note.at_ms = now_ms;
	l->version++;
}

bool lease_hand_over(struct lease *l, uint64_t now_ms)
{
	const struct lease_heir heir = l->heir;
	if (!heir.id[0])
		return false;
	lease_clear(l);
	memcpy(l->id, heir.id, sizeof l->id);
	memcpy(l->owner, heir.owner, sizeof l->owner);
	memcpy(l->author, heir.author, sizeof l->author);
	l->exclusive = heir.exclusive;
	l->since_ms = now_ms;
	l->expires_ms = now_ms + heir.ttl_ms;
	return true;
}

bool lease_expire(struct lease *l, uint64_t now_ms)
{
	if (!l->id[0] || now_ms < l->expires_ms)
		return false;
	if (!lease_hand_over(l, now_ms))
		lease_clear(l);
	return true;
}

bool lease_allows(const struct lease *l, const char *id, uint64_t now_ms)
{
	if (!lease_is_held(l, now_ms))
		return id == NULL;
	return id ? is_id(l, id) : !l->exclusive;
}
