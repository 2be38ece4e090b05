/*
 * Where webhooks go: which addresses may be given, and what they are called where people read of them. What is behind the host is
 * often a secret, and so is a user in front of it: neither is in the name. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define HOOK_URL_MAX 2048u  /* bytes */
#define HOOK_NAME_SIZE 300u /* of a scheme, a host and a port, with NUL */

enum hook_url_verdict {
	HOOK_URL_GOOD,
	HOOK_URL_INVALID, /* no address of http or https, too long, or with other bytes than visible ones of ASCII */
	HOOK_URL_PLAIN /* http to another machine */
};

struct hook_url {
	bool plain;                /* http, not https */
	char name[HOOK_NAME_SIZE]; /* "https://host:port" */
};

/* Judge an address. *ret_url is set unless it is invalid. */
enum hook_url_verdict hook_url_judge(const char *url, struct hook_url *ret_url);

/* Whether this is an address of loopback, 127.0.0.0/8 or ::1. */
bool hook_address_is_loopback(const struct sockaddr *address);
