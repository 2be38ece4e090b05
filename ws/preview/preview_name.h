/*
 * The names of hosts by which previews are asked for: "{port}-{id}-{token}.DOMAIN". Pure.
 *
 * A name of that form is a preview's and nothing else, whatever --allow-host says: no route of the API is reached by it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PREVIEW_PORT_MIN 1024u
#define PREVIEW_PORT_MAX 65535u
#define PREVIEW_ID_MAX 40u    /* characters: with the rest 63, which is what DNS has */
#define PREVIEW_TOKEN_MAX 16u /* the same */
#define PREVIEW_TOKEN_MIN 8u  /* of one that somebody chooses */
#define PREVIEW_LABEL_SIZE (5 + 1 + PREVIEW_ID_MAX + 1 + PREVIEW_TOKEN_MAX + 1)
#define PREVIEW_DOMAIN_MAX 180u
#define PREVIEW_DOMAIN_DEFAULT "localhost" /* below which every name is this machine, to browsers */

struct preview_name {
	unsigned port;
	char id[PREVIEW_ID_MAX + 1];
	char token[PREVIEW_TOKEN_MAX + 1];
};

/* Whether host, with or without a port, has that form. Letters may be large ones; *ret_name has small ones. */
bool preview_name_parse(const char *host, const char *domain, struct preview_name *ret_name);

/* The first label: "{port}-{id}-{token}". */
void preview_name_format(const struct preview_name *name, char ret_label[PREVIEW_LABEL_SIZE]);

/* What a session's id becomes in a name: small letters, digits and hyphens, at most PREVIEW_ID_MAX of them, at least one. */
void preview_name_id(const char *session, char ret_id[PREVIEW_ID_MAX + 1]);

/* Whether text may be a token: PREVIEW_TOKEN_MIN to PREVIEW_TOKEN_MAX of [a-z0-9_]. */
bool preview_name_is_token(const char *text);

/* A port in decimal digits that a preview may be of, from PREVIEW_PORT_MIN on, behind which text ends with one of `ends` or NUL. */
bool preview_name_port(const char *text, const char *ends, unsigned *ret_port, size_t *ret_length);

/* Where previews are: "[SCHEME://]DOMAIN[:PORT]", as it is given. */
struct preview_place {
	char domain[PREVIEW_DOMAIN_MAX + 1]; /* small letters */
	char scheme[6];                      /* "http", "https", or "": as the page's */
	unsigned port;                       /* 0: as the page's */
};

/* Take that apart. Returns whether it is a domain. */
bool preview_place_parse(const char *text, struct preview_place *ret_place);
