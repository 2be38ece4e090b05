/* Stable error codes and their HTTP status: those of the Sandbox container's protocol, and our own. */
#pragma once

#include <stdbool.h>

/* The HTTP status of a code; 500 for an unknown code. */
int error_status(const char *code);

/* The code for a negative errno or error of our own (shell/own_error.h); INTERNAL_ERROR if it has none of its own. */
const char *error_code_of(int error);

/* Whether the system is out of a resource, so the request itself was fine. */
bool error_is_shortage(int error);
