/*
 * Cookies of logins in a fleet: the value of a login, the node that has its entry, and a signature by which every node knows that
 * the login was made there. Pure.
 */
#pragma once

#include "ws/auth/logins.h"

#include <stdbool.h>
#include <stdint.h>

#define FLEET_NODE_SIZE 64u /* name of a node, with its NUL */
/* VALUE:NODE:EXPIRES:SIGNATURE */
#define FLEET_COOKIE_SIZE (LOGIN_VALUE_SIZE + FLEET_NODE_SIZE + 12u + 34u)

/* A cookie. */
struct fleet_cookie {
	char value[LOGIN_VALUE_SIZE]; /* of the login */
	char id[LOGIN_ID_SIZE];
	char node[FLEET_NODE_SIZE];
	uint64_t expires_s; /* since 1970 */
};

/* Write a cookie. of: the link's id, or the fingerprint of the owner's token. key: LINKS_KEY_SIZE bytes. */
void fleet_cookie_write(const struct fleet_cookie *c, const char *of, const unsigned char *key,
	char ret_text[FLEET_COOKIE_SIZE]);

/* Read one. Returns false if it is not valid at now_s. */
bool fleet_cookie_read(const char *text, const char *of, const unsigned char *key, uint64_t now_s,
	struct fleet_cookie *ret_cookie);
