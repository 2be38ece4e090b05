/* Following the holder of a process: link, events, output. And the memory of a process. */
#include "shell/process/process.h"

#include "shell/clock.h"
#include "shell/output/output_file.h"
#include "shell/process/internal.h"
#include "shell/proc/tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

/* Bytes consumed in a turn while there are viewers: no more than a connection sends in a turn. */
#define FOLLOWED_TURN ((size_t)16 << 10)
/* After so many bytes the next turn comes later, and the holder need not wake the server. */
#define FLOOD_BYTES ((size_t)8 << 10)

/* Whether it counts for the limit of running processes. */
static bool is_counted(enum process_state state)
{
	return state == PROCESS_STARTING || state == PROCESS_RUNNING;
}

void process_move(struct process *p, enum process_state state)
{
	static const bool allowed[PROCESS_STATES][PROCESS_STATES] = {
		[PROCESS_STARTING] = {[PROCESS_RUNNING] = true, [PROCESS_REMOVING] = true},
		[PROCESS_RUNNING] = {[PROCESS_ENDED] = true, [PROCESS_REMOVING] = true},
		[PROCESS_ENDED] = {[PROCESS_REMOVING] = true},
	};
	assert(allowed[p->state][state]);
	p->table->running -= is_counted(p->state) && !is_counted(state);
	p->state = state;
}

const char *process_status(const struct process *p)
{
	int code;
	if (p->state == PROCESS_STARTING)
		return "starting";
	if (p->state == PROCESS_RUNNING)
		return "running";
	if (!process_exit_code(p, &code))
		return p->state == PROCESS_REMOVING && p->ended_ms == 0 ? "killed" : "error";
	if (p->timed_out || p->kill_asked || code == 128 + SIGKILL || code == 128 + SIGTERM)
		return "killed";
	return code == 0 ? "completed" : "failed";
}

bool process_exit_code(const struct process *p, int *ret_code)
{
	if (p->ended_ms == 0 || p->error < 0)
		return false;
	*ret_code = p->timed_out              ? PROCESS_TIMEOUT_CODE
		: WIFSIGNALED(p->wait_status) ? 128 + WTERMSIG(p->wait_status)
					      : WEXITSTATUS(p->wait_status);
	return true;
}

uint64_t process_command_end(const struct process *p)
{
	return p->ended_ms > 0 && p->end_offset < p->head ? p->end_offset : p->head;
}

void process_attach(struct process *p, struct process_viewer *v)
{
	DL_APPEND(p->viewers, v);
}

void process_detach(struct process *p, struct process_viewer *v)
{
	struct process_viewer *found;
	DL_FOREACH (p->viewers, found) {
		if (found == v) {
			DL_DELETE(p->viewers, v);
			break;
		}
	}
	process_close_output(p);
}

void process_notify(struct process *p)
{
	struct process_viewer *v, *next;
	DL_FOREACH_SAFE (p->viewers, v, next)
		v->more(v->user);
}

void process_save(struct process *p)
{
	int rc = process_meta_save(p->held.link.dir_fd, p);
	if (rc < 0)
		p->table->callbacks->failed(
			p->table->user, p->held.id, "cannot write its process.json", rc);
}

static void on_waited(struct held_waiter *held, struct held *h, enum report_stage stage, int error)
{
	struct process_waiter *w = (struct process_waiter *)((uintptr_t)held -
		offsetof(struct process_waiter, held));
	w->done(w->user, process_of_held(h), stage, error);
}

struct held_waiter *process_held_waiter(struct process_waiter *w)
{
	if (!w)
		return NULL;
	w->held.done = on_waited;
	return &w->held;
}

/* Events */

/* Parse a line such as "p 123", which ends at end. Returns false if it is malformed. */
static bool parse_line(const char *line, const char *end, int *ret_number)
{
	int64_t number = 0;
	if (end - line < 3 || line[1] != ' ')
		return false;
	for (const char *at = line + 2; at < end; at++) {
		if (*at < '0' || *at > '9' || number > INT32_MAX)
			return false;
		number = 10 * number + (*at - '0');
	}
	*ret_number = (int)number;
	return number <= INT32_MAX;
}

static void note_pid(struct process *p, int pid)
{
	struct processes *t = p->table;
	if (p->state != PROCESS_STARTING || pid <= 0)
		return;
	p->pid = pid;
	process_move(p, PROCESS_RUNNING);
	if (!p->held.adopted)
		t->counters.started++;
	process_save(p);
	process_start_time_limit(p);
	held_answer_waiters(&p->held.start_waiters, &p->held, REPORT_READY, 0);
}

/* The supervisor reports a pid of its own namespace: find ours, unless the command has ended. */
static void note_start(struct process *p, int number)
{
	/* The program can write such lines too. */
	if (p->state != PROCESS_STARTING || number <= 0)
		return;
	pid_t pid = tree_find_child(p->held.link.info.shell_pid, number);
	note_pid(p, pid > 0 ? pid : number);
}

/* The command has ended. error: why its status is not known, or 0. */
static void note_end(struct process *p, const struct ring_exit *end, int error)
{
	struct processes *t = p->table;
	if (p->ended_ms > 0 || p->state == PROCESS_STARTING)
		return;
	p->wait_status = end->status;
	p->error = error;
	p->end_offset = end->offset;
	p->ended_ms = end->time_ms > 0 ? end->time_ms : 1;
	p->ended_boot_ms = end->boot_ms > 0 ? (int64_t)end->boot_ms
					    : clock_boot_of_wall_ms(end->time_ms);
	if (p->state == PROCESS_RUNNING)
		process_move(p, PROCESS_ENDED);
	t->counters.ended++;
	process_input_close(p);
	if (p->tree != PROCESS_TREE_KILLING)
		uv_timer_stop(&p->timer);
	process_save(p);
	t->callbacks->ended(t->user, p);
}

/* No process of the tree is left. */
static void note_gone(struct process *p)
{
	if (p->tree == PROCESS_TREE_GONE)
		return;
	process_move_tree(p, PROCESS_TREE_GONE);
	process_kill_done(p, 0);
}

/* The holder has recorded the end. Its status counts if the supervisor has reported none. */
static void note_exit(struct process *p)
{
	struct ring_exit exit;
	if (!ring_exited(&p->held.link.ring, &exit))
		return;
	note_end(p, &exit, 0);
	note_gone(p);
}

/* Parse one or more lines of the supervisor, see pty/supervise.h. */
static void parse_record(struct process *p, const struct event *e)
{
	const char *line = (const char *)e->payload, *all = line + e->header.length, *end;
	int number;
	for (; line < all && (end = memchr(line, '\n', (size_t)(all - line))); line = end + 1) {
		if (!parse_line(line, end, &number))
			continue;
		if (*line == 'p')
			note_start(p, number);
		else if (*line == 'x')
			note_end(p,
				&(struct ring_exit){.status = number,
					.offset = e->header.offset,
					.time_ms = e->header.time_ns / 1000000,
					.boot_ms = e->header.boot_ns / 1000000},
				0);
	}
}

static void apply_event(struct process *p, const struct event *e)
{
	/* The event may be newer than the head that was read before. */
	if (e->header.offset > p->head && e->header.offset <= stream_head(&p->held.link.ring.bytes))
		p->head = e->header.offset;
	if (e->header.type == EVENT_SOURCE) {
		if (p->labels.floor == UINT64_MAX) {
			labels_finish(&p->labels);
			labels_init(&p->labels, e->header.offset, EVENT_SOURCE_TERMINAL);
		}
		labels_add_event(&p->labels, e);
	} else if (e->header.type == EVENT_FIFO) {
		parse_record(p, e);
	} else if (e->header.type == EVENT_EXIT) {
		note_exit(p);
	}
}

/* Whether the supervisor ended before it could start the command. */
static bool has_failed(const struct process *p)
{
	return p->state == PROCESS_STARTING && p->tree == PROCESS_TREE_GONE;
}

static void read_events(struct process *p)
{
	struct event e;
	for (size_t left = event_log_max(&p->held.link.ring.events);
		left > 0 && p->output == PROCESS_OUTPUT_RING; left--) {
		int rc = event_read(&p->held.link.ring.events, &p->events_offset, &e);
		if (rc == 0)
			return;
		if (rc > 0)
			apply_event(p, &e);
	}
}

static void fail_start(struct process *p, enum report_stage stage, int error)
{
	struct processes *t = p->table;
	t->counters.start_failures++;
	if (!p->held.start_waiters)
		t->callbacks->failed(t->user, p->held.id,
			held_attach_error_text(error, "could not be started"), error);
	held_answer_waiters(&p->held.start_waiters, &p->held, stage, error);
}

enum turn_next process_take_turn(struct held *h)
{
	struct process *p = process_of_held(h);
	struct processes *t = p->table;
	const struct ring *ring = &p->held.link.ring;
	uint64_t before = p->head;
	if (p->output != PROCESS_OUTPUT_RING)
		return TURN_SLEEP;
	/* Read the head before the events, so that these label all output before it. */
	p->head = stream_head(&ring->bytes);
	read_events(p);
	if (p->output != PROCESS_OUTPUT_RING)
		return TURN_SLEEP; /* a callback has closed it */
	uint64_t head = p->head;
	t->counters.bytes_out += head - before;
	labels_forget(&p->labels, stream_oldest(&ring->bytes));
	if (has_failed(p)) {
		fail_start(p, REPORT_SETUP, -EIO);
		processes_remove(p, 0, NULL);
		return TURN_SLEEP;
	}
	bool followed = p->viewers != NULL;
	size_t flood = (size_t)(head - p->tail);
	process_notify(p);
	if (p->output != PROCESS_OUTPUT_RING)
		return TURN_SLEEP; /* a viewer has closed it */
	p->tail = followed && head - p->tail > FOLLOWED_TURN ? p->tail + FOLLOWED_TURN : head;
	if (p->held.holder_lost) {
		p->tail = head;
		process_move_output(p);
		return TURN_SLEEP;
	}
	link_set_consumed(&p->held.link, p->tail, p->events_offset);
	if (p->tail < head)
		return TURN_MORE;
	if (process_move_output(p))
		return TURN_SLEEP;
	if (flood >= FLOOD_BYTES)
		return TURN_REST;
	return link_sleep(&p->held.link, head, p->events_offset) ? TURN_SLEEP : TURN_MORE;
}

/* The holder */

/*
 * Read the event log from its beginning, if it is complete. Otherwise from the oldest record that
 * can be found; then the source of the bytes before the first label is unknown.
 */
static void open_ring(struct process *p)
{
	const struct link *link = &p->held.link;
	const struct stream *log = &link->ring.events;
	p->events_offset = labels_log_start(
		log, control_events_tail(&link->control, stream_head(log)));
	labels_init(&p->labels, p->events_offset == 0 ? 0 : UINT64_MAX, EVENT_SOURCE_TERMINAL);
	p->head = p->tail = control_tail(&link->control, stream_head(&link->ring.bytes));
	p->output = PROCESS_OUTPUT_RING;
}

void process_on_attached(struct held *h)
{
	struct process *p = process_of_held(h);
	if (p->state == PROCESS_REMOVING || p->output == PROCESS_OUTPUT_FILE) {
		process_end_holder(p);
		return;
	}
	open_ring(p);
	process_hold_begin(p);
	p->table->counters.adopted += p->held.adopted;
	if (p->state == PROCESS_RUNNING)
		process_start_time_limit(p);
	struct ring_exit exit;
	/* Asked before the turn, which then reads all output and events before the end. */
	bool exited = ring_exited(&p->held.link.ring, &exit);
	held_run_turn(h);
	if (p->state != PROCESS_REMOVING && p->output == PROCESS_OUTPUT_RING && exited) {
		note_exit(p); /* its event may be lost */
		held_schedule_turn(&p->held);
	}
}

void process_on_failed(struct held *h, enum report_stage stage, int error)
{
	struct process *p = process_of_held(h);
	bool died = error == -ECONNRESET || error == -ETIMEDOUT;
	p->held.holder_lost = true;
	if (p->state == PROCESS_REMOVING || p->output == PROCESS_OUTPUT_FILE) {
		process_end_holder(p);
		return;
	}
	fail_start(p, stage, error);
	if (died) {
		process_move_tree(p, PROCESS_TREE_GONE); /* the removal finds leftovers */
		processes_remove(p, 0, NULL);
	} else if (p->held.adopted) {
		process_release(p); /* the holder lives: the next server may be able to attach */
	} else {
		process_discard(p);
	}
}

void process_on_lost(struct held *h)
{
	struct process *p = process_of_held(h);
	struct processes *t = p->table;
	if (p->state == PROCESS_REMOVING && p->end_asked) {
		process_end_holder(p);
		return;
	}
	if (p->state == PROCESS_REMOVING) {
		process_kill_done(p, 0);
		return;
	}
	if (p->state == PROCESS_ENDED && p->tree == PROCESS_TREE_GONE) {
		/* It ended as asked, or after its time to live. The ring is still mapped. */
		if (p->output == PROCESS_OUTPUT_FILE)
			process_close_link(p);
		else
			held_schedule_turn(&p->held);
		return;
	}
	t->counters.holders_lost++;
	t->callbacks->failed(t->user, p->held.id,
		h->taken ? "another server has taken it" : "its holder has died", -ECONNRESET);
	held_run_turn(h);
	if (p->state == PROCESS_REMOVING)
		return; /* it has read that the start failed */
	if (p->state == PROCESS_STARTING) {
		fail_start(p, REPORT_SETUP, -ECONNRESET);
		process_move_tree(p, PROCESS_TREE_GONE);
		processes_remove(p, 0, NULL);
		return;
	}
	note_end(p,
		&(struct ring_exit){
			.offset = p->head, .time_ms = clock_wall_ms(), .boot_ms = clock_boot_ms()},
		-ECONNRESET);
	process_notify(p);
	process_kill_orphans(p);
}

/* Memory and handles */

static void maybe_free(struct process *p)
{
	if (p->open_handles > 0)
		return;
	labels_finish(&p->labels);
	outbox_drop(&p->input.outbox);
	held_finish(&p->held);
	free(p->command);
	free(p->cwd);
	free(p);
}

void process_on_handle_closed(uv_handle_t *handle)
{
	struct process *p = handle->data;
	p->open_handles--;
	maybe_free(p);
}

void process_on_closed(struct held *h)
{
	struct process *p = process_of_held(h);
	p->open_handles--;
	maybe_free(p);
}

int process_create(
	struct processes *t, const char *directory, int dir_fd, struct process **ret_process)
{
	struct process *p = calloc(1, sizeof *p);
	if (!p) {
		close(dir_fd);
		return -ENOMEM;
	}
	p->table = t;
	p->input.fd = -1;
	int rc = held_init(&p->held, &t->held, directory, dir_fd);
	if (rc < 0) {
		held_finish(&p->held);
		free(p);
		return rc;
	}
	uv_timer_init(held_loop(&p->held), &p->timer); /* cannot fail */
	p->timer.data = p;
	p->open_handles = 2;
	*ret_process = p;
	return 0;
}

bool process_has_holder(const struct process *p)
{
	return !p->held.link.closing;
}

/* The ring will be closed. */
static void leave_ring(struct process *p)
{
	if (p->output == PROCESS_OUTPUT_RING)
		p->output = PROCESS_OUTPUT_NONE;
}

void process_close_link(struct process *p)
{
	leave_ring(p);
	held_close(&p->held);
}

void process_release(struct process *p)
{
	struct processes *t = p->table;
	struct process_viewer *v, *next;
	t->running -= p->held.place == HELD_LISTED && p->state != PROCESS_ENDED;
	held_release(&p->held);
	leave_ring(p);
	DL_FOREACH_SAFE (p->viewers, v, next) {
		DL_DELETE(p->viewers, v);
		v->gone(v->user);
	}
	int rc = t->held.closing ? -ECANCELED : 0;
	held_answer_waiters(&p->held.start_waiters, &p->held, REPORT_SETUP, -ECANCELED);
	held_answer_waiters(&p->kill_waiters, &p->held, REPORT_READY, rc);
	held_answer_waiters(&p->held.end_waiters, &p->held, REPORT_READY, rc);
	process_input_close(p);
	output_file_close(p->file);
	p->file = NULL;
	uv_close((uv_handle_t *)&p->timer, process_on_handle_closed);
	process_close_link(p);
}
