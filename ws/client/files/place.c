#include "ws/client/files/place.h"

#include "ws/client/connect/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool place_of_session(const char *path, const char *session, struct place *ret)
{
	*ret = (struct place){.kind = PLACE_SESSION, .path = path};
	if (session && strlen(session) > PLACE_SESSION_MAX)
		return false;
	snprintf(ret->session, sizeof ret->session, "%s", session ? session : "");
	return true;
}

bool place_parse(const char *text, const char *session, struct place *ret)
{
	size_t length = strcspn(text, ":/");
	if (text[length] != ':') {
		*ret = (struct place){
			.kind = strcmp(text, "-") == 0 ? PLACE_STANDARD : PLACE_HERE, .path = text};
		return true;
	}
	if (length == 0)
		return place_of_session(text + 1, session, ret);
	*ret = (struct place){.kind = PLACE_SESSION, .path = text + length + 1};
	if (length > PLACE_SESSION_MAX)
		return false;
	memcpy(ret->session, text, length);
	return true;
}

const char *place_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	bool special = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
	return special ? name + strlen(name) : name;
}

char *place_url(const struct place *p, bool parents)
{
	char *path = call_encode_path(p->path), *session = call_encode(p->session), *url = NULL;
	bool named = p->session[0];
	if (path && session &&
		asprintf(&url, "/api/file/%s%s%s%s%s", path, named || parents ? "?" : "",
			parents ? "parents=1" : "",
			!named            ? ""
				: parents ? "&sessionId="
					  : "sessionId=",
			session) < 0)
		url = NULL;
	free(path);
	free(session);
	return url;
}
