/* Where the output of a command goes: our own standard output and error. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { SINK_OUT, SINK_ERR, SINK_STREAMS };

struct sink {
	uint64_t seen[SINK_STREAMS]; /* bytes that have come since the mark */
	uint64_t written[SINK_STREAMS]; /* how far what was written goes; what comes again is dropped */
	bool plain;                     /* a terminal's CR LF is LF: it does not go to a terminal */
	bool return_held;               /* a CR waits for what is behind it */
	int error; /* 0, or why nothing can be written any more: a negative errno */
};

/* From here on it can go on after a restart. */
void sink_mark(struct sink *s);

/* What comes begins anew, at the last mark or (there is none) from the beginning. */
void sink_restart(struct sink *s);

/* A piece of output, in base64. terminal: it is what a terminal got. */
void sink_put(struct sink *s, int stream, const json_t *base64, bool terminal);

/* The output is complete. */
void sink_end(struct sink *s);
