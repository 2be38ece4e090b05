/* Addresses of git repositories, and what of them nobody else is to see. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define GIT_URL_MAX 2048u /* bytes */
#define GIT_NAME_MAX 255u

/*
 * Whether git may be given it: of a protocol of GIT_PROTOCOLS, a path, or host:path; no option, no transport of a
 * program's own ("ext::…"), no control characters. *ret_why: why not, for people.
 */
#define GIT_PROTOCOLS "http:https:ssh:git:file"
bool git_url_is_valid(const char *url, const char **ret_why);

/* Whether a branch may be given to git: no option, no control characters, of 1 to GIT_NAME_MAX bytes. */
bool git_branch_is_valid(const char *branch);

/* The last part of its path, without ".git": what a clone is called. Returns false when there is none that can name a directory. */
bool git_url_name(const char *url, char ret_name[GIT_NAME_MAX + 1]);

/* A URL, and who comes by it. */
struct git_login {
	char plain[GIT_URL_MAX + 1]; /* without them */
	char user[GIT_URL_MAX + 1],
		password[GIT_URL_MAX + 1]; /* decoded; password: "" where there is none */
};

/*
 * Take name and password out of an address of http or https. Returns false where there is none, or one that cannot be given on: with
 * control characters.
 */
bool git_url_login(const char *url, struct git_login *ret);

/* Put "***" in the place of what is before the "@" in each "://…@" of a text, which becomes no longer. */
void git_mask(char *text);
