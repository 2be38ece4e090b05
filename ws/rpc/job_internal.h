/* What the files of jobs share. */
#pragma once

#include "ws/rpc/json_work.h"
#include "ws/rpc/job.h"
#include "ws/rpc/methods.h"

/* A call in progress, until it is answered, or until the stream that answers it is over. */
struct job {
	struct job *prev, *next;
	struct jobs *all;
	struct rpc_call *call; /* NULL once it is answered */
	const struct method_row *row;
	struct request *request; /* our reference */
	struct rpc_flow *flow;   /* the answer; NULL: not a stream */
	bool counted;            /* in the metric of streams */
	bool due;                /* there are events for callback functions */
	bool calling;            /* a callback function has not returned */
	bool keepalive_due;
	unsigned silent;           /* sweeps since bytes were last sent or received */
	struct rpc_reader *reader; /* of the upload; NULL: none, or it has ended */
	const uint8_t *piece;      /* rest of the upload's current chunk; the reader's */
	size_t piece_length;
	bool requested;              /* the next chunk of the upload */
	bool body_over, body_broken; /* the upload has ended, or has broken off */
	bool feeding;
	struct json_work *json_work; /* parses the reply; NULL: none */
};

/* Abandon the request and free j. */
void job_end(struct job *j);

/* The arguments as JSON: bytes become {base64}, other special values null. A new reference. */
json_t *job_arguments(const struct rpc_call *c);

/* job_stream.c: answer with the stream of events that the request was answered with. */
void job_stream_events(struct job *j);

/* job_stream.c: answer with the download that the request was answered with. */
void job_stream_download(struct job *j);
