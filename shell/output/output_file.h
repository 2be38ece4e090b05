/*
 * The output of an exited process, in a file of its directory: the bytes that were in its ring,
 * their sources, and how it exited. The file is written in steps under another name and renamed
 * when it is complete. It is read through a window, so its size does not matter to the server.
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

/* What the file has besides bytes and labels. Offsets are those of the ring. */
struct output_file_facts {
	uint64_t oldest, head; /* range of the bytes */
	uint64_t end_offset;   /* end of what the command itself wrote */
	uint64_t ended_ms;     /* wall clock */
	int wait_status;       /* wait(2) status */
	int error;             /* why the status is not known; 0: it is known */
	bool timed_out, kill_asked;
};

/* A file that is being written or read. */
struct output_file {
	int fd;
	struct output_file_facts facts;
	uint64_t bytes_at; /* position of the oldest byte in the file */
	uint64_t written;  /* offset of the ring up to which it is written */
	struct labels labels;
	uint64_t window_start; /* offset of the window's first byte */
	size_t window_length;
	uint8_t window[OUTPUT_FILE_WINDOW];
};

/*
 * Create a file in dir_fd. labels: borrowed; must have the source of every byte. Returns 0 or a
 * negative errno: -ENOSPC also if too little space would be left for other files. No file is left
 * then.
 */
int output_file_begin(struct output_file **ret_file, int dir_fd,
	const struct output_file_facts *facts, const struct labels *labels);

/* Write the next step. Returns 1 if there is more, 0 if all is written, or a negative errno. */
int output_file_write(struct output_file *f, const struct stream *bytes);

/* Rename the complete file and prepare it for reading. Returns 0 or a negative errno. */
int output_file_commit(struct output_file *f, int dir_fd);

/* Remove and close a file that is not committed. f may be NULL. */
void output_file_abandon(struct output_file *f, int dir_fd);

/* Open the file. Returns 0, -ENOENT, -EBADMSG if it is damaged, or another negative errno. */
int output_file_open(struct output_file **ret_file, int dir_fd);

/* Close the file. f may be NULL. */
void output_file_close(struct output_file *f);

/*
 * Read `length` bytes (at most OUTPUT_FILE_WINDOW) at an offset; the range must be in the file.
 * Borrowed until the next call. NULL on a read error.
 */
const uint8_t *output_file_at(struct output_file *f, uint64_t offset, size_t length);
