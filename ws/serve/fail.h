/* Errors at the start, on standard error, before there is a log. */
#pragma once

/* Print "ringside: WHAT: WHY" on one line, with control characters replaced. Returns -1, for the caller to return. */
int serve_fail(const char *what, const char *why);
