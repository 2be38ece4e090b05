/*
 * Blocks: the commands of a session, typed or run by programs: text, author, directory, times, result, and the range of
 * the output. They come from the shell's marks and records (shell/output/outline.h). In the journal each block has a
 * start, added when its mark comes, and then an end, added when its record has come too. The holder may read the record
 * after the marks of the next prompt or command, but never before the end mark. Finished blocks are saved in the
 * session's directory ("blocks": a line of JSON each, without a guarantee), and an adopting server finds the rest in
 * the ring.
 */
#pragma once

#include "shell/input/typed.h"
#include "shell/output/marks.h"
#include "shell/output/record.h"
#include "shell/store/lines.h"
#include "shell/pane/pane.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_KEPT 1000u                    /* blocks kept in memory for a session */
#define BLOCK_COMMAND_KEPT ((size_t)4 << 10) /* bytes of a command that are kept */
#define BLOCK_AUTHOR_MAX 128u
#define BLOCK_ID_MAX 24u

/* One command. */
struct block {
	struct block *prev, *next;
	uint64_t start, end;          /* range of its output; the id is "b" and start */
	bool done;                    /* it has ended */
	bool exact;                   /* end is the offset of a mark */
	char *command;                /* its text, perhaps cut; NULL: unknown */
	char *author, *label;         /* user and client name, see shell/name.h; NULL: unknown */
	char exec[RECORD_ID_MAX + 1]; /* id of its exec, or "" */
	int status;                   /* 0 to 255; -1: unknown */
	uint8_t statuses[RECORD_STATUSES_MAX]; /* PIPESTATUS */
	size_t statuses_count;
	char *cwd, *cwd_after;         /* the shell's directory before and after; NULL: unknown */
	uint64_t started_ms, ended_ms; /* wall clock; 0: unknown */
	bool interleaved;              /* there was other input while it ran */
	bool suspect;                  /* the reports of its end disagree */
	/* Offset after the first input mark of its prompt, which may be redrawn; 0: none. */
	uint64_t line_begin;
	uint64_t input_mark; /* offset after the last input mark of its prompt; 0: none */
	uint64_t end_mark;   /* offset after its end mark; 0: none */
	uint64_t marked_us;  /* the shell's wall clock at the start; 0: unknown */
	bool has_record;     /* its prompt record has come */
	/* Not visible yet: an exec without its record, or maybe the line that calls its script. */
	bool tentative;
	bool has_reported_line; /* the command is from the shell's record of the line */
	bool settled;           /* all that can be known of it is known */
	bool stored;            /* it has been saved */
	bool start_journaled, end_journaled; /* its start and its end are in the journal */
};

/* The state of an exec. All is borrowed. */
struct block_exec {
	const char *id, *command, *author, *label;
	bool over;        /* it has ended */
	bool end_marked;  /* the end is the offset of a mark */
	bool interleaved; /* there was other input while it ran */
	bool suspect;     /* another process reported its end */
	bool escaped;     /* some of its output may have gone elsewhere than to the terminal */
	uint64_t start, end_offset;    /* range of its output */
	uint64_t over_offset;          /* offset at which its end was known */
	uint64_t started_ms, ended_ms; /* wall clock; 0: unknown */
	int status;                    /* 0 to 255; -1: unknown */
	const uint8_t *statuses;
	size_t statuses_count;
	const char *cwd; /* directory afterwards; NULL: unknown */
};

/* The blocks of one pane. The owner sets the fields up to `user`; the rest starts as zeros. */
struct blocks {
	struct pane *pane;         /* borrowed, like the next three */
	const char *nonce;         /* of the marks of its shell */
	const struct typed *typed; /* the input log */
	uint64_t *not_kept;        /* counter of blocks that could not be saved */
	/* Look up an exec by its id, in any state. Returns false if there is none. */
	bool (*find_exec)(void *user, const char *id, struct block_exec *ret_exec);
	void *user;         /* of find_exec */
	struct block *list; /* oldest first */
	unsigned count;
	uint64_t prompt;     /* offset of the last prompt, if has_prompt */
	uint64_t input_mark; /* offset after its last input mark; 0: none */
	uint64_t line_begin; /* offset after its first input mark since the last block; 0: none */
	bool has_prompt;
	char *cwd;       /* the shell's directory at the last prompt; NULL: unknown */
	char *line;      /* the line that the shell reported as about to run; NULL: none */
	bool redirected; /* at the last prompt, the shell's output did not go to the terminal alone */
	uint64_t prompt_us; /* time of the last prompt, by its record; 0: unknown */
	bool reads_past;    /* blocks of earlier servers are read: add nothing to the journal */
	struct lines log;   /* the file */
	/* Loop time until which the last block's record is awaited; 0: it is not. */
	uint64_t record_due_ms;
};

/*
 * Read the blocks that an earlier server saved, and those in the ring up to an offset, without adding to the journal.
 * After this, blocks_update_exec() may add what else is known; then call blocks_replay_to_journal().
 */
void blocks_read_past(struct blocks *b, uint64_t limit);

/* Add the blocks that were read to the journal, as if this server had followed them. */
void blocks_replay_to_journal(struct blocks *b);

/* Settle and free all blocks. */
void blocks_close(struct blocks *b);

/* Retry to save blocks. Returns whether there were any; *ret_error: 0, or a negative errno, and it is to be retried. */
bool blocks_log_catch_up(struct blocks *b, int *ret_error);

/*
 * The outline has found a mark. now_ms: the wall clock; 0: the mark is of the past. exec_is_starting: an exec has been
 * typed and has not started, so a line that starts now may be the one that calls its script.
 */
void blocks_handle_mark(
	struct blocks *b, const struct mark *mark, uint64_t now_ms, bool exec_is_starting);

/* The outline has found a record at an offset of the output. */
void blocks_handle_record(
	struct blocks *b, const struct record *record, uint64_t time_ms, uint64_t offset);

/* Whether the last block is done, is no exec, and its record has not come. */
bool blocks_is_awaiting_record(const struct blocks *b);

/* The kernel contradicts the last block's record: the shell still waits for the command. Mark the block as suspect. */
void blocks_mark_suspect(struct blocks *b);

/* An exec has started or ended. */
void blocks_update_exec(struct blocks *b, const struct block_exec *e);

/* The shell has ended. offset: the end of its output. status: see exec_status_of(), or -1. */
void blocks_shell_ended(struct blocks *b, uint64_t offset, int status, uint64_t time_ms);

/* Act on what is due by now_ms (loop time). Returns whether something is due later. */
bool blocks_tick(struct blocks *b, uint64_t now_ms);

/*
 * The screen line in which the block was typed, as struct screen numbers lines now. Returns false if it is unknown, or
 * the line is gone. The screen may lag behind the output.
 */
bool block_line(const struct block *b, const struct screen *screen, uint64_t *ret_line);

/* The last line in which it printed something, or was typed. Returns as block_line(). */
bool block_end_line(const struct block *b, const struct screen *screen, uint64_t *ret_line);

/* The prompt that an offset of the output belongs to. */
struct block_line {
	/* Start of the previous block: what is typed from there on may be shown in this line. */
	uint64_t since;
	uint64_t begin; /* offset after the input mark of the prompt */
	/* The command that was run, perhaps cut; borrowed; NULL: none yet, or unknown. */
	const char *command;
	const char *exec; /* the exec that it was typed for, or ""; borrowed */
};

/* Describe the prompt at an offset. Returns whether the offset is between its input mark and a command's start. */
bool blocks_line_at(const struct blocks *b, uint64_t offset, struct block_line *ret_line);

/* Write the block's id. */
void block_id(const struct block *b, char id[BLOCK_ID_MAX + 1]);

/* A block by its id; NULL if there is none. */
struct block *blocks_find(const struct blocks *b, const char *id);

/* The block that is running, or NULL. */
struct block *blocks_running(const struct blocks *b);

/* The newest block whose start is in the journal, or NULL. */
const struct block *blocks_newest(const struct blocks *b);
