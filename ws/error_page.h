/* An error as an HTML page, for people in a browser. Pure. */
#pragma once

/*
 * Make the page. link: the address it links to; "/" is the page of the sessions; NULL: it links to none. Returns a string owned
 * by the caller, or NULL when memory is short. code, message and link are escaped.
 */
char *error_page(int status, const char *code, const char *message, const char *link);

/* The Content-Security-Policy to send the page with. */
#define ERROR_PAGE_POLICY \
	"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
