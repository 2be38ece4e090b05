/* The typist of a request: the authenticated author, the label that it gives itself, and its lease. */
#include "ws/api/read/typist.h"

#include "ws/api/read/body.h"
#include "ws/api/read/refuse.h"

#include <string.h>

const char *typist_author(struct request *r)
{
	auth_author(&r->principal, r->author);
	return r->author;
}

const char *typist_default_label(const struct request *r)
{
	return r->principal.link[0] ? r->principal.link : "owner";
}

bool typist_label(struct request *r, const json_t *body, const char *field, const char **ret_text)
{
	if (!body_text(r, body, field, ret_text))
		return false;
	if (!*ret_text || (name_is_text(*ret_text) && strlen(*ret_text) <= LEASE_OWNER_MAX))
		return true;
	return reply_invalid(
		r, field, "A label is 1 to 64 bytes of text without control characters", "invalid");
}

bool typist_parse(struct request *r, const json_t *body, struct typist *ret_typist)
{
	*ret_typist = (struct typist){0};
	if (!typist_label(r, body, "name", &ret_typist->label) ||
		!body_text(r, body, "lease", &ret_typist->lease))
		return false;
	ret_typist->author = typist_author(r);
	if (!ret_typist->label)
		ret_typist->label = "";
	return true;
}

bool typist_check_lease(struct request *r, const json_t *body, const struct session *s)
{
	const char *lease;
	if (!body_text(r, body, "lease", &lease))
		return false;
	/* If the session is not running, the caller reports that. */
	if (s->state != SESSION_RUNNING || typing_is_allowed(&s->typing, lease))
		return true;
	return refuse_lease(r, s);
}
