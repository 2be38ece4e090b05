/*
 * The destination of log lines. Writing never blocks: bytes that the descriptor does not accept are kept, up to
 * LOG_SINK_KEPT bytes; beyond that, whole lines are dropped and counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_SINK_KEPT ((size_t)64 << 10)

/* How to write without blocking. */
enum log_sink_kind {
	LOG_SINK_PLAIN,  /* write(2): a regular file, or log_sink_open() was not called */
	LOG_SINK_OWN,    /* write(2) to an own open file description with O_NONBLOCK */
	LOG_SINK_SOCKET, /* send(2) with MSG_DONTWAIT */
	LOG_SINK_POLLED, /* write(2) when poll(2) permits it: shared, and cannot be reopened */
};

/* A descriptor with the lines that wait for it. */
struct log_sink {
	int fd;
	enum log_sink_kind kind;
	char *kept;          /* LOG_SINK_KEPT bytes, circular; allocated when first needed */
	size_t start, count; /* of the kept bytes */
	uint64_t dropped;    /* lines, ever */
};

/*
 * Write to what fd refers to. fd stays the caller's, and stays blocking for other processes: O_NONBLOCK belongs to the
 * shared open file description, so pipes and terminals are reopened through /proc.
 */
void log_sink_open(struct log_sink *s, int fd);

/* Write a line, with its LF. Returns false if it was dropped: there is no space for it, or the reader is gone. */
bool log_sink_write(struct log_sink *s, const char *line, size_t length);

/* Write kept bytes as far as the descriptor accepts them. Called periodically. */
void log_sink_flush(struct log_sink *s);
