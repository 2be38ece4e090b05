/* URLs are parsed by libcurl, which also uses them: another parser could differ. */
#include "ws/hook/hook_url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool hook_address_is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >>
			24 ==
			127;
	return address->sa_family == AF_INET6 &&
		IN6_IS_ADDR_LOOPBACK(
			&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* Whether a host is loopback by its name, which libcurl does not look up. */
static bool is_loopback(const char *host)
{
	struct sockaddr_in four = {.sin_family = AF_INET};
	if (inet_pton(AF_INET, host, &four.sin_addr) == 1)
		return hook_address_is_loopback((const struct sockaddr *)(const void *)&four);
	return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}

static bool is_visible(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text >= 0x7f)
			return false;
	return true;
}

/* Get a part of a URL, for curl_free(); NULL if there is none. */
static char *part_of(CURLU *parsed, CURLUPart part)
{
	char *text = NULL;
	return curl_url_get(parsed, part, &text, 0) == CURLUE_OK ? text : NULL;
}

/* Check a parsed URL. */
static enum hook_url_result judge(CURLU *parsed, struct hook_url *ret_url)
{
	char *scheme = part_of(parsed, CURLUPART_SCHEME), *host = part_of(parsed, CURLUPART_HOST),
	     *port = part_of(parsed, CURLUPART_PORT);
	enum hook_url_result verdict = HOOK_URL_INVALID;
	bool plain = scheme && strcmp(scheme, "http") == 0;
	if (scheme && (plain || strcmp(scheme, "https") == 0) && host && *host && is_visible(host) &&
		(size_t)snprintf(ret_url->name, sizeof ret_url->name, "%s://%s%s%s", scheme, host,
			port ? ":" : "", port ? port : "") < sizeof ret_url->name) {
		ret_url->plain = plain;
		verdict = plain && !is_loopback(host) ? HOOK_URL_PLAIN : HOOK_URL_GOOD;
	}
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	return verdict;
}

enum hook_url_result hook_url_check(const char *url, struct hook_url *ret_url)
{
	struct hook_url found = {0};
	if (strlen(url) > HOOK_URL_MAX || !is_visible(url))
		return HOOK_URL_INVALID;
	CURLU *parsed = curl_url();
	enum hook_url_result verdict = HOOK_URL_INVALID;
	if (parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK)
		verdict = judge(parsed, &found);
	curl_url_cleanup(parsed);
	if (verdict != HOOK_URL_INVALID)
		*ret_url = found;
	return verdict;
}
