/* URLs of git repositories: validation, and hiding of credentials. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define GIT_URL_MAX 2048u /* bytes */
#define GIT_NAME_MAX 255u

#define GIT_PROTOCOLS "http:https:ssh:git:file" /* allowed, for GIT_ALLOW_PROTOCOL */

/*
 * Whether a URL is safe for git: a protocol of GIT_PROTOCOLS, a path, or host:path; not an option
 * or a remote helper ("ext::…"), no control characters. *ret_why: an error text, or NULL.
 */
bool git_url_is_valid(const char *url, const char **ret_why);

/* Whether a branch is safe for git: no option, no control characters, 1 to GIT_NAME_MAX bytes. */
bool git_branch_is_valid(const char *branch);

/*
 * A clone's default name: the end of the path without ".git". Returns false if there is none.
 */
bool git_url_name(const char *url, char ret_name[GIT_NAME_MAX + 1]);

/* A URL that was split. */
struct git_login {
	char plain[GIT_URL_MAX + 1];    /* without credentials */
	char user[GIT_URL_MAX + 1];     /* decoded */
	char password[GIT_URL_MAX + 1]; /* decoded; "": none */
};

/*
 * Split user name and password from an http or https URL. Returns false if there are none, or if
 * they have control characters.
 */
bool git_url_login(const char *url, struct git_login *ret);

/* Mask credentials ("://…@") and queries ("?…") of all URLs in a text, in place, with "***". */
void git_mask(char *text);
