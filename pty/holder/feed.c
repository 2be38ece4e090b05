/*
 * From the sources into the ring.
 *
 * The overrun rule: bytes that the server has not consumed are never overwritten. When there is no
 * room, sources are not read, and programs wait in write(2) until the server is back.
 *
 * Drain before record: what a program wrote to the terminal before it wrote to the FIFO must be in the
 * ring before the record is. So a record is kept back until every source has been found empty once
 * after it was read. Under a flood from others that may never be, but the kernel holds less than
 * RECORD_DRAIN bytes of a terminal's output (15 to 19 KB measured): what came before is then through.
 */
#include "pty/holder/holder.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE \
	((size_t)16 << 10) /* one read of the PTY; the kernel gives about 4 KB at a time */
#define TURN_SIZE \
	((size_t)256 << 10) /* read in one turn of the loop before sockets are looked at */
#define RECORD_DRAIN ((size_t)64 << 10)
#define FIFO_READ ((size_t)16 << 10) /* one read of a stream that grows by its CRs */
#define LEAST_ROOM ((size_t)4 << 10) /* with less the sources wait */

void feed_init(struct holder *h)
{
	h->speaking = EVENT_SOURCE_TERMINAL;
	for (int i = 0; i < HOLDER_SOURCES; i++)
		h->sources[i].fd = -1;
}

/* Room in a stream whose consumer has come to tail. */
static size_t room(const struct stream *s, const _Atomic uint64_t *tail)
{
	uint64_t head = stream_head(s);
	uint64_t consumed = atomic_load(tail);
	if (consumed > head)
		consumed = head; /* a confused server must not confuse us */
	uint64_t used = head - consumed;
	return used >= s->size ? 0 : s->size - (size_t)used;
}

static size_t bytes_room(struct holder *h)
{
	return room(&h->ring.bytes, &h->control.page->tail);
}

/* Room for the largest record and for the two small ones that may come with it. */
bool feed_has_event_room(struct holder *h)
{
	return room(&h->ring.events, &h->control.page->events_tail) >=
		event_size(EVENT_PAYLOAD_MAX) + 2 * event_size(sizeof(uint64_t));
}

bool feed_blocked(struct holder *h)
{
	if (bytes_room(h) >= LEAST_ROOM && feed_has_event_room(h)) {
		atomic_store(&h->ring.header->blocked, 0);
		return false;
	}
	/* Say so first and look again after: the server looks at the flag after it has moved the tail. */
	atomic_store(&h->ring.header->blocked, 1);
	atomic_thread_fence(memory_order_seq_cst);
	return bytes_room(h) < LEAST_ROOM || !feed_has_event_room(h);
}

/* Wake the server if it sleeps. */
static void wake_server(struct holder *h)
{
	uint64_t one = 1;
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&h->control.page->waiting) && atomic_exchange(&h->control.page->waiting, 0))
		(void)!write(h->wake_fd, &one, sizeof one); /* EAGAIN: it is awake anyway */
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void feed_event(struct holder *h, enum event_type type, const void *payload, size_t length)
{
	struct event_header header = {
		.offset = stream_head(&h->ring.bytes),
		.time_ns = clock_ns(CLOCK_REALTIME),
		.boot_ns = clock_ns(CLOCK_BOOTTIME),
		.type = type,
		.length = (uint32_t)length,
	};
	event_append(&h->ring.events, &header, payload);
	wake_server(h);
}

/* Label the bytes that come now. */
static void speak(struct holder *h, enum event_source who)
{
	uint32_t label = who;
	if (h->speaking == who)
		return;
	h->speaking = who;
	feed_event(h, EVENT_SOURCE, &label, sizeof label);
}

/* Copy text into the ring with CRs before its LFs. */
static void put_with_cr(struct holder *h, const uint8_t *text, size_t length)
{
	uint8_t *out = stream_reserve(&h->ring.bytes, 2 * length);
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n')
			out[n++] = '\r';
		out[n++] = text[i];
	}
	stream_commit(&h->ring.bytes, n);
}

/* One read of a source. Returns bytes read, 0 when it has none (exhausted) or the ring no room. */
static size_t read_source(struct holder *h, enum event_source who)
{
	struct source *s = &h->sources[who];
	uint8_t text[FIFO_READ];
	ssize_t n;
	if (feed_blocked(h))
		return 0;
	size_t space = bytes_room(h);
	if (s->add_cr) {
		n = read(s->fd, text, space / 2 < sizeof text ? space / 2 : sizeof text);
		if (n > 0) {
			speak(h, who);
			put_with_cr(h, text, (size_t)n);
		}
	} else {
		size_t want = space < READ_SIZE ? space : READ_SIZE;
		n = read(s->fd, stream_reserve(&h->ring.bytes, want), want);
		if (n > 0) {
			if (h->speaking != who)
				speak(h, who);
			stream_commit(&h->ring.bytes, (size_t)n);
		}
	}
	s->hung = n < 0 && errno == EIO;
	if (n > 0) {
		wake_server(h);
		return (size_t)n;
	}
	s->exhausted = n == 0 || errno != EINTR;
	return 0;
}

/* Read one source until it is empty, the ring is full, or limit bytes have come. Whether it was emptied. */
static bool drain(struct holder *h, enum event_source who, size_t limit)
{
	struct source *s = &h->sources[who];
	size_t total = 0, n;
	if (s->fd < 0)
		return true;
	s->exhausted = false;
	do {
		n = read_source(h, who);
		total += n;
	} while (n > 0 && total < limit);
	return s->exhausted || total >= limit;
}

/* Drain the sources that poll has named, or all. Whether all that was tried is empty. */
static bool drain_sources(struct holder *h, bool all, size_t limit)
{
	bool drained = true;
	for (int i = 0; i < HOLDER_SOURCES; i++) {
		if (all || h->sources[i].ready)
			drained &= drain(h, (enum event_source)i, limit);
		h->sources[i].ready = false;
	}
	return drained;
}

/* Take the next record from the FIFO, if there is one and the last has found its place. */
static void read_record(struct holder *h)
{
	if (h->record_length > 0)
		return;
	ssize_t n = read(h->fifo_fd, h->record, sizeof h->record);
	if (n > 0)
		h->record_length = (size_t)n;
}

/* The shell is gone and all it wrote is in the ring: publish how it ended. */
static void publish_exit(struct holder *h)
{
	struct ring_header *header = h->ring.header;
	struct timespec now;
	int32_t status = h->exit_status;
	clock_gettime(CLOCK_REALTIME, &now);
	header->exit_status = status;
	header->exit_offset = stream_head(&h->ring.bytes);
	header->exit_time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	atomic_store(&header->exited, 1);
	h->exited = true;
	if (h->options.ttl_s > 0)
		h->expire_at_ms = holder_now_ms() + (uint64_t)h->options.ttl_s * 1000;
	feed_event(h, EVENT_EXIT, &status, sizeof status);
}

/* When the shell that has ended now is followed by another. Returns false when it is not. */
static bool plan_restart(struct holder *h)
{
	uint64_t now = holder_now_ms();
	bool quick = now - h->shell_started_ms < HOLDER_QUICK_MS;
	h->quick_ends = quick ? h->quick_ends + 1 : 0;
	if (!h->options.respawn || h->start_error < 0 || h->quick_ends >= HOLDER_QUICK_ENDS)
		return false;
	h->restart_at_ms = now;
	if (h->quick_ends >= 2)
		h->restart_at_ms += HOLDER_BACK_OFF_MS << (h->quick_ends - 2);
	return true;
}

/* Ask for another shell on the same terminal, when it is time. Returns false when none follows. */
static bool restart(struct holder *h)
{
	if (h->starting)
		return true;
	if (h->ending || (h->restart_at_ms == 0 && !plan_restart(h)))
		return false;
	if (holder_now_ms() < h->restart_at_ms)
		return true;
	h->restart_at_ms = 0;
	if (terminal_restart(h) < 0)
		return false;
	if (!h->starting)
		feed_restarted(h);
	return true;
}

/* Only what is written from now on is its own. */
void feed_restarted(struct holder *h)
{
	struct event_shell payload = {.status = h->exit_status, .pid = h->shell};
	h->shell_started_ms = holder_now_ms();
	h->shell_ended = false;
	h->sources[EVENT_SOURCE_TERMINAL].hung = false;
	atomic_store(&h->ring.header->shell_pid, payload.pid);
	feed_event(h, EVENT_SHELL, &payload, sizeof payload);
}

static void run(struct holder *h, bool all)
{
	if (h->exited)
		return;
	bool ended = h->shell_ended; /* before the reads, so that they see all that it wrote */
	if (h->fifo_ready || ended)
		read_record(h);
	h->fifo_ready = false;
	bool record = h->record_length > 0;
	bool drained = drain_sources(h, all || record || ended, record ? RECORD_DRAIN : TURN_SIZE);
	if (!drained || feed_blocked(h))
		return;
	if (record) {
		feed_event(h, EVENT_FIFO, h->record, h->record_length);
		h->record_length = 0;
		if (h->options.respawn)
			terminal_note_cwd(h);
	} else if (ended && !restart(h)) {
		publish_exit(h);
	}
}

void feed_run(struct holder *h)
{
	run(h, false);
}

void feed_all(struct holder *h)
{
	run(h, true);
}
