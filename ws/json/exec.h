/* How the API writes execs and their output in JSON. All return new references. */
#pragma once

#include "shell/exec/exec.h"

#include <jansson.h>
#include <stdbool.h>

/* How output is written as a JSON string. */
enum exec_format {
	EXEC_FORMAT_TEXT,   /* CR LF as LF */
	EXEC_FORMAT_RAW,    /* as they are */
	EXEC_FORMAT_BASE64, /* for binary output */
};

/* Parse "text", "raw" or "base64". Returns false for other names. */
bool exec_format_parse(const char *name, enum exec_format *ret_format);

/* Parse "terminal", "pipes" or "terminals". Returns false for other names. */
bool exec_streams_parse(const char *name, enum exec_streams *ret_streams);

/* An exec without its output. */
json_t *exec_json(const struct exec *e);

/* A sentence for people: how an exec that is done ended. */
const char *exec_end_reason(const struct exec *e);

/*
 * Add the output to object, as far as it is kept or still in the ring: "output", or "stdout" and "stderr". "truncated"
 * counts omitted bytes, "lost" bytes that the ring no longer had; "lossy" means that invalid UTF-8 was replaced.
 */
void exec_json_add_output(json_t *object, struct exec *e, enum exec_format format);

/* Add "stdout" and "stderr" as in the container's protocol: text without the newline at the end. */
void exec_json_add_container_output(json_t *object, struct exec *e);
