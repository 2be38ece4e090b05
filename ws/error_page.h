/* An error as an HTML page, for people in a browser. Pure. */
#pragma once

/* Make the page. Returns a string owned by the caller, or NULL when memory is short. code and message are escaped. */
char *error_page(int status, const char *code, const char *message);

/* The Content-Security-Policy to send the page with. */
#define ERROR_PAGE_POLICY \
	"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
