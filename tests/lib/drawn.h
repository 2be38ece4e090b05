/* A screen that a test feeds, with its replies and events. Unit tests and fuzz targets share it, so failures abort. */
#pragma once

#include "ring/screen/screen_internal.h"
#include "ring/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN_CHECK(condition)                                                                    \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

struct drawn_text {
	char *bytes; /* owned; ends with a NUL */
	size_t length, capacity;
};

struct drawn {
	struct screen *screen;
	struct drawn_text replies;         /* concatenated */
	struct drawn_text events;          /* one per line: offset, name, text, [detail] */
	uint64_t reply_at;                 /* offset of the newest reply */
	void (*on_reply)(struct drawn *d); /* or NULL */
	void *user;                        /* for on_reply */
};

static inline void drawn_put(struct drawn_text *to, const void *bytes, size_t length)
{
	if (to->length + length + 1 > to->capacity) {
		to->capacity = (to->length + length + 1) * 2;
		to->bytes = realloc(to->bytes, to->capacity);
		DRAWN_CHECK(to->bytes != NULL);
	}
	if (length > 0)
		memcpy(to->bytes + to->length, bytes, length);
	to->length += length;
	to->bytes[to->length] = '\0';
}

__attribute__((format(printf, 2, 3))) static inline void drawn_format(
	struct drawn_text *to, const char *format, ...)
{
	char text[256];
	va_list list;
	va_start(list, format);
	int length = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	DRAWN_CHECK(length >= 0 && (size_t)length < sizeof text);
	drawn_put(to, text, (size_t)length);
}

static inline void drawn_clear(struct drawn_text *t)
{
	t->length = 0;
	drawn_put(t, "", 0);
}

/* Whether text is UTF-8 of printable characters and ends with a NUL. */
static inline bool drawn_is_clean(const char *text, size_t length)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + length;
	if (*end != 0)
		return false;
	while (at < end) {
		uint8_t again[4];
		uint32_t code;
		unsigned size = *at < 0x80 ? 1
			: *at < 0xc2       ? 0
			: *at < 0xe0       ? 2
			: *at < 0xf0       ? 3
			: *at < 0xf5       ? 4
					   : 0;
		if (size == 0 || size > end - at)
			return false;
		utf8_read(at, &code);
		if (code < 0x20 || (code >= 0x80 && code < 0xa0) || code > 0x10ffff ||
			(code >= 0xd800 && code < 0xe000) || utf8_encode(code, again) != size ||
			memcmp(again, at, size) != 0)
			return false;
		at += size;
	}
	return true;
}

static inline void drawn_on_reply(void *user, const char *bytes, size_t length)
{
	struct drawn *d = user;
	DRAWN_CHECK(length > 0);
	drawn_put(&d->replies, bytes, length);
	d->reply_at = screen_offset(d->screen);
	if (d->on_reply)
		d->on_reply(d);
}

static inline void drawn_on_event(void *user, const struct screen_event *e)
{
	static const char *const names[] = {"bell", "title", "icon", "cwd", "notification",
		"clipboard", "mark", "focus", "color scheme"};
	struct drawn *d = user;
	DRAWN_CHECK(e->offset == screen_offset(d->screen));
	DRAWN_CHECK(drawn_is_clean(e->text, e->length));
	drawn_format(&d->events, "%llu %s", (unsigned long long)e->offset, names[e->type]);
	if (e->number != 0)
		drawn_format(&d->events, " %d", e->number);
	if (e->length > 0)
		drawn_put(&d->events, " ", 1);
	drawn_put(&d->events, e->text, e->length);
	if (e->detail) {
		drawn_put(&d->events, " [", 2);
		drawn_put(&d->events, e->detail, e->detail_length);
		drawn_put(&d->events, "]", 1);
	}
	drawn_put(&d->events, "\n", 1);
}

static inline void drawn_init(struct drawn *d, unsigned rows, unsigned cols, unsigned scrollback)
{
	static const struct screen_callbacks callbacks = {
		.reply = drawn_on_reply, .event = drawn_on_event};
	*d = (struct drawn){0};
	drawn_clear(&d->replies);
	drawn_clear(&d->events);
	DRAWN_CHECK(screen_create(&d->screen,
			    &(struct screen_options){.rows = rows,
				    .cols = cols,
				    .scrollback = scrollback,
				    .callbacks = &callbacks,
				    .user = d}) == 0);
}

static inline void drawn_finish(struct drawn *d)
{
	screen_destroy(d->screen);
	free(d->replies.bytes);
	free(d->events.bytes);
	*d = (struct drawn){0};
}

/*
 * How many cells one call may touch beyond its work and twice its bytes: the most that one sequence can touch. That is
 * a repeated cluster that fills the screen and scrolls it with every second column.
 */
static inline size_t drawn_slack(const struct screen *s)
{
	size_t most = (size_t)(s->rows + 1) * (s->cols + 1);
	return (most > 16384 ? most : 16384) * (SCREEN_CLUSTER_MAX + 4) * 2;
}

/* Feed one piece, in as many calls as it needs. */
static inline void drawn_feed(struct drawn *d, const void *bytes, size_t length, size_t work)
{
	/* A copy of its own, so that ASan finds reads beyond the end. */
	uint8_t *copy = malloc(length ? length : 1);
	uint64_t offset = screen_offset(d->screen);
	DRAWN_CHECK(copy != NULL);
	if (length > 0)
		memcpy(copy, bytes, length);
	for (size_t at = 0; at < length;) {
		size_t n = screen_feed(d->screen, copy + at, length - at, work);
		DRAWN_CHECK(n >= 1 && n <= length - at);
		DRAWN_CHECK(n == length - at || d->screen->work >= work);
		DRAWN_CHECK(work > SIZE_MAX / 2 || d->screen->work <= work + drawn_slack(d->screen));
		at += n;
	}
	free(copy);
	DRAWN_CHECK(screen_offset(d->screen) == offset + length);
	DRAWN_CHECK(screen_resume_offset(d->screen) <= screen_offset(d->screen));
}

/* Feed a literal or a string. */
static inline void drawn_type(struct drawn *d, const char *text)
{
	drawn_feed(d, text, strlen(text), SIZE_MAX);
}

static inline const struct style *drawn_style(const struct screen *s, uint32_t number)
{
	static const struct style plain;
	const struct style *style = number ? intern_get(&s->styles, number, NULL) : &plain;
	DRAWN_CHECK(style != NULL);
	return style;
}

/* A row as text: blanks for empty cells, nothing after the last character. */
static inline const char *drawn_row(const struct drawn *d, unsigned y)
{
	static char text[SCREEN_SIDE_MAX * 32];
	const struct screen *s = d->screen;
	const struct line *line = buffer_row(s->active, y);
	size_t length = 0;
	for (unsigned x = 0; x < line_trimmed(line) && x < s->cols; x++) {
		struct cell cell = line->cells[x];
		size_t bytes = sizeof(uint32_t);
		uint32_t code = cell.text & CELL_CODE;
		const uint32_t *codes = cell.text & CELL_CLUSTER
			? intern_get(&s->clusters, code, &bytes)
			: &code;
		for (size_t i = 0; i < bytes / sizeof code && cell_has_content(cell); i++)
			length += utf8_encode(codes[i], (uint8_t *)text + length);
		if (!cell_has_content(cell) && !cell_is_tail(cell))
			text[length++] = ' ';
	}
	text[length] = '\0';
	return text;
}

/* All rows, without the empty ones at the bottom. */
static inline const char *drawn_rows(const struct drawn *d)
{
	static char text[1 << 16];
	size_t length = 0, end = 0;
	for (unsigned y = 0; y < screen_rows(d->screen); y++) {
		const char *row = drawn_row(d, y);
		DRAWN_CHECK(length + strlen(row) + 1 < sizeof text);
		length += (size_t)sprintf(text + length, "%s%s", y ? "|" : "", row);
		end = *row ? length : end;
	}
	text[end] = '\0';
	return text;
}

static inline const struct style *drawn_style_at(const struct drawn *d, unsigned y, unsigned x)
{
	return drawn_style(d->screen, buffer_row(d->screen->active, y)->cells[x].style);
}

static inline void drawn_type_many(struct drawn *d, const char *text, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		drawn_type(d, text);
}
