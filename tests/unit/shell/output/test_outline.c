#include "shell/output/outline.h"
#include "tests/lib/memory_ring.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NONCE "abc"

struct seen {
	char text[1 << 18];
	size_t length;
	int source; /* end of the last piece */
	uint64_t lost;
};

static void put(struct seen *s, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	s->length += (size_t)vsnprintf(
		s->text + s->length, sizeof s->text - s->length, format, arguments);
	va_end(arguments);
}

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	struct seen *s = user;
	(void)offset;
	if (s->source != (int)source)
		put(s, "[%d]", (int)source);
	s->source = (int)source;
	memcpy(s->text + s->length, bytes, length);
	s->length += length;
	s->text[s->length] = '\0';
}

static void on_mark(void *user, const struct mark *mark)
{
	put(user, "<mark %d>", (int)mark->kind);
}

static void on_record(void *user, const struct record *record, const struct event_header *event,
	uint64_t position)
{
	(void)position;
	put(user, "<record %d at %d>", (int)record->kind, (int)event->offset);
}

static void on_shell(void *user, const struct event_shell *shell, const struct event_header *event)
{
	put(user, "<shell %d %d at %d>", (int)shell->status, (int)shell->pid, (int)event->offset);
}

static void on_lost(void *user, uint64_t bytes)
{
	struct seen *s = user;
	s->lost += bytes;
}

static const struct outline_callbacks callbacks = {
	.text = on_text, .mark = on_mark, .record = on_record, .shell = on_shell, .lost = on_lost};

static struct ring r;
static struct outline o;
static struct seen seen;

static void begin(void)
{
	memset(&seen, 0, sizeof seen);
	seen.source = -1;
	outline_init(&o, NONCE, 0, 0, EVENT_SOURCE_TERMINAL);
}

static void set_up(void)
{
	memory_ring_make(&r, RING_SIZE_MIN);
	begin();
}

static void tear_down(void)
{
	ring_close(&r);
}

TestSuite(outline, .init = set_up, .fini = tear_down);

static void label(enum event_source source)
{
	uint32_t value = source;
	memory_ring_event(&r, EVENT_SOURCE, &value, sizeof value);
}

static void record(const char *text)
{
	memory_ring_event(&r, EVENT_FIFO, text, strlen(text));
}

static void fill(void)
{
	memory_ring_say(&r, "prompt\r\n\033]133;C;aid=abc;id=e\a");
	record("C\037abc\037e\0370\036");
	memory_ring_say(&r, "out\r\n\033]13");
	label(EVENT_SOURCE_STDOUT);
	memory_ring_say(&r, "a\r\nb\r\r\n\r");
	label(EVENT_SOURCE_STDERR);
	memory_ring_say(&r, "\r\n\rerror");
	label(EVENT_SOURCE_TERMINAL);
	memory_ring_say(&r, "3;D;0;aid=abc;id=e\a");
	record("D\037abc\037e\0370\0370\037/\036P\037abc\0370\037\037/\036");
	memory_ring_say(&r, "\033]133;A");
}

static const char wanted[] =
	"[0]prompt\r\n<mark 3><record 1 at 29>out\r\n[1]a\nb\r\n\r[2]\n\rerror<mark 4><record 2 at 73><record 0 at 73>";

Test(outline, sources_marks_and_records_in_order)
{
	fill();
	for (size_t budget = 1; budget < 120; budget++) {
		begin();
		while (outline_read(&o, &r, stream_head(&r.bytes), budget, &callbacks, &seen))
			;
		cr_assert_str_eq(seen.text, wanted, "%zu at a time: %s", budget, seen.text);
		cr_assert_eq(o.marks.length, strlen("\033]133;A"));
		cr_assert_eq(o.position, stream_head(&r.events));
	}
}

Test(outline, new_shell_is_reported_in_order)
{
	const struct event_shell shell = {.status = 256, .pid = 77};
	memory_ring_say(&r, "old");
	record("P\037abc\0370\037\037/\036");
	memory_ring_event(&r, EVENT_SHELL, &shell, 1); /* invalid */
	memory_ring_event(&r, EVENT_SHELL, &shell, sizeof shell);
	memory_ring_say(&r, "new");
	seen.source = EVENT_SOURCE_TERMINAL;
	while (outline_read(&o, &r, stream_head(&r.bytes), 1, &callbacks, &seen))
		;
	cr_assert_str_eq(seen.text, "old<record 0 at 3><shell 256 77 at 3>new");
}

Test(outline, growing_ring)
{
	fill();
	for (uint64_t limit = 0; limit <= stream_head(&r.bytes); limit++)
		cr_assert_not(outline_read(&o, &r, limit, SIZE_MAX, &callbacks, &seen));
	cr_assert_str_eq(seen.text, wanted);
	cr_assert_not(outline_read(&o, &r, 3, SIZE_MAX, &callbacks, &seen),
		"an earlier offset gives nothing");
}

Test(outline, lost_bytes_are_reported)
{
	for (unsigned i = 0; i < 3 * RING_SIZE_MIN / 8; i++)
		memory_ring_say(&r, "12345678");
	memory_ring_say(&r, "end");
	outline_read(&o, &r, stream_head(&r.bytes), SIZE_MAX, &callbacks, &seen);
	cr_assert_eq(seen.lost + seen.length - 3, stream_head(&r.bytes));
	cr_assert_geq(seen.lost, 2 * RING_SIZE_MIN);
	cr_assert_str_eq(seen.text + seen.length - 3, "end");
}
