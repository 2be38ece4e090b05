/* Where the output of a command goes: our own standard output and error. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { OUTPUT_OUT, OUTPUT_ERR, OUTPUT_STREAMS };

struct output {
	uint64_t seen[OUTPUT_STREAMS]; /* bytes that have come since the mark */
	uint64_t written[OUTPUT_STREAMS]; /* how far what was written goes; what comes again is dropped */
	bool plain;       /* a terminal's CR LF is LF: it does not go to a terminal */
	bool return_held; /* a CR waits for what is behind it */
	bool (*sink)(void *user, const char *bytes,
		size_t length); /* where a terminal's goes instead; NULL: ours */
	void *sink_user;
	int error; /* 0, or why nothing can be written any more: a negative errno */
};

/* From here on it can go on after a restart. */
void output_mark(struct output *s);

/* What comes begins anew, at the last mark or (there is none) from the beginning. */
void output_restart(struct output *s);

/* A piece of output, in base64. terminal: it is what a terminal got. */
void output_write(struct output *s, int stream, const json_t *base64, bool terminal);

/* The output is complete. */
void output_end(struct output *s);
