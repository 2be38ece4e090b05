/* This only splits the URL. Host and port are checked later, like those of --allow-host. */
#include "ws/serve/public_url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int public_url_read(const char *text, struct public_url *ret_url)
{
	size_t length = strlen(text);
	size_t scheme = strncmp(text, "https://", 8) == 0 ? 8
		: strncmp(text, "http://", 7) == 0        ? 7
							  : 0;
	size_t host = scheme > 0 ? strcspn(text + scheme, "/") : 0;
	if (host == 0 || length > PUBLIC_URL_MAX)
		return -EINVAL;
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at >= 0x7f || strchr("@?#\\\"<>", *at))
			return -EINVAL;
	snprintf(ret_url->url, sizeof ret_url->url, "%s%s", text,
		text[length - 1] == '/' ? "" : "/");
	/* Browsers omit the default port. */
	const char *usual = scheme == 8 ? ":443" : ":80";
	size_t port = strlen(usual);
	if (host > port && memcmp(text + scheme + host - port, usual, port) == 0)
		host -= port;
	if (text[scheme] == ':')
		return -EINVAL;
	snprintf(ret_url->host, sizeof ret_url->host, "%.*s", (int)host, text + scheme);
	snprintf(ret_url->origin, sizeof ret_url->origin, "%.*s", (int)(scheme + host), text);
	return 0;
}
