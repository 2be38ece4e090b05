/* POST /api/upgrade: the server executes the program that is on the disk now. See ws/serve/reexec.h. */
#include "ws/api/api.h"
#include "ws/api/read/body.h"
#include "ws/api/rows.h"

#define WAIT_DEFAULT_MS 10000u
#define WAIT_MAX_MS 600000u

static void upgrade(struct request *r)
{
	const struct api_upgrade *u = api_of(r)->upgrade;
	uint64_t wait_ms = WAIT_DEFAULT_MS;
	bool force = false;
	json_t *body = body_read(r);
	if (!body || !body_number(r, body, "waitMs", 0, WAIT_MAX_MS, &wait_ms) ||
		!body_flag(r, body, "force", &force))
		return;
	if (u)
		u->begin(u->user, r, wait_ms, force);
	else
		reply_error(r, "UPGRADE_FAILED", "This server cannot be upgraded", NULL);
}

const struct route_row api_upgrade_rows[] = {
	{METHOD_POST, "/api/upgrade", ROUTE_OWNER, .plain = upgrade},
	{.path = NULL},
};
