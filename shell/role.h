/* What a client may do in a session. */
#pragma once

/* Each role includes those before it. */
enum role { ROLE_VIEWER, ROLE_DRIVER, ROLE_OWNER };

/* "viewer", "driver" or "owner". */
static inline const char *role_name(enum role role)
{
	static const char *const names[] = {"viewer", "driver", "owner"};
	return names[role];
}
