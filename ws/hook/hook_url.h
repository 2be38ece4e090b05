/*
 * Checks of webhook URLs, and their names for the log. Users and paths in URLs are often secret, so the name has only
 * scheme, host and port. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define HOOK_URL_MAX 2048u  /* bytes */
#define HOOK_NAME_SIZE 300u /* of a scheme, a host and a port, with NUL */

/* Result of a check. */
enum hook_url_result {
	HOOK_URL_GOOD,
	HOOK_URL_INVALID, /* not http or https, too long, or not only visible ASCII */
	HOOK_URL_PLAIN    /* http to another machine */
};

/* A valid URL. */
struct hook_url {
	bool plain;                /* http, not https */
	char name[HOOK_NAME_SIZE]; /* "https://host:port" */
};

/* Check a URL. *ret_url is set unless it is invalid. */
enum hook_url_result hook_url_check(const char *url, struct hook_url *ret_url);

/* Whether this is a loopback address, 127.0.0.0/8 or ::1. */
bool hook_address_is_loopback(const struct sockaddr *address);
