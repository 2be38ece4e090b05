/*
 * Where log lines go, without ever waiting for whoever reads them: what a descriptor does not take at once is kept,
 * up to LOG_SINK_KEPT bytes, and beyond that whole lines are dropped and counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_SINK_KEPT ((size_t)64 << 10)

enum log_sink_kind {
	LOG_SINK_PLAIN, /* write(2): what it leads to does not block, or nobody has asked for more */
	LOG_SINK_OWN,   /* a description of our own, that does not block */
	LOG_SINK_SOCKET, /* send(2) that does not block */
	LOG_SINK_POLLED, /* shared with others and not to be opened again: written when poll(2) says so */
};

struct log_sink {
	int fd;
	enum log_sink_kind kind;
	char *kept; /* LOG_SINK_KEPT bytes, circular; allocated with the first that waits */
	size_t start, count; /* of what is kept */
	uint64_t dropped;    /* lines, ever */
};

/*
 * Write to what fd leads to. fd stays the caller's, and blocking for everybody else who has it: O_NONBLOCK belongs to
 * the description that they share, so pipes and terminals are opened once more through /proc.
 */
void log_sink_open(struct log_sink *s, int fd);

/* Write what can be written, and let go. */
void log_sink_close(struct log_sink *s);

/* A line, with its LF. Returns false when it was dropped: there was no room for all of it, or nobody can read it. */
bool log_sink_write(struct log_sink *s, const char *line, size_t length);

/* Write what waits, as far as it is taken; called now and then while something does. */
void log_sink_flush(struct log_sink *s);
