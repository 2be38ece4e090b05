/* An event log with a malicious writer. */
#pragma once

#include "ring/event.h"
#include "tests/fuzz/fuzz.h"

static inline uint64_t event_log_number(struct fuzz_input *in)
{
	uint64_t n = 0;
	for (int i = 0; i < 8; i++)
		n = n << 8 | fuzz_byte(in);
	return n;
}

/* Fill the log with the rest of the input, repeated; both halves are the same memory. */
static inline void event_log_fill(struct stream *log, const struct fuzz_input *in)
{
	size_t done = in->left < log->size ? in->left : log->size;
	memset(log->data, 0, log->size);
	if (done > 0)
		memcpy(log->data, in->at, done);
	for (; done > 0 && done < log->size; done *= 2)
		memcpy(log->data + done, log->data,
			done < log->size - done ? done : log->size - done);
	memcpy(log->data + log->size, log->data, log->size);
}
