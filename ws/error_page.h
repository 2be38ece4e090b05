/* An error as a page, for people who have come to it with a browser. Pure. */
#pragma once

/*
 * The page, owned by the caller; NULL when memory is short. There are no scripts in it, and the text of code and message
 * is text. Send it with this policy.
 */
char *error_page(int status, const char *code, const char *message);

#define ERROR_PAGE_POLICY \
	"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
