/*
 * Host names of previews: "{port}-{id}-{token}.DOMAIN". Pure.
 *
 * A host of that form is always a preview, whatever --allow-host says: it never reaches a route of the API.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PREVIEW_PORT_MIN 1024u
#define PREVIEW_PORT_MAX 65535u
#define PREVIEW_ID_MAX 40u    /* characters; a whole label has at most 63, the limit of DNS */
#define PREVIEW_TOKEN_MAX 16u /* characters */
#define PREVIEW_TOKEN_MIN 8u  /* characters of a token that a client chooses */
#define PREVIEW_LABEL_SIZE (5 + 1 + PREVIEW_ID_MAX + 1 + PREVIEW_TOKEN_MAX + 1)
#define PREVIEW_DOMAIN_MAX 180u
#define PREVIEW_DOMAIN_DEFAULT "localhost" /* browsers resolve all names below it to loopback */

/* The parts of a label. */
struct preview_name {
	unsigned port;
	char id[PREVIEW_ID_MAX + 1];
	char token[PREVIEW_TOKEN_MAX + 1];
};

/* Parse a host, with or without a port, in any case. Returns whether it has that form; *ret_name is in lower case. */
bool preview_name_parse(const char *host, const char *domain, struct preview_name *ret_name);

/* Format the first label: "{port}-{id}-{token}". */
void preview_name_format(const struct preview_name *name, char ret_label[PREVIEW_LABEL_SIZE]);

/* Convert a session's id to 1 to PREVIEW_ID_MAX lower-case letters, digits and hyphens. */
void preview_name_id(const char *session, char ret_id[PREVIEW_ID_MAX + 1]);

/* Whether text is a valid token: PREVIEW_TOKEN_MIN to PREVIEW_TOKEN_MAX of [a-z0-9_]. */
bool preview_name_is_token(const char *text);

/*
 * Parse a port from PREVIEW_PORT_MIN on at the start of text; the next character must be NUL or one of `ends`. *ret_length:
 * number of digits. Returns whether it is valid.
 */
bool preview_name_port(const char *text, const char *ends, unsigned *ret_port, size_t *ret_length);

/* The value of --preview-domain: "[SCHEME://]DOMAIN[:PORT]". */
struct preview_place {
	char domain[PREVIEW_DOMAIN_MAX + 1]; /* lower case */
	char scheme[6];                      /* "http", "https", or "": as the page's */
	unsigned port;                       /* 0: as the page's */
};

/* Parse a value of --preview-domain. Returns whether it is valid. */
bool preview_place_parse(const char *text, struct preview_place *ret_place);
