/* Results of runs as JSON. */
#pragma once

#include "shell/run/run.h"

#include <jansson.h>
#include <stdbool.h>

/* "stdout", "stderr". */
const char *run_stream_name(unsigned stream);

/*
 * Put stdout and stderr into body, in base64 or as text; "lossy" means that invalid UTF-8 was replaced. Output with a
 * gap is listed in "truncated": {stdout?: {omittedBytes, totalBytes, headBytes}, stderr?: …}; headBytes is the position
 * of the gap. Text is cut between characters. Returns false when memory is short.
 */
bool run_output_json(json_t *body, const struct run_result *result, bool base64);

/*
 * The output as one text for people: a gap is shown as "...", NULs are replaced by spaces, newlines at the end are
 * removed. Returns owned; NULL when memory is short.
 */
char *run_output_text(const struct excerpt_parts *parts);

/* "timeout", "cancelled" or "exited", for the log. */
const char *run_end_name(const struct run_result *result);

/*
 * Put into body: exitCode, signal?, timedOut, cancelled?, durationMs, startedAt, endedAt, outputExact, inexact?,
 * survivors?.
 */
void run_end_json(json_t *body, const struct run_result *result);

/* Append a line to a text field. Returns false when memory is short. */
bool run_json_add_line(json_t *body, const char *field, const char *line);
