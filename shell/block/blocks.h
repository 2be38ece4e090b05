/*
 * Blocks: the commands of a session, of people as well as of programs: what was run, by whom, where, when, with
 * which result, and where its output is. They come from the marks and records of the shell (shell/output/outline.h), so
 * nobody has to ask for one, and no trap is needed. In the journal each has one beginning, told when its mark comes,
 * and then one end, told when its record has come as well: the holder may read that late, behind the mark of the next
 * prompt or even of the next command, but never before the mark of the end. They are written down in the session's directory ("blocks", a
 * line of JSON for each that is done; a help, not a promise), and what the ring still has is found there again.
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

#define BLOCKS_KEPT 1000u                    /* of a session */
#define BLOCK_COMMAND_KEPT ((size_t)4 << 10) /* bytes of its text */
#define BLOCK_AUTHOR_MAX 128u
#define BLOCK_ID_MAX 24u

struct block {
	struct block *prev, *next;
	uint64_t start, end;  /* range of its output; the start is its id: "b" and this number */
	bool done;            /* otherwise it runs, and has no end yet */
	bool exact;           /* the end is that of a mark */
	char *command;        /* its text, or the beginning of it; NULL: not known */
	char *author, *label; /* who ran it, and calls himself; shell/name.h; NULL = not known */
	char exec[RECORD_ID_MAX + 1];          /* of a command for a program, or "" */
	int status;                            /* 0 to 255; -1: not known */
	uint8_t statuses[RECORD_STATUSES_MAX]; /* PIPESTATUS */
	size_t statuses_count;
	char *cwd, *cwd_after;         /* where the shell was, and is afterwards; NULL: not known */
	uint64_t started_ms, ended_ms; /* wall clock; 0: not known */
	bool interleaved;              /* others typed while it ran */
	bool suspect;                  /* what tells of its end disagrees */
	uint64_t line_begin; /* behind the first mark of an end of its prompt, which may be drawn anew; 0: there is none */
	uint64_t input_mark,
		end_mark; /* behind the marks of its prompt's end and of its own; 0: there is none */
	uint64_t marked_us; /* wall clock of the shell at its start; 0: not told */
	bool has_record;    /* the prompt behind it has told of it */
	bool tentative; /* nobody sees it yet: an exec without its record, or perhaps the line that calls its script */
	bool line_told;            /* its text is what the shell has said */
	bool settled;              /* nothing more will be known of it */
	bool stored;               /* it has been written down */
	bool start_told, end_told; /* they are in the journal */
};

/* What is known of a command for a program that runs or is over. All is borrowed. */
struct block_exec {
	const char *id, *command, *author, *label;
	bool over;                     /* otherwise it runs, and has no end yet */
	bool end_marked;               /* the end is that of a mark */
	bool interleaved;              /* others typed while it ran */
	bool suspect;                  /* others have told of its end */
	bool escaped;                  /* its output may not all have come out at the terminal */
	uint64_t start, end_offset;    /* range of its output */
	uint64_t over_offset;          /* where it was known to be over */
	uint64_t started_ms, ended_ms; /* wall clock; 0: not known */
	int status;                    /* 0 to 255; -1: not known */
	const uint8_t *statuses;
	size_t statuses_count;
	const char *cwd; /* afterwards; NULL: not known */
};

/*
 * The commands of one pane. Their beginning and end are in its journal. Who has it fills in the first part; all zero
 * otherwise is to have none.
 */
struct blocks {
	struct pane *pane;         /* borrowed, as these: */
	const char *nonce;         /* of the marks of its shell */
	const struct typed *typed; /* who typed what */
	uint64_t *not_kept;        /* counts what could not be written down */
	/* The command for a program of that id, in whatever state; false: there is none. */
	bool (*find_exec)(void *user, const char *id, struct block_exec *ret_exec);
	void *user;         /* of find_exec */
	struct block *list; /* oldest first */
	unsigned count;
	uint64_t prompt;     /* offset of the last prompt, if has_prompt */
	uint64_t input_mark; /* behind the mark of its end; 0: there has been none */
	uint64_t line_begin; /* the first such, since the last command has begun; 0: there has been none */
	bool has_prompt;
	char *cwd;          /* where the shell was at its last prompt; NULL: not known */
	char *line;         /* that the shell says it is about to run; NULL: it does not tell */
	bool away;          /* the shell's output was not its terminal alone at its last prompt */
	uint64_t prompt_us; /* when that was, by its record; 0: not known */
	bool quiet;         /* nothing is told: the past is read */
	struct lines log;   /* what outlives the server */
	uint64_t due_ms; /* loop time until which the record of the last one is waited for; 0: it is not */
};

/*
 * What an earlier server has written down, and what the ring has of them up to an offset. Nobody hears of that until
 * blocks_retell(), in between which blocks_exec() says what else is known: then the journal begins with them, as if this
 * server had followed them.
 */
void blocks_read_past(struct blocks *b, uint64_t limit);
void blocks_retell(struct blocks *b);

/* It is over: all are forgotten. */
void blocks_close(struct blocks *b);

/*
 * Write down what there was no room for. Returns whether there was something to do; *ret_error: 0, or a negative errno,
 * and then it is to be tried again.
 */
bool blocks_log_catch_up(struct blocks *b, int *ret_error);

/*
 * What the outline has met. now_ms: the wall clock, or 0 when it is about the past. typed: an exec has been typed, and
 * has not begun: a line that begins now is that, or one that somebody entered before.
 */
void blocks_mark(struct blocks *b, const struct mark *mark, uint64_t now_ms, bool typed);
void blocks_record(struct blocks *b, const struct record *record, uint64_t time_ms, uint64_t offset);

/*
 * Whether there is a command of somebody's that is over and whose record has not come; and one has come of which the
 * kernel says that it cannot be: the shell still waits for the command.
 */
bool blocks_awaits_record(const struct blocks *b);
void blocks_doubt(struct blocks *b);

/* A command for a program has begun or is over. */
void blocks_exec(struct blocks *b, const struct block_exec *e);

/* The shell has ended; offset: of the end of its output. status: see exec_status_of(), or -1. */
void blocks_shell_ended(struct blocks *b, uint64_t offset, int status, uint64_t time_ms);

/* Whether what is told by time is still to come; now_ms: loop time. */
bool blocks_tick(struct blocks *b, uint64_t now_ms);

/*
 * The line in which it was typed, and the last in which it has printed something (or it was typed), as struct screen counts
 * them now; false: it is not known, or there is no such line any more. The screen may be without what came last.
 */
bool block_line(const struct block *b, const struct screen *screen, uint64_t *ret_line);
bool block_end_line(const struct block *b, const struct screen *screen, uint64_t *ret_line);

/*
 * Where an offset of the output lies between the mark of a prompt's end and that of a command: where the line was, or is,
 * typed.
 */
struct block_line {
	uint64_t since; /* where the command before it began: what was typed from there on may be shown in it */
	uint64_t begin; /* behind the prompt's mark */
	const char *command; /* that came of it, or the beginning of that; borrowed; NULL: none yet, or it is not known */
	const char *exec; /* id of the exec that it was typed for, or ""; borrowed */
};
bool blocks_line_at(const struct blocks *b, uint64_t offset, struct block_line *ret_line);

/* Its id. */
void block_id(const struct block *b, char id[BLOCK_ID_MAX + 1]);

/* By id; NULL if there is none. The one that runs; NULL if none does. */
struct block *blocks_find(const struct blocks *b, const char *id);
struct block *blocks_running(const struct blocks *b);

/* The newest that has been told of; NULL if none has. */
const struct block *blocks_newest(const struct blocks *b);
