/* Writes the output of a command to our standard output and error. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Streams. */
enum { OUTPUT_OUT, OUTPUT_ERR, OUTPUT_STREAMS };

/* Zeroed at first, except for plain and sink. */
struct output {
	uint64_t seen[OUTPUT_STREAMS];    /* bytes received since the mark */
	uint64_t written[OUTPUT_STREAMS]; /* since the mark; repeated bytes are dropped */
	bool plain;                       /* write CR LF of a terminal as LF */
	bool return_held;                 /* a CR waits for the next byte */
	/* Gets all bytes instead of our descriptors; false is an error. May be NULL. */
	bool (*sink)(void *user, const char *bytes, size_t length);
	void *sink_user;
	int error; /* 0, or the first write error (negative errno), after which nothing is written */
};

/* The next stream may continue here: reset the counts. */
void output_mark(struct output *s);

/* A new stream begins at the last mark, or at the beginning if there is none. */
void output_restart(struct output *s);

/* Write a piece of output, in base64. terminal: it comes from a terminal. */
void output_write(struct output *s, int stream, const json_t *base64, bool terminal);

/* The output is complete: write a held CR. */
void output_end(struct output *s);
