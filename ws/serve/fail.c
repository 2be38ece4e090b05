/* Why the server does not start. There is no state, and nobody to tell when standard error is closed. */
#include "ws/serve/fail.h"

#include <stdio.h>

int serve_fail(const char *what, const char *why)
{
	fprintf(stderr, "ringside: %s: %s\n", what, why);
	return -1;
}
