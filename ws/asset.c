/* Lookup of the page's files and their encodings. The table is generated at build time. */
#include "ws/asset.h"

#include <string.h>
#include <strings.h>

const struct asset *asset_find(const char *path)
{
	if (strcmp(path, "/") == 0)
		path = "/index.html";
	for (size_t i = 0; i < assets_count; i++)
		if (strcmp(assets[i].path, path) == 0)
			return &assets[i];
	return NULL;
}

/* Whether a coding is in the list and not excluded with q=0 (RFC 9110, 12.5.3). */
static bool accepts(const char *accept, const char *coding)
{
	size_t length = strlen(coding);
	for (const char *p = accept; *p;) {
		p += strspn(p, " \t,");
		size_t item = strcspn(p, ",");
		if (strncasecmp(p, coding, length) == 0 && strcspn(p, ",; \t") == length) {
			const char *q = memchr(p, '=', item);
			return !(q && strspn(q + 1, "0.") == strcspn(q + 1, ", \t"));
		}
		p += item;
	}
	return false;
}

const struct asset_body *asset_choose_encoding(
	const struct asset *a, const char *accept, const char **ret_encoding)
{
	*ret_encoding = NULL;
	if (a->brotli.data && accepts(accept, "br")) {
		*ret_encoding = "br";
		return &a->brotli;
	}
	if (a->gzip.data && accepts(accept, "gzip")) {
		*ret_encoding = "gzip";
		return &a->gzip;
	}
	return &a->plain;
}
