/* How the API writes what came of a run. */
#pragma once

#include "shell/run/run.h"

#include <jansson.h>
#include <stdbool.h>

/* "stdout", "stderr". */
const char *run_stream_name(unsigned stream);

/*
 * Put stdout and stderr into body, as text (what is no UTF-8 replaced, then with "lossy") or in base64; and
 * "truncated": {stdout?: {omittedBytes, totalBytes, headBytes}, stderr?: …} where something is missing:
 * headBytes of what is sent come before the gap. Text is cut between characters. Returns false when memory
 * is short.
 */
bool run_output_json(json_t *body, const struct run_result *result, bool base64);

/* What a program has said, as one text for people: dots for what is missing, no NUL, no newline at its end. Owned; NULL: memory. */
char *run_output_text(const struct excerpt_parts *parts);

/* "timeout", "cancelled" or "exited", as the log has it. */
const char *run_end_name(const struct run_result *result);

/* Put into body how it ended: exitCode, signal?, timedOut, cancelled?, durationMs, startedAt, endedAt, survivors?. */
void run_end_json(json_t *body, const struct run_result *result);

/* Add a line to a field that is text. Returns false when memory is short. */
bool run_add_line(json_t *body, const char *field, const char *line);
