/* Shared by source.c and source_queue.c. */
#pragma once

#include "shell/watch/source.h"

/* The source has failed: it ends. error: a negative errno. */
void source_fail(struct source *s, int error);

/* Add an event for a path. */
void source_add_event(
	struct source *s, enum watch_type type, bool is_directory, const char *path, size_t length);

/* Report that events were lost. */
void source_report_loss(struct source *s);

/* Report an event of name in d, unless the filter excludes it. */
void source_report_event(struct source *s, enum watch_type type, const struct directory *d,
	const char *name, bool is_directory);

/* Whether events below parent/name may be reported. */
bool source_is_reported(struct source *s, const struct directory *parent, const char *name);

/* A directory exists: add it and queue it for reading. fresh: report its content as created. */
void source_add_directory(struct source *s, struct directory *parent, const char *name, bool fresh);

/* Remove a directory and all below it from the tree. */
void source_remove_directory(struct source *s, struct directory *d);

/* The i-th rename is completed, or of no interest any more. */
void source_forget_move(struct source *s, unsigned i);

/* Read and handle events of the kernel's queue. Returns whether there may be more. */
bool source_read_queue(struct source *s);

/* Remove the directories whose rename was not completed in time: they have left the tree. */
void source_end_moves(struct source *s);
