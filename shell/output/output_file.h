/*
 * The output of a process that has ended, in a file of its directory: the bytes that its ring had, who wrote
 * which, and how it ended. It is written in steps under another name and renamed when it is whole; it is
 * read through a window, so that neither its size nor a damaged disk matters to the server.
 */
#pragma once

#include "ring/stream.h"
#include "ring/labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_FILE "output"
#define OUTPUT_FILE_NEW OUTPUT_FILE ".new" /* while it is written */
#define OUTPUT_FILE_STEP ((size_t)256 << 10)
#define OUTPUT_FILE_WINDOW ((size_t)32 << 10)

/* What the file tells besides bytes and labels. Offsets are those of the ring. */
struct output_file_facts {
	uint64_t oldest, head; /* the bytes that there are */
	uint64_t end_offset;   /* what the command itself wrote ends here */
	uint64_t ended_ms;     /* wall clock */
	int wait_status;       /* wait(2) status */
	int error;             /* why it is not known; 0 = it is */
	bool timed_out, kill_asked;
};

struct output_file {
	int fd;
	struct output_file_facts facts;
	uint64_t bytes_at; /* where in the file the oldest byte is */
	uint64_t written;  /* offset of the ring up to which it is written */
	struct labels labels;
	uint64_t window_start; /* offset of the window's first byte */
	size_t window_length;
	uint8_t window[OUTPUT_FILE_WINDOW];
};

/*
 * Begin a file in dir_fd. labels: borrowed; they know the writer of every byte. Returns 0 or a negative errno:
 * -ENOSPC also when too little would be left for others, then nothing is left behind.
 */
int output_file_begin(struct output_file **ret_file, int dir_fd,
	const struct output_file_facts *facts, const struct labels *labels);

/* Write some more. Returns 1 when there is more to be written, 0 when all is there, or a negative errno. */
int output_file_write(struct output_file *f, const struct stream *bytes);

/* Give it its name; from here on it can be read. Returns 0, or a negative errno and it has none. */
int output_file_commit(struct output_file *f, int dir_fd);

/* Give up one that has no name yet. f may be NULL. */
void output_file_abandon(struct output_file *f, int dir_fd);

/* Open the file in dir_fd. Returns 0, -ENOENT, -EBADMSG when it is damaged, or another negative errno. */
int output_file_open(struct output_file **ret_file, int dir_fd);

/* f may be NULL. */
void output_file_close(struct output_file *f);

/*
 * The length (at most OUTPUT_FILE_WINDOW) bytes at offset, which the file has, until the next call. NULL when
 * they cannot be read.
 */
const uint8_t *output_file_at(struct output_file *f, uint64_t offset, size_t length);
