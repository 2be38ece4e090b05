/* What the files of jobs share. */
#pragma once

#include "ws/rpc/aside.h"
#include "ws/rpc/job.h"
#include "ws/rpc/methods.h"

struct job {
	struct job *prev, *next;
	struct jobs *all;
	struct rpc_call *call; /* NULL once it is answered */
	const struct method_row *row;
	struct request *request; /* our reference */
	struct rpc_flow *flow;   /* NULL: it does not stream */
	bool counted;            /* among the streams */
	bool due;                /* it has events to be told to functions */
	bool telling;            /* one of them has been called, and has not returned */
	bool quiet;              /* its reader is to be told that it goes on */
	unsigned silent;         /* sweeps since it last sent something, or was given something */
	struct rpc_reader *reader; /* of the stream that is the body; NULL: there is none, or it has ended */
	const uint8_t *piece; /* of that, until it has been handed on; the reader's */
	size_t piece_length;
	bool asked;                  /* for the next one */
	bool body_over, body_broken; /* that stream has come to its end, or broken off */
	bool feeding;
	struct aside *aside; /* reads the answer; NULL: nothing does */
};

/* Its request is abandoned, and j freed. */
void job_end(struct job *j);

/* Answer the call; j is over. value, error: one of them, taken. */
void job_answer(struct job *j, json_t *value, json_t *error);
/* The same, with what a body, which may be NULL, and an HTTP status say. */
void job_fail(struct job *j, const json_t *body, int status);

/* The arguments as JSON: null is what is none, and bytes are {base64}. A new reference. */
json_t *job_arguments(const struct rpc_call *c);

/* job_stream.c: answer with the events, or the download, that the request has been answered with. */
void job_stream_events(struct job *j);
void job_stream_download(struct job *j);

/* job_body.c: take the stream that the body of the request is. Returns whether there is one. */
bool job_body_take(struct job *j);
/* The handler wants more of it. j may be over afterwards. */
void job_body_feed(struct job *j);
/* No more comes; j is over. */
void job_body_break(struct job *j, const char *why);
