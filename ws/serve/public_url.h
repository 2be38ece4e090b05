/* The address by which people reach the server, where that is another than those at which it listens: --public-url. Pure. */
#pragma once

#define PUBLIC_URL_MAX 255u

struct public_url {
	char url[PUBLIC_URL_MAX + 2];    /* ends with a slash */
	char host[PUBLIC_URL_MAX + 1];   /* as --allow-host takes it */
	char origin[PUBLIC_URL_MAX + 1]; /* as --allow-origin takes it */
};

/* Read http(s)://HOST[:PORT][/PATH]. Returns 0, or -EINVAL where it is none. */
int public_url_read(const char *text, struct public_url *ret_url);
