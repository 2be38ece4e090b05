/* What of a result a model is given: what its text says, and no more. Pure. */
#pragma once

#include <jansson.h>

/* Take out of a result what says nothing: nulls, what is as always, and most of what is known of the terminal. */
void mcp_lean(json_t *result);

/* What to do about an error: a literal, or NULL. */
const char *mcp_next_of(const char *code);

/* The same of a command that is over without a status, by what the API says has ended it (may be NULL). Never NULL. */
const char *mcp_next_of_end(const char *ended_by);
