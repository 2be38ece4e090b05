/* Stable error codes and their HTTP status: those of the Sandbox container's protocol, and our own. */
#pragma once

#include <stdbool.h>

/* The status for a code; 500 for one that is not listed. */
int error_status(const char *code);

/*
 * The code that fits a negative errno: what runs short (NO_SPACE, TOO_MANY_FILES, TOO_MANY_PROCESSES for -EAGAIN,
 * TOO_MANY_TERMINALS for -ENOSR, OUT_OF_MEMORY), SESSION_UNRESPONSIVE for -EHOSTDOWN, or INTERNAL_ERROR.
 */
const char *error_code_of(int error);

/* Whether it says that something runs short: it is nobody's mistake then. */
bool error_is_shortage(int error);

/* What it says, for people. */
const char *error_text(int error);
