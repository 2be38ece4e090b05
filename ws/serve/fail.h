/* Why the server does not start, on standard error: before there is a log. */
#pragma once

/* Print "ringside: WHAT: WHY", on one line, whatever they have. Returns -1, for callers to pass on. */
int serve_fail(const char *what, const char *why);
