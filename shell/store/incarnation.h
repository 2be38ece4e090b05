/* The name of a runtime directory: made at random with it, the same for all of its servers. */
#pragma once

#include <stddef.h>

#define INCARNATION_SIZE 37u /* of a UUID as text, with its NUL */

/* Load it, or make it where there is none that makes sense. Returns 0 or a negative errno. See RFC 9562, version 4. */
int incarnation_load(int runtime_fd, char ret_text[INCARNATION_SIZE]);
