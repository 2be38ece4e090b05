/* Stable error codes and their HTTP status: those of the Sandbox container's protocol, and our own. */
#pragma once

#include <stdbool.h>

/* The HTTP status of a code; 500 for an unknown code. */
int error_status(const char *code);

/*
 * The code for a negative errno: for a shortage (see error_is_shortage()) NO_SPACE, TOO_MANY_FILES, TOO_MANY_PROCESSES
 * (-EAGAIN), TOO_MANY_TERMINALS (-ENOSR) or OUT_OF_MEMORY; SESSION_UNRESPONSIVE for -EHOSTDOWN, FILES_STUCK for -ETIME,
 * SERVER_DRAINING for -ESHUTDOWN, OPERATION_INTERRUPTED for -ECANCELED; otherwise INTERNAL_ERROR.
 */
const char *error_code_of(int error);

/* Whether a negative errno says that the system is out of a resource, so the request itself was fine. */
bool error_is_shortage(int error);

/* A text for people for a negative errno. */
const char *error_text(int error);
