/*
 * Of two batches, one is filled while the other is written. If both are full, output waits in the ring, which
 * is held from the first unwritten byte. A disk that does not answer blocks the session's program once, up to
 * the limit of a hold: the next hold is taken only after the disk has answered.
 *
 * States: tape opened -> recording -> over (the exit is recorded, or the session is gone) -> sealed.
 */
#include "shell/recording/recorder.h"

#include "pty/link.h"
#include "shell/block/blocks.h"
#include "shell/exec/exec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t wall_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static struct link *link_of(const struct recorder *r)
{
	return &r->session->pane.held.link;
}

/* Collecting */

static bool has_room(const struct recorder *r, size_t payload)
{
	return r->fill.bytes && r->fill.length + SEGMENT_RECORD_HEAD + payload <= RECORDER_BATCH;
}

/* Add a record, for which there is space. Times never decrease, even if the clock is set back. */
static void put(struct recorder *r, enum segment_type type, uint64_t offset, const void *payload,
	size_t length)
{
	uint64_t now = wall_us();
	r->time_us = now > r->time_us ? now : r->time_us;
	const struct segment_record record = {.type = type,
		.offset = offset,
		.time_us = r->time_us,
		.payload = payload,
		.length = length};
	r->fill.length += segment_put_record(
		&record, r->fill.bytes + r->fill.length, RECORDER_BATCH - r->fill.length);
}

static void put_size(struct recorder *r, const struct history_size *size)
{
	uint8_t payload[4];
	segment_put_number(segment_put_number(payload, size->rows, 2), size->cols, 2);
	put(r, SEGMENT_SIZE, r->cursor.offset, payload, sizeof payload);
}

static void put_gap(struct recorder *r, const struct history_read *gap)
{
	uint8_t payload[8];
	segment_put_number(payload, gap->skipped, 8);
	if (!r->lost)
		r->shared->failed(r->shared->user, r->tape.id,
			"output was lost before it could be recorded", -ENOBUFS);
	r->lost = true;
	put(r, SEGMENT_GAP, r->cursor.offset, payload, sizeof payload);
	put_size(r, &gap->size);
}

static void put_exit(struct recorder *r)
{
	uint8_t payload[8];
	struct ring_exit exit = {.status = 0};
	bool known = ring_exited(session_ring(r->session), &exit);
	segment_put_number(segment_put_number(payload, (uint32_t)exit.status, 4), known, 4);
	put(r, SEGMENT_EXIT, r->cursor.offset, payload, sizeof payload);
	r->over = true;
}

static struct block *find_block(const struct recorder *r, uint64_t start)
{
	char id[BLOCK_ID_MAX + 1];
	snprintf(id, sizeof id, "b%" PRIu64, start);
	return blocks_find(session_blocks(r->session), id);
}

static void put_entry(struct recorder *r, const struct journal_entry *e)
{
	uint8_t payload[12];
	const struct block *b = find_block(r, e->block);
	if (e->type == JOURNAL_BLOCK_STARTED && e->block >= r->begun) {
		const char *command = b && b->command ? b->command : "";
		r->begun = e->block + 1;
		put(r, SEGMENT_BLOCK_BEGIN, e->block, command, strnlen(command, BLOCK_COMMAND_KEPT));
	} else if (e->type == JOURNAL_BLOCK_ENDED && e->block >= r->ended) {
		r->ended = e->block + 1;
		segment_put_number(segment_put_number(payload, e->block, 8),
			(uint32_t)(b ? b->status : -1), 4);
		put(r, SEGMENT_BLOCK_END, e->offset, payload, sizeof payload);
	}
}

/*
 * Add the journal's entries up to the cursor; all: also those after it. Returns false if the batch is full,
 * else *ret_next is the offset of the next entry.
 */
static bool put_entries(struct recorder *r, bool all, uint64_t *ret_next)
{
	const struct journal *j = session_journal(r->session);
	const struct journal_entry *e;
	if (r->entry < journal_oldest(j))
		r->entry = journal_oldest(j);
	for (; (e = journal_get(j, r->entry)); r->entry++) {
		if (e->type != JOURNAL_BLOCK_STARTED && e->type != JOURNAL_BLOCK_ENDED)
			continue;
		if (!all && e->offset > r->cursor.offset)
			break;
		if (!has_room(r, BLOCK_COMMAND_KEPT))
			return false;
		put_entry(r, e);
	}
	*ret_next = e ? e->offset : UINT64_MAX;
	return true;
}

/* Add output up to the cursor. If a journal entry lies within, move the cursor back to it. */
static void put_output(struct recorder *r, size_t length, uint64_t next)
{
	uint64_t from = r->cursor.offset - length;
	if (next < r->cursor.offset && next > from) {
		r->cursor.offset = next;
		length = (size_t)(next - from);
	}
	put(r, SEGMENT_OUTPUT, from, r->shared->piece, length);
}

/* Fill the batch with new records, until it is full. */
static void collect(struct recorder *r)
{
	uint64_t next = UINT64_MAX;
	if (!r->fill.bytes && !(r->fill.bytes = malloc(RECORDER_BATCH)))
		return; /* recorder_tick() tries again */
	while (!r->over && put_entries(r, false, &next) && has_room(r, RECORDER_PIECE + 64)) {
		struct history_read read = history_read(
			session_history(r->session), &r->cursor, r->shared->piece, RECORDER_PIECE);
		switch (read.item) {
		case HISTORY_NOTHING:
			return;
		case HISTORY_BYTES:
			put_output(r, read.length, next);
			break;
		case HISTORY_SIZE:
			put_size(r, &read.size);
			break;
		case HISTORY_GAP:
			put_gap(r, &read);
			break;
		case HISTORY_END:
			if (!put_entries(r, true, &next) || !has_room(r, 8)) {
				r->cursor.end_reported = false; /* try again later */
				return;
			}
			put_exit(r);
			break;
		}
	}
}

/* Writing */

static void work(struct work_item *work_item)
{
	struct recorder *r = (struct recorder *)((uintptr_t)work_item -
		offsetof(struct recorder, work_item));
	struct segment_codec *codec = r->shared->codec;
	r->sealed = false;
	if (r->job == RECORDER_OPEN)
		r->result = tape_open(&r->tape);
	else if (r->job == RECORDER_WRITE)
		r->result = tape_write(&r->tape, codec, r->out.bytes, r->out.length);
	if (r->job == RECORDER_SEAL ||
		(r->job == RECORDER_WRITE && r->result == 0 && !r->failing &&
			tape_is_full(&r->tape, r->tape.time_us))) {
		int rc = tape_seal(&r->tape, codec);
		r->sealed = rc == 0;
		r->result = r->job == RECORDER_SEAL ? rc : r->result;
	}
}

static void dispatch(struct recorder *r, enum recorder_job job)
{
	r->job = job;
	r->stirred_ms = uv_now(r->shared->loop);
	workers_queue(r->shared->workers, &r->work_item);
}

static bool is_home(const struct recorder *r)
{
	return r->work_item.state == WORK_IDLE;
}

/* Update the hold on unwritten output. alive: the disk answers, so a new hold may be taken. */
static void update_hold(struct recorder *r, bool alive)
{
	bool pending = r->written < r->cursor.offset ||
		r->cursor.offset < history_limit(session_history(r->session));
	if (r->over && r->out.length == 0 && r->fill.length == 0)
		pending = false;
	if (!pending)
		link_release_hold(link_of(r), &r->hold);
	else if (r->hold.held)
		link_move_hold(link_of(r), &r->hold, r->written, UINT64_MAX);
	else if (alive)
		link_hold(link_of(r), &r->hold, r->written, UINT64_MAX);
}

/* Do what is due: collect, write, seal. */
static void proceed(struct recorder *r)
{
	bool home = is_home(r), alive = home && !r->failing;
	if (!r->opened)
		return;
	if (!r->gone) {
		if (!r->over)
			collect(r);
		update_hold(r, alive);
	}
	if (!alive)
		return;
	if (r->fill.length > 0) {
		struct recorder_batch empty = r->out;
		r->fill.end = r->cursor.offset;
		r->out = r->fill;
		r->fill = empty;
		dispatch(r, RECORDER_WRITE);
	} else if ((r->over || r->gone) && r->tape.number > 0) {
		dispatch(r, RECORDER_SEAL);
	}
}

static bool is_fresh(const struct tape *tape)
{
	return tape->rows == 0 && !tape->exited;
}

/* Continue at the end of a tape, or begin with the oldest output if it is fresh. */
static void begin(struct recorder *r, const struct tape *tape)
{
	const struct history *h = session_history(r->session);
	r->time_us = tape->time_us;
	r->begun = tape->begun;
	r->ended = tape->ended;
	if (tape->exited) {
		r->over = true;
		r->written = r->cursor.offset = tape->end;
		return;
	}
	if (is_fresh(tape)) {
		history_seek(h, &r->cursor, false, 0);
		r->begun = r->ended = r->cursor.offset;
	} else {
		history_place(h, &r->cursor, tape->end);
	}
	r->written = r->cursor.offset;
	r->fill.bytes = r->fill.bytes ? r->fill.bytes : malloc(RECORDER_BATCH);
	struct history_size size = history_size_at(h, &r->cursor);
	if (r->fill.bytes && (size.rows != tape->rows || size.cols != tape->cols))
		put_size(r, &size);
}

/*
 * The tape is open, but the session is gone: on_gone() has collected all of it. An earlier server's
 * tape has some of that already, so it stays as it is.
 */
static void begin_late(struct recorder *r)
{
	if (!is_fresh(&r->tape))
		r->fill.length = 0;
}

static void fail(struct recorder *r)
{
	static const char *const what[] = {[RECORDER_OPEN] = "cannot open its recording",
		[RECORDER_WRITE] = "cannot write its recording",
		[RECORDER_SEAL] = "cannot seal a segment of its recording"};
	if (!r->failing)
		r->shared->failed(r->shared->user, r->tape.id, what[r->job], r->result);
	r->failing = true;
}

static void on_job_done(struct work_item *work_item)
{
	struct recorder *r = (struct recorder *)((uintptr_t)work_item -
		offsetof(struct recorder, work_item));
	r->shared->sealed |= r->sealed;
	if (r->result < 0) {
		fail(r);
		if (!r->opened && !r->gone)
			link_release_hold(link_of(r), &r->hold);
		return; /* recorder_tick() tries again */
	}
	r->failing = false;
	if (r->job == RECORDER_WRITE) {
		r->written = r->out.end;
		r->out.length = 0;
	} else if (r->job == RECORDER_OPEN) {
		r->opened = true;
		if (r->gone)
			begin_late(r);
		else
			begin(r, &r->tape);
	}
	proceed(r);
}

/* Creating and destroying */

static void on_more(void *user)
{
	proceed(user);
}

static void on_gone(void *user)
{
	struct recorder *r = user;
	/* The thread may be using r->tape. */
	if (!r->opened)
		begin(r, &(struct tape){.rows = 0});
	if (!r->over) {
		collect(r);
		if (!r->over && !r->session->pane.held.taken && has_room(r, 8))
			put_exit(r);
	}
	link_release_hold(link_of(r), &r->hold);
	r->gone = true;
	r->gone_ms = uv_now(r->shared->loop);
	r->session = NULL;
	proceed(r);
}

struct recorder *recorder_create(struct recorder_shared *shared, struct session *s)
{
	struct recorder *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->shared = shared;
	r->session = s;
	r->work_item = (struct work_item){.work = work, .back = on_job_done};
	r->watcher = (struct journal_watcher){
		.more = on_more, .gone = on_gone, .user = r, .aside = true};
	r->tape.root_fd = shared->root_fd;
	r->tape.epoch = r->epoch = session_epoch(s);
	snprintf(r->tape.id, sizeof r->tape.id, "%s", session_id(s));
	journal_watch(session_journal(s), &r->watcher);
	link_hold(link_of(r), &r->hold, session_oldest(s), UINT64_MAX);
	dispatch(r, RECORDER_OPEN);
	return r;
}

static void free_batches(struct recorder *r)
{
	free(r->fill.bytes);
	free(r->out.bytes);
	r->fill = r->out = (struct recorder_batch){0};
}

/* Whether to stop retrying to write the end of a gone session, and drop it. */
static bool should_give_up(const struct recorder *r)
{
	if (!r->gone || uv_now(r->shared->loop) - r->gone_ms < RECORDER_LAST_MS)
		return false;
	r->shared->failed(
		r->shared->user, r->tape.id, "gave up writing the end of its recording", r->result);
	return true;
}

bool recorder_tick(struct recorder *r)
{
	if (!is_home(r))
		return true;
	if (r->failing) {
		if (should_give_up(r))
			return false;
		dispatch(r, r->job);
		return true;
	}
	if (r->opened && tape_is_full(&r->tape, wall_us())) {
		dispatch(r, RECORDER_SEAL);
		return true;
	}
	bool empty = r->fill.length == 0 && r->out.length == 0;
	if (r->gone && empty)
		return false;
	if (empty && uv_now(r->shared->loop) - r->stirred_ms > RECORDER_IDLE_MS)
		free_batches(r);
	else if (!empty)
		proceed(r);
	return true;
}

/* Write what remains of a gone session, which is nowhere else. */
static void write_rest(struct recorder *r)
{
	struct segment_codec *codec = r->shared->codec;
	if (!r->opened && tape_open(&r->tape) < 0)
		return;
	if (!r->opened)
		begin_late(r);
	if (r->out.length > 0)
		(void)tape_write(&r->tape, codec, r->out.bytes, r->out.length);
	if (r->fill.length > 0)
		(void)tape_write(&r->tape, codec, r->fill.bytes, r->fill.length);
	(void)tape_seal(&r->tape, codec);
}

void recorder_destroy(struct recorder *r)
{
	bool wrote = !is_home(r) && r->job == RECORDER_WRITE && r->work_item.state != WORK_QUEUED;
	workers_cancel(r->shared->workers, &r->work_item);
	if (wrote && r->result == 0)
		r->out.length = 0;
	if (!r->gone) {
		/* Without link_release_hold(), which would tell the holder: unwritten output must stay in the ring. */
		holds_remove(&link_of(r)->holds, &r->hold);
		journal_unwatch(session_journal(r->session), &r->watcher);
	} else if (!r->failing) {
		write_rest(r);
	}
	free_batches(r);
	free(r);
}
