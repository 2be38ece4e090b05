/*
 * Copies from the sources into the ring.
 *
 * The overrun rule: bytes that the server has not consumed are never overwritten. If the ring is
 * full, sources are not read, and programs block in write(2) until the server consumes.
 *
 * Drain before record: what a program wrote to the terminal before it wrote to the FIFO must be in
 * the ring before the record is. So a record waits until each source has been found empty once, or
 * has delivered RECORD_DRAIN bytes: the kernel buffers less than that of a terminal's output (15 to
 * 19 KB measured), so all earlier output has been read even if other programs flood the terminal.
 */
#include "pty/holder/holder.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One read of the PTY; the kernel returns about 4 KB at a time. */
#define READ_SIZE ((size_t)16 << 10)
/* Read from a source in one turn of the loop. */
#define TURN_SIZE ((size_t)256 << 10)
#define RECORD_DRAIN ((size_t)64 << 10)
/* One read of a source with add_cr. */
#define FIFO_READ ((size_t)16 << 10)
/* With less space in the ring the sources are not read. */
#define SPACE_MIN ((size_t)4 << 10)

void feed_init(struct holder *h)
{
	h->last_source = EVENT_SOURCE_TERMINAL;
	for (int i = 0; i < HOLDER_SOURCES; i++)
		h->sources[i].fd = -1;
}

/* Free space of a stream that has been consumed up to tail. */
static size_t free_space(const struct stream *s, const _Atomic uint64_t *tail)
{
	uint64_t head = stream_head(s);
	uint64_t consumed = atomic_load(tail);
	if (consumed > head)
		consumed = head; /* the page may have any value */
	uint64_t used = head - consumed;
	return used >= s->size ? 0 : s->size - (size_t)used;
}

static size_t bytes_space(struct holder *h)
{
	return free_space(&h->ring.bytes, &h->control.page->tail);
}

/* Space for the largest event and for two small ones that may come with it. */
bool feed_has_event_space(struct holder *h)
{
	return free_space(&h->ring.events, &h->control.page->events_tail) >=
		event_size(EVENT_PAYLOAD_MAX) + 2 * event_size(sizeof(uint64_t));
}

bool feed_is_blocked(struct holder *h)
{
	if (bytes_space(h) >= SPACE_MIN && feed_has_event_space(h)) {
		atomic_store(&h->ring.header->blocked, 0);
		return false;
	}
	/* Set the flag, then check again: the server reads the flag after it has moved the tail. */
	atomic_store(&h->ring.header->blocked, 1);
	atomic_thread_fence(memory_order_seq_cst);
	return bytes_space(h) < SPACE_MIN || !feed_has_event_space(h);
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

/* Label the next bytes with their source. */
static void put_label(struct holder *h, enum event_source source)
{
	uint32_t label = source;
	if (h->last_source == source)
		return;
	h->last_source = source;
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

/* Read a source once. Returns bytes read; 0 when it has none (exhausted) or the ring is full. */
static size_t read_source(struct holder *h, enum event_source source)
{
	struct source *s = &h->sources[source];
	uint8_t text[FIFO_READ];
	ssize_t n;
	if (feed_is_blocked(h))
		return 0;
	size_t space = bytes_space(h);
	if (s->add_cr) {
		n = read(s->fd, text, space / 2 < sizeof text ? space / 2 : sizeof text);
		if (n > 0) {
			put_label(h, source);
			put_with_cr(h, text, (size_t)n);
		}
	} else {
		size_t want = space < READ_SIZE ? space : READ_SIZE;
		n = read(s->fd, stream_reserve(&h->ring.bytes, want), want);
		if (n > 0) {
			put_label(h, source);
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

/* Read a source until it is empty or limit bytes are read. Returns false when the ring is full. */
static bool drain(struct holder *h, enum event_source source, size_t limit)
{
	struct source *s = &h->sources[source];
	size_t total = 0, n;
	if (s->fd < 0)
		return true;
	s->exhausted = false;
	do {
		n = read_source(h, source);
		total += n;
	} while (n > 0 && total < limit);
	return s->exhausted || total >= limit;
}

/* Drain ready sources, or all. Returns false when the ring is full. */
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

/* Read the next record from the FIFO, unless one is waiting. */
static void read_record(struct holder *h)
{
	if (h->record_length > 0)
		return;
	ssize_t n = read(h->fifo_fd, h->record, sizeof h->record);
	if (n > 0)
		h->record_length = (size_t)n;
}

/* Publish the exit status; all output of the shell is in the ring. */
static void publish_exit(struct holder *h)
{
	struct ring_header *header = h->ring.header;
	int32_t status = h->exit_status;
	header->exit_status = status;
	header->exit_offset = stream_head(&h->ring.bytes);
	header->exit_time_ns = clock_ns(CLOCK_REALTIME);
	header->exit_boot_ns = clock_ns(CLOCK_BOOTTIME);
	atomic_store(&header->exited, 1);
	h->exited = true;
	if (h->options.ttl_s > 0)
		h->expire_at_ms = holder_now_ms() + (uint64_t)h->options.ttl_s * 1000;
	feed_event(h, EVENT_EXIT, &status, sizeof status);
}

/* Set the time of the next shell's start. Returns false when no shell follows. */
static bool plan_restart(struct holder *h)
{
	uint64_t now = holder_now_ms();
	bool quick = now - h->shell_started_ms < HOLDER_FAST_END_MS;
	h->quick_ends = quick ? h->quick_ends + 1 : 0;
	if (!h->options.respawn || h->start_error < 0 || h->quick_ends >= HOLDER_FAST_ENDS_MAX)
		return false;
	h->restart_at_ms = now;
	if (h->quick_ends >= 2)
		h->restart_at_ms += HOLDER_BACK_OFF_MS << (h->quick_ends - 2);
	return true;
}

/* Start the next shell when it is time. Returns false when no shell follows. */
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
		feed_shell_restarted(h);
	return true;
}

void feed_shell_restarted(struct holder *h)
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
	bool ended = h->shell_ended; /* before the reads, so that they get all its output */
	if (h->fifo_ready || ended)
		read_record(h);
	h->fifo_ready = false;
	bool record = h->record_length > 0;
	bool drained = drain_sources(h, all || record || ended, record ? RECORD_DRAIN : TURN_SIZE);
	if (!drained || feed_is_blocked(h))
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
