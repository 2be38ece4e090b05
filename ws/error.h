/* Stable error codes and their HTTP status: those of the Sandbox container's protocol, and our own. */
#pragma once

/* The status for a code; 500 for one that is not listed. */
int error_status(const char *code);

/* The code that fits a negative errno: NO_SPACE, TOO_MANY_FILES, ... or INTERNAL_ERROR. */
const char *error_code_of(int error);
