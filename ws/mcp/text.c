/*
 * Output is drawn by the terminal emulator, so that it looks as on the screen. Most output has only
 * text and line ends and is not drawn.
 */
#include "ws/mcp/text.h"

#include "ring/screen/view/render.h"
#include "ring/utf8.h"
#include "shell/memory_stream.h"
#include "ws/mcp/visible.h"
#include "ws/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLS 500u
#define ROWS 60u
#define LINES_MAX 50000u

/* Limit of the emulator's work, in cells: a minimum, more for each byte, and a maximum. */
#define WORK_FIRST ((size_t)64 << 10)
#define WORK_EACH 32u
#define WORK_MAX ((size_t)2 << 20)

/* Output as text */

/* Whether output has only text, tabs and line ends. */
static bool is_simple(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if (c == '\r' && i + 1 < length && bytes[i + 1] == '\n')
			continue;
		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* Replace invalid UTF-8, and remove controls other than line ends and tabs. */
static char *filter(const char *bytes, size_t length, size_t *ret_length)
{
	struct text_decoder decoder = {0};
	char *text = malloc(TEXT_SIZE(length) + 4);
	if (!text)
		return NULL;
	size_t n = text_decode(&decoder, bytes, length, text), kept = 0;
	n += text_decode_end(&decoder, text + n);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		if ((c >= ' ' && c != 0x7f) || c == '\n' || c == '\t')
			text[kept++] = text[i];
	}
	text[kept] = '\0';
	*ret_length = kept;
	return text;
}

/* Draw as much as the limit of work allows. Returns the number of bytes not drawn. */
static size_t feed(struct screen *s, const char *bytes, size_t length)
{
	size_t most = WORK_FIRST + length * WORK_EACH, work = 0;
	most = most < WORK_MAX ? most : WORK_MAX;
	/* LNM: output of a pipe has no CR before LF. */
	screen_feed(s, "\033[20h", 5, most);
	while (length > 0 && work < most) {
		size_t consumed = screen_feed(s, bytes, length, most - work);
		work += screen_work(s);
		bytes += consumed;
		length -= consumed;
	}
	return length;
}

/* The length without blank lines at the end, which are part of the screen but not of the output. */
static size_t trim(const char *text, size_t length, bool ends_line)
{
	while (length > 0 && text[length - 1] == '\n')
		length--;
	return length > 0 && ends_line ? length + 1 : length;
}

static char *draw(const char *bytes, size_t length, size_t *ret_length)
{
	struct screen *s;
	struct rendered drawn;
	struct screen_options o = {.rows = ROWS, .cols = COLS, .scrollback = LINES_MAX};
	struct render_options all = {.to = UINT64_MAX, .join = true, .max = SIZE_MAX};
	if (screen_create(&s, &o) < 0)
		return NULL;
	size_t left = feed(s, bytes, length), rest_length = 0;
	int rc = render_lines(s, RENDER_TEXT, &all, &drawn);
	screen_destroy(s);
	if (rc < 0)
		return NULL;
	char *rest = left > 0 ? filter(bytes + length - left, left, &rest_length) : NULL;
	size_t n = trim(drawn.bytes, drawn.length, length > 0 && bytes[length - 1] == '\n');
	char *text = malloc(n + rest_length + 1);
	if (text) {
		if (n > 0)
			memcpy(text, drawn.bytes, n);
		if (rest)
			memcpy(text + n, rest, rest_length);
		text[n + rest_length] = '\0';
		*ret_length = n + rest_length;
	}
	free(rest);
	free(drawn.bytes);
	return text;
}

/* Escape invisible characters. text: taken. ASCII has none left at this point. */
static char *show(char *text, size_t *length)
{
	if (!text || visible_is_ascii(text, *length))
		return text;
	char *seen = malloc(VISIBLE_SIZE(*length));
	if (seen)
		*length = visible_text(text, *length, false, seen);
	free(text);
	return seen;
}

char *mcp_plain(const char *bytes, size_t length, size_t *ret_length)
{
	char *text = is_simple(bytes, length) || length > MCP_PLAIN_MAX
		? filter(bytes, length, ret_length)
		: draw(bytes, length, ret_length);
	return show(text, ret_length);
}

/* Cutting */

static char *put_together(const char *head, size_t head_length, const char *tail,
	size_t tail_length, uint64_t omitted)
{
	char marker[80];
	int n = snprintf(
		marker, sizeof marker, "\n… %llu bytes omitted …\n", (unsigned long long)omitted);
	char *text = malloc(head_length + (size_t)n + tail_length + 1);
	if (!text)
		return NULL;
	memcpy(text, head, head_length);
	memcpy(text + head_length, marker, (size_t)n);
	memcpy(text + head_length + (size_t)n, tail, tail_length);
	text[head_length + (size_t)n + tail_length] = '\0';
	return text;
}

char *mcp_clip(char *text, size_t max, uint64_t *ret_omitted)
{
	size_t length = text ? strlen(text) : 0;
	*ret_omitted = 0;
	if (length <= max)
		return text;
	size_t head = max / 2, tail = max - head;
	head -= utf8_incomplete(text, head);
	tail -= utf8_leading_continuations(text + length - tail, tail, 3);
	*ret_omitted = length - head - tail;
	char *clipped = put_together(text, head, text + length - tail, tail, *ret_omitted);
	free(text);
	return clipped;
}

char *mcp_join(const char *head, size_t head_length, const char *tail, size_t tail_length,
	uint64_t omitted)
{
	size_t first_length = 0, second_length = 0;
	char *first = mcp_plain(head, head_length, &first_length);
	char *second = mcp_plain(tail, tail_length, &second_length);
	char *text = first && second
		? put_together(first, first_length, second, second_length, omitted)
		: NULL;
	free(first);
	free(second);
	return text;
}

json_t *mcp_lines_text(const json_t *lines)
{
	size_t i, length = 0, kept = 0;
	json_t *line;
	char *text = NULL, *seen = NULL;
	FILE *file = memory_stream(&text, &length);
	if (!file)
		return NULL;
	json_array_foreach (lines, i, line) {
		const char *row = json_string_value(json_object_get(line, "text"));
		size_t size = row ? strlen(row) : 0;
		char *grown = realloc(seen, VISIBLE_SIZE(size));
		if (grown) {
			seen = grown;
			visible_text(row ? row : "", size, true, seen);
		}
		fprintf(file, "%s\n", grown ? seen : "");
		fflush(file);
		if (row && *row)
			kept = length;
	}
	free(seen);
	fclose(file);
	json_t *value = json_stringn(text, kept);
	free(text);
	return value;
}

static void show_string(json_t *value)
{
	size_t length = json_string_length(value);
	char *text = malloc(length + 1);
	if (!text)
		return;
	memcpy(text, json_string_value(value), length + 1);
	text = show(text, &length);
	if (text)
		json_string_setn(value, text, length);
	free(text);
}

char *mcp_escape_text(char *text)
{
	size_t length = text ? strlen(text) : 0;
	return text && !visible_is_ascii(text, length) ? show(text, &length) : text;
}

void mcp_escape_texts(json_t *value)
{
	const char *name;
	size_t i;
	json_t *one;
	if (json_is_string(value) &&
		!visible_is_ascii(json_string_value(value), json_string_length(value)))
		show_string(value);
	json_object_foreach (value, name, one)
		mcp_escape_texts(one);
	json_array_foreach (value, i, one)
		mcp_escape_texts(one);
}
