/*
 * See memory_holder.h. Each link has a set of due callbacks. Its timer calls them one by one, so that none comes from
 * inside the function that causes it.
 */
#include "tests/lib/memory_holder.h"

#include "pty/wire.h"
#include "ring/receipts.h"
#include "tests/lib/memory_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <utlist.h>

#define CONTROL_SIZE ((size_t)64 << 10)

enum due {
	DUE_FAILED = 1,
	DUE_ATTACHED = 2,
	DUE_WAKE = 4,
	DUE_ENDED = 8,
	DUE_LOST = 16,
	DUE_TAKEN = 32,
	DUE_REGAINED = 64
};

/* The state of a link that struct link has no field for. */
struct end {
	struct end *next;
	struct link *link;
	unsigned due; /* enum due */
	enum report_stage stage;
	int error;      /* of DUE_FAILED */
	int end_error;  /* of DUE_ENDED */
	bool was_taken; /* of DUE_LOST */
};

static struct memory_holder *holders;
static struct end *ends;
static bool refuses_next, delays_next, equips_next;
static enum report_stage next_stage;
static int next_error;

static struct end *end_of(const struct link *l)
{
	struct end *e;
	LL_SEARCH_SCALAR(ends, e, link, l);
	cr_assert_not_null(e, "the link is not open");
	return e;
}

struct memory_holder *memory_holder_of(const struct link *l)
{
	struct memory_holder *h;
	LL_SEARCH_SCALAR(holders, h, link, l);
	return h;
}

static void on_due(uv_timer_t *timer);

static void make_due(struct link *l, enum due due)
{
	end_of(l)->due |= due;
	uv_timer_start(&l->timer, on_due, 0, 0);
}

static int map(struct link *l)
{
	const struct memory_holder *h = memory_holder_of(l);
	int rc = ring_open(&l->ring, h->ring_fd);
	if (rc == 0)
		rc = control_open(&l->control, h->control_fd);
	l->info = (struct wire_info){.epoch = h->ring.header->epoch,
		.shell_pid = MEMORY_HOLDER_SHELL,
		.owner = geteuid(),
		.head = stream_head(&h->ring.bytes)};
	if (h->master_fd >= 0) {
		l->info.shell_pid = 0;
		l->info.holder_pid = getpid();
		l->master_fd = h->master_fd;
	}
	l->tail = rc == 0 ? atomic_load(&l->control.page->tail) : 0;
	l->events_tail = rc == 0 ? atomic_load(&l->control.page->events_tail) : 0;
	return rc;
}

static void call_attached(struct link *l)
{
	cr_assert_eq(map(l), 0);
	l->state = LINK_ATTACHED;
	const struct memory_holder *h = memory_holder_of(l);
	/* The script must have the holder's descriptor, which code looks up in this process meanwhile. */
	int before = h->script_fd >= 0 ? fcntl(WIRE_FIXED_FD_SCRIPT, F_DUPFD_CLOEXEC, 0) : -1;
	bool placed = h->script_fd >= 0 && h->script_fd != WIRE_FIXED_FD_SCRIPT;
	if (placed)
		cr_assert_eq(dup2(h->script_fd, WIRE_FIXED_FD_SCRIPT), WIRE_FIXED_FD_SCRIPT);
	l->callbacks->attached(l->user);
	if (placed && before < 0)
		close(WIRE_FIXED_FD_SCRIPT);
	if (before >= 0) {
		cr_assert_eq(dup2(before, WIRE_FIXED_FD_SCRIPT), WIRE_FIXED_FD_SCRIPT);
		close(before);
	}
}

static void call_regained(struct link *l)
{
	l->taken = false;
	l->callbacks->regained(l->user);
}

/* Call the first due callback; the rest in the next turns of the loop. */
static void on_due(uv_timer_t *timer)
{
	struct link *l = timer->data;
	struct end *e = end_of(l);
	unsigned due = e->due & -e->due;
	e->due &= ~due;
	if (e->due)
		uv_timer_start(&l->timer, on_due, 0, 0);
	bool was_attached = l->state == LINK_ATTACHED;
	if (due & (DUE_FAILED | DUE_LOST))
		l->state = LINK_LOST;
	if (due == DUE_ATTACHED)
		call_attached(l);
	else if (due == DUE_FAILED)
		l->callbacks->failed(l->user, e->stage, e->error);
	else if (due == DUE_WAKE)
		l->callbacks->wake(l->user);
	else if (due == DUE_ENDED)
		l->callbacks->ended(l->user, e->end_error);
	else if (due == DUE_TAKEN)
		l->callbacks->taken(l->user);
	else if (due == DUE_REGAINED)
		call_regained(l);
	else if (due == DUE_LOST && was_attached)
		l->callbacks->lost(l->user, e->was_taken);
	else if (due == DUE_LOST)
		l->callbacks->failed(l->user, REPORT_SETUP, -ECONNRESET);
}

/* Holders */

static void equip(struct memory_holder *h)
{
	struct termios raw;
	cr_assert_eq(openpty(&h->master_fd, &h->slave_fd, NULL, NULL, NULL), 0);
	cr_assert_eq(tcgetattr(h->slave_fd, &raw), 0);
	cfmakeraw(&raw);
	cr_assert_eq(tcsetattr(h->slave_fd, TCSANOW, &raw), 0);
	h->script_fd = memfd_create("script", MFD_CLOEXEC);
	cr_assert_geq(h->script_fd, 0);
	atomic_store(&h->ring.header->shell_pid, 0);
}

static struct memory_holder *make(const struct spawn_options *o)
{
	struct memory_holder *h = calloc(1, sizeof *h);
	const struct ring_options ring = {.size = o->ring_size, .rows = o->rows, .cols = o->cols};
	cr_assert_not_null(h);
	/* The copy of the descriptor shares the lock of the directory. */
	h->dir_fd = fcntl(o->dir_fd, F_DUPFD_CLOEXEC, 0);
	cr_assert_geq(h->dir_fd, 0);
	cr_assert_eq(ring_create(&h->ring, &ring, &h->ring_fd), 0);
	cr_assert_eq(control_create(&h->control, o->control_size, &h->control_fd), 0);
	atomic_store(&h->ring.header->shell_pid, MEMORY_HOLDER_SHELL);
	h->rows = o->rows;
	h->cols = o->cols;
	h->master_fd = h->slave_fd = h->script_fd = -1;
	LL_PREPEND(holders, h);
	return h;
}

/* Remove the holder, which unlocks its directory. */
static void leave(struct memory_holder *h)
{
	LL_DELETE(holders, h);
	if (h->link)
		h->link->master_fd = -1;
	ring_close(&h->ring);
	control_close(&h->control);
	close(h->ring_fd);
	close(h->control_fd);
	close(h->dir_fd);
	if (h->master_fd >= 0) {
		close(h->master_fd);
		close(h->slave_fd);
		close(h->script_fd);
	}
	free(h->input);
	free(h);
}

void memory_holder_refuse_next(enum report_stage stage, int error)
{
	refuses_next = true;
	next_stage = stage;
	next_error = error;
}

void memory_holder_delay_next(void)
{
	delays_next = true;
}

void memory_holder_equip_next(void)
{
	equips_next = true;
}

struct memory_holder *memory_holder_leave(int dir_fd, bool listening)
{
	struct memory_holder *h = make(&(struct spawn_options){.dir_fd = dir_fd,
		.rows = 24,
		.cols = 80,
		.ring_size = RING_SIZE_MIN,
		.control_size = CONTROL_SIZE});
	h->listening = listening;
	return h;
}

void memory_holder_answer(struct memory_holder *h)
{
	h->listening = true;
	h->mute = h->backlogged = false;
	if (h->link && h->link->state != LINK_ATTACHED)
		make_due(h->link, DUE_ATTACHED);
}

static void wake(struct memory_holder *h)
{
	if (h->link && atomic_exchange(&h->control.page->waiting, 0) == 1)
		make_due(h->link, DUE_WAKE);
}

void memory_holder_put(struct memory_holder *h, const void *bytes, size_t length)
{
	uint64_t waits = stream_head(&h->ring.bytes) - atomic_load(&h->control.page->tail);
	cr_assert_leq(waits + length, h->ring.bytes.size, "the ring is full, a holder would wait");
	memory_ring_put(&h->ring, bytes, length);
	wake(h);
}

void memory_holder_say(struct memory_holder *h, const char *text)
{
	memory_holder_put(h, text, strlen(text));
}

void memory_holder_event(
	struct memory_holder *h, enum event_type type, const void *payload, size_t length)
{
	memory_ring_event(&h->ring, type, payload, length);
	wake(h);
}

void memory_holder_say_from(struct memory_holder *h, enum event_source source, const char *text)
{
	uint32_t from = source, terminal = EVENT_SOURCE_TERMINAL;
	memory_holder_event(h, EVENT_SOURCE, &from, sizeof from);
	memory_holder_say(h, text);
	memory_holder_event(h, EVENT_SOURCE, &terminal, sizeof terminal);
}

void memory_holder_record(struct memory_holder *h, const char *text)
{
	memory_holder_event(h, EVENT_FIFO, text, strlen(text));
}

void memory_holder_exit(struct memory_holder *h, int status)
{
	memory_ring_exit(&h->ring, status);
	wake(h);
}

void memory_holder_die(struct memory_holder *h)
{
	if (h->link) {
		end_of(h->link)->due &= ~(unsigned)DUE_ATTACHED; /* too late */
		make_due(h->link, DUE_LOST);
	}
	leave(h);
}

const char *memory_holder_take_input(struct memory_holder *h)
{
	const char *input = h->input_length > 0 ? h->input : "";
	h->input_length = 0;
	return input;
}

unsigned memory_holders_count(void)
{
	struct memory_holder *h;
	unsigned count;
	LL_COUNT(holders, h, count);
	return count;
}

void memory_holders_free(void)
{
	cr_assert_null(ends, "a link is still open");
	while (holders)
		leave(holders);
	refuses_next = delays_next = equips_next = false;
}

/* pty/link.h */

int link_init(struct link *l, uv_loop_t *loop, int dir_fd, const struct link_callbacks *callbacks,
	void *user)
{
	struct end *e = calloc(1, sizeof *e);
	if (!e)
		return -ENOMEM;
	*l = (struct link){.callbacks = callbacks,
		.user = user,
		.loop = loop,
		.dir_fd = dir_fd,
		.master_fd = -1,
		.guard_fd = -1};
	uv_timer_init(loop, &l->timer);
	l->timer.data = l;
	e->link = l;
	LL_PREPEND(ends, e);
	return 0;
}

int link_start(struct link *l, const struct spawn_options *options, struct reaper *reaper)
{
	(void)reaper;
	struct end *e = end_of(l);
	cr_assert_eq(l->state, LINK_IDLE);
	l->state = LINK_STARTING;
	if (refuses_next) {
		refuses_next = false;
		e->stage = next_stage;
		e->error = next_error;
		make_due(l, DUE_FAILED);
		return 0;
	}
	struct memory_holder *h = make(options);
	h->link = l;
	if (equips_next)
		equip(h);
	equips_next = false;
	if (!delays_next)
		memory_holder_answer(h);
	delays_next = false;
	return 0;
}

static struct memory_holder *holder_in(int dir_fd)
{
	struct memory_holder *h;
	struct stat wanted, st;
	cr_assert_eq(fstat(dir_fd, &wanted), 0);
	LL_FOREACH (holders, h)
		if (fstat(h->dir_fd, &st) == 0 && st.st_ino == wanted.st_ino &&
			st.st_dev == wanted.st_dev)
			return h;
	return NULL;
}

/* Attach another link to the holder; the former one is lost or taken. */
static void take_over(struct memory_holder *h, struct link *l)
{
	struct link *before = h->link;
	h->link = l;
	if (!before)
		return;
	end_of(before)->was_taken = true;
	end_of(before)->due &= ~(unsigned)DUE_ATTACHED; /* too late */
	before->taken = before->state == LINK_ATTACHED && before->callbacks->taken;
	make_due(before, before->taken ? DUE_TAKEN : DUE_LOST);
}

int link_adopt(struct link *l)
{
	struct memory_holder *h = holder_in(l->dir_fd);
	if (!h || !h->listening)
		return -ENOENT;
	if (h->foreign)
		return -EPERM;
	if (h->backlogged)
		return -EAGAIN;
	take_over(h, l);
	l->state = LINK_ATTACHING;
	if (!h->mute)
		make_due(l, DUE_ATTACHED);
	return 0;
}

int link_reattach(struct link *l)
{
	struct memory_holder *h = holder_in(l->dir_fd);
	if (!h || !h->listening)
		return -ECONNREFUSED;
	if (h->backlogged)
		return -EAGAIN;
	take_over(h, l);
	make_due(l, DUE_REGAINED);
	return 0;
}

void link_abandon(struct link *l, bool taken)
{
	l->state = LINK_LOST;
	l->callbacks->lost(l->user, taken);
}

static int find_attached(const struct link *l, struct memory_holder **ret_holder)
{
	struct memory_holder *h = memory_holder_of(l);
	if (l->state != LINK_ATTACHED || !h)
		return -ENOTCONN;
	*ret_holder = h;
	return 0;
}

int link_write(struct link *l, const void *bytes, size_t length)
{
	struct memory_holder *h;
	int rc = find_attached(l, &h);
	if (rc < 0)
		return rc;
	if (h->full && l->input.length + length > LINK_INPUT_MAX)
		return -ENOBUFS;
	h->input = realloc(h->input, h->input_length + length + 1);
	cr_assert_not_null(h->input);
	memcpy(h->input + h->input_length, bytes, length);
	h->input_length += length;
	h->input[h->input_length] = '\0';
	if (h->full)
		l->input.length += length;
	else
		receipts_confirm(&l->control, length);
	return 0;
}

uint64_t link_input_end(const struct link *l)
{
	return receipts_written(&l->control) + l->input.length;
}

void link_drop_input(struct link *l)
{
	receipts_confirm(&l->control, l->input.length);
	l->input.length = 0;
}

size_t link_input_queued(const struct link *l)
{
	return l->input.length;
}

size_t link_unread_input(const struct link *l)
{
	(void)l;
	return 0;
}

int link_resize(struct link *l, unsigned rows, unsigned cols)
{
	struct memory_holder *h;
	int rc = find_attached(l, &h);
	if (rc < 0)
		return rc;
	h->rows = rows;
	h->cols = cols;
	h->resizes++;
	atomic_store(&h->ring.header->geometry, rows << 16 | cols);
	memory_ring_resize(&h->ring, rows, cols);
	wake(h);
	return 0;
}

int link_signal(struct link *l, int signo, enum wire_target target)
{
	struct memory_holder *h;
	int rc = find_attached(l, &h);
	if (rc < 0)
		return rc;
	h->signals++;
	h->signo = signo;
	h->target = target;
	return 0;
}

int link_open_terminal(struct link *l)
{
	struct memory_holder *h;
	return find_attached(l, &h);
}

int link_end(struct link *l, unsigned grace_ms)
{
	struct memory_holder *h;
	(void)grace_ms;
	int rc = find_attached(l, &h);
	if (rc < 0)
		return rc;
	h->ends++;
	if (h->mute)
		return 0;
	end_of(l)->end_error = h->end_error;
	make_due(l, DUE_ENDED);
	if (h->end_error == 0)
		leave(h);
	return 0;
}

static void publish(struct link *l)
{
	uint64_t tail = l->tail, events_tail = l->events_tail;
	holds_min(&l->holds, &tail, &events_tail);
	if (tail > atomic_load(&l->control.page->tail))
		atomic_store(&l->control.page->tail, tail);
	atomic_store(&l->control.page->events_tail, events_tail);
}

void link_set_consumed(struct link *l, uint64_t tail, uint64_t events_tail)
{
	l->tail = tail;
	l->events_tail = events_tail;
	publish(l);
}

bool link_hold(struct link *l, struct hold *h, uint64_t offset, uint64_t position)
{
	if (l->state != LINK_ATTACHED || l->closing)
		return false;
	uint64_t events = atomic_load(&l->control.page->events_tail);
	return holds_add(&l->holds, h, offset, position < events ? events : position);
}

void link_move_hold(struct link *l, struct hold *h, uint64_t offset, uint64_t position)
{
	hold_move(h, offset, position);
	if (h->held && l->state == LINK_ATTACHED && !l->closing)
		publish(l);
}

void link_release_hold(struct link *l, struct hold *h)
{
	bool held = h->held;
	holds_remove(&l->holds, h);
	if (held && l->state == LINK_ATTACHED && !l->closing)
		publish(l);
}

bool link_sleep(struct link *l, uint64_t head, uint64_t events)
{
	atomic_store(&l->control.page->waiting, 1);
	if (stream_head(&l->ring.bytes) == head && stream_head(&l->ring.events) == events)
		return true;
	atomic_store(&l->control.page->waiting, 0);
	return false;
}

void link_update_shell_pid(struct link *l)
{
	l->info.shell_pid = atomic_load(&l->ring.header->shell_pid);
}

pid_t link_holder_pid(const struct link *l)
{
	const struct memory_holder *h = memory_holder_of(l);
	return h ? h->pid : 0;
}

uid_t link_owner_uid(const struct link *l)
{
	(void)l;
	return geteuid();
}

bool link_is_unresponsive(const struct link *l)
{
	const struct memory_holder *h = memory_holder_of(l);
	return h && h->silent;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct link *l = handle->data;
	l->close_cb(l->user); /* last: may free l */
}

void link_close(struct link *l, void (*close_cb)(void *user))
{
	struct memory_holder *h = memory_holder_of(l);
	struct end *e = end_of(l);
	cr_assert(!l->closing);
	l->closing = true;
	l->state = LINK_LOST;
	l->close_cb = close_cb;
	if (h)
		h->link = NULL;
	LL_DELETE(ends, e);
	free(e);
	close(l->dir_fd);
	while (l->holds.first)
		holds_remove(&l->holds, l->holds.first);
	ring_close(&l->ring);
	control_close(&l->control);
	uv_close((uv_handle_t *)&l->timer, on_timer_closed);
}
