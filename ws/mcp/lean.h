/* Removes from a result what a model does not need to read. Pure. */
#pragma once

#include <jansson.h>

/* Remove nulls, default values, and most of the terminal's state. */
void mcp_lean(json_t *result);

/* What to do after an error with this code: a literal, or NULL. */
const char *mcp_next_after_error(const char *code);

/* What to do after a command ended without an exit status. ended_by: may be NULL. A literal. */
const char *mcp_next_after_end(const char *ended_by);
