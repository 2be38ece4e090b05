/* How the API writes execs and their output in JSON. All return new references. */
#pragma once

#include "shell/exec/exec.h"

#include <jansson.h>
#include <stdbool.h>

/* How bytes of a terminal become text. */
enum exec_format {
	EXEC_FORMAT_TEXT,   /* CR LF as LF */
	EXEC_FORMAT_RAW,    /* as they are */
	EXEC_FORMAT_BASE64, /* for what is no text */
};

bool exec_format_parse(const char *name, enum exec_format *ret_format);

/* "terminal", "pipes", "terminals". */
bool exec_streams_parse(const char *name, enum exec_streams *ret_streams);
const char *exec_streams_name(enum exec_streams streams);

/* An exec without its output. */
json_t *exec_json(const struct exec *e);

/* Why one that is done was not run to its end, for people. */
const char *exec_end_reason(const struct exec *e);

/*
 * Add the output to object: "output", or "stdout" and "stderr", as far as it is kept or still in the ring;
 * "truncated" says what was left out, "lost" what the ring did not have, "lossy" that some was no UTF-8.
 */
void exec_json_add_output(json_t *object, struct exec *e, enum exec_format format);

/*
 * Standard output and standard error apart, as text, as the container's protocol has those of a session's command: without
 * the newline that each ends with.
 */
void exec_json_add_streams(json_t *object, struct exec *e);
