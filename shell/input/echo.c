/*
 * The output since something was typed is rendered as text and compared with the input from there
 * on. If it is a prefix of the input, it is its echo.
 */
#include "shell/input/echo.h"

#include "ring/search/line_reader.h"
#include "ring/utf8.h"

#include <stdlib.h>
#include <string.h>

#define ECHO_MAX ((size_t)16 << 10) /* bytes of output, and of input, that are compared */
#define ENTRIES_MAX 8u              /* entries that may wait for their echo */

struct text {
	char bytes[ECHO_MAX];
	size_t length, line; /* bytes, and start of the last line */
	bool full;           /* the rest was dropped */
};

static void put(struct text *t, const char *bytes, size_t length)
{
	t->full = t->full || length > sizeof t->bytes - t->length;
	if (t->full)
		return;
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
}

/* Remove the last character. */
static void erase_character(struct text *t)
{
	while (t->length > t->line && ((unsigned char)t->bytes[--t->length] & 0xc0) == 0x80)
		;
}

/* Remove the last word and the blanks behind it. */
static void erase_word(struct text *t)
{
	while (t->length > t->line && t->bytes[t->length - 1] == ' ')
		t->length--;
	while (t->length > t->line && t->bytes[t->length - 1] != ' ')
		erase_character(t);
}

/* Append input as the kernel echoes it (ERASE, WERASE, KILL, ECHOCTL), without line ends. */
static void put_typed(struct text *t, const char *typed, size_t length)
{
	for (size_t i = 0; i < length && !t->full; i++) {
		char c = typed[i];
		if (c == '\r' || c == '\n')
			t->line = t->length;
		else if (c == 0x7f)
			erase_character(t);
		else if (c == 0x17)
			erase_word(t);
		else if (c == 0x15)
			t->length = t->line;
		else if ((unsigned char)c >= ' ' || c == '\t')
			put(t, &c, 1);
		else if (c != 0x04)
			put(t, (const char[]){'^', (char)(c ^ 0x40)}, 2);
	}
}

static void on_text(void *user, const uint8_t *ascii, size_t length, uint64_t start)
{
	(void)start;
	put(user, (const char *)ascii, length);
}

static void on_character(void *user, uint32_t code, uint64_t start, uint64_t end)
{
	uint8_t bytes[4];
	(void)start, (void)end;
	put(user, (const char *)bytes, utf8_encode(code, bytes));
}

/* The kernel echoes a tab as a tab. */
static void on_blanks(void *user, unsigned count, uint64_t start, uint64_t end)
{
	(void)count, (void)start, (void)end;
	put(user, "\t", 1);
}

static void on_back(void *user)
{
	erase_character(user);
}

static void on_end(void *user)
{
	struct text *t = user;
	t->line = t->length;
}

static unsigned column_of(const void *user)
{
	(void)user;
	return 0;
}

static bool is_begun(const void *user)
{
	(void)user;
	return true;
}

static const struct line_reader_ops ops = {.text = on_text,
	.character = on_character,
	.blanks = on_blanks,
	.back = on_back,
	.end = on_end,
	.column = column_of,
	.is_begun = is_begun};

/* Read the output between two offsets. Returns false if it is gone or too long. */
static bool read_output(struct text *t, const struct stream *bytes, uint64_t from, uint64_t to)
{
	size_t length = (size_t)(to - from);
	uint8_t *copy = to - from <= ECHO_MAX ? malloc(length + 1) : NULL;
	struct line_reader reader;
	t->length = t->line = 0;
	t->full = false;
	if (!copy || !stream_copy(bytes, from, copy, length)) {
		free(copy);
		return false;
	}
	line_reader_init(&reader, &ops, t, from);
	line_reader_feed(&reader, copy, length, &t->full);
	line_reader_finish(&reader);
	free(copy);
	return !t->full;
}

/* Render the echoed input from entry e on, typed before an offset of the output. */
static void read_typed(struct text *t, const struct typed_entry *e, uint64_t end)
{
	t->length = t->line = 0;
	t->full = false;
	for (; e && e->text && e->offset < end && !t->full; e = e->next)
		put_typed(t, e->text, e->bytes);
}

static const struct typed_entry *last_before(const struct typed *typed, uint64_t end)
{
	const struct typed_entry *e = typed->entries ? typed->entries->prev : NULL;
	while (e && e->offset >= end)
		e = e == typed->entries ? NULL : e->prev;
	return e;
}

bool echo_matches(const struct typed *typed, const struct stream *bytes, uint64_t end)
{
	const struct typed_entry *e = last_before(typed, end);
	struct text *texts = e ? malloc(2 * sizeof *texts) : NULL;
	bool matches = false;
	for (unsigned n = 0; texts && e && e->text && !matches && n < ENTRIES_MAX; n++) {
		read_typed(&texts[1], e, end);
		matches = read_output(&texts[0], bytes, e->offset, end) && texts[0].length > 0 &&
			texts[1].length >= texts[0].length &&
			memcmp(texts[0].bytes, texts[1].bytes, texts[0].length) == 0;
		e = e == typed->entries ? NULL : e->prev;
	}
	free(texts);
	return matches;
}

bool echo_contains(
	const struct typed *typed, uint64_t begin, uint64_t end, const char *text, size_t length)
{
	const struct typed_entry *e = typed->entries;
	while (e && (e->offset < begin || !e->text))
		e = e->next;
	struct text *typed_text = e && e->offset < end ? malloc(sizeof *typed_text) : NULL;
	bool is_found = false;
	for (; typed_text && e && !is_found; e = e->next) {
		/* Input that was not echoed separates runs that were. */
		read_typed(typed_text, e, end);
		is_found = memmem(typed_text->bytes, typed_text->length, text, length);
		while (e->next && e->next->text)
			e = e->next;
		while (e->next && !e->next->text)
			e = e->next;
	}
	free(typed_text);
	return is_found;
}
