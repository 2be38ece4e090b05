/* The value of --public-url. Pure. */
#pragma once

#define PUBLIC_URL_MAX 255u

/* A parsed URL. */
struct public_url {
	char url[PUBLIC_URL_MAX + 2];    /* ends with a slash */
	char host[PUBLIC_URL_MAX + 1];   /* in the form of --allow-host */
	char origin[PUBLIC_URL_MAX + 1]; /* in the form of --allow-origin */
};

/* Parse http(s)://HOST[:PORT][/PATH]. Returns 0 or -EINVAL. */
int public_url_read(const char *text, struct public_url *ret_url);
