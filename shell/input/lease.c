/* See lease.h. Free -> held -> free: given back, cleared, or its time is over, which every look takes into account. */
#include "shell/input/lease.h"

#include "shell/id.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Takes as long whichever byte differs. */
static bool is_id(const struct lease *l, const char *id)
{
	unsigned char differ = 0;
	if (strlen(id) != LEASE_ID_LENGTH)
		return false;
	for (size_t i = 0; i < LEASE_ID_LENGTH; i++)
		differ |= (unsigned char)(l->id[i] ^ id[i]);
	return differ == 0;
}

bool lease_is_held(const struct lease *l, uint64_t now_ms)
{
	return l->id[0] && now_ms < l->expires_ms;
}

int lease_take(struct lease *l, const struct lease_terms *terms, uint64_t now_ms)
{
	bool held = lease_is_held(l, now_ms);
	if (held && !(terms->renew && is_id(l, terms->renew)))
		return -EBUSY;
	if (!held) {
		char id[LEASE_ID_LENGTH + 1];
		int rc = id_hex(id, sizeof id);
		if (rc < 0)
			return rc;
		memcpy(l->id, id, sizeof id);
		l->since_ms = now_ms;
	}
	snprintf(l->owner, sizeof l->owner, "%s", terms->owner);
	snprintf(l->author, sizeof l->author, "%s", terms->author);
	l->exclusive = terms->exclusive;
	l->expires_ms = now_ms + terms->ttl_ms;
	l->version++;
	return 0;
}

bool lease_give_back(struct lease *l, const char *id, uint64_t now_ms)
{
	if (!lease_is_held(l, now_ms) || !is_id(l, id))
		return false;
	lease_clear(l);
	return true;
}

void lease_clear(struct lease *l)
{
	*l = (struct lease){.version = l->version + 1};
}

bool lease_expire(struct lease *l, uint64_t now_ms)
{
	if (!l->id[0] || now_ms < l->expires_ms)
		return false;
	lease_clear(l);
	return true;
}

bool lease_admits(const struct lease *l, const char *id, uint64_t now_ms)
{
	if (!lease_is_held(l, now_ms))
		return id == NULL;
	return id ? is_id(l, id) : !l->exclusive;
}
