/* Sequences contain only our own numbers; an answer only chooses among them. */
#include "ws/client/attach/modes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OTHER_KEYS_MAX 2
#define KITTY_MAX 31

static bool is_on(const json_t *modes, const char *name)
{
	return json_is_true(json_object_get(modes, name));
}

static unsigned number_of(const json_t *modes, const char *name, unsigned most)
{
	json_int_t n = json_integer_value(json_object_get(modes, name));
	return n < 0 || n > (json_int_t)most ? 0 : (unsigned)n;
}

/* The index of the word among names; 0 if it is none of them. */
static unsigned word_of(
	const json_t *object, const char *name, const char *const *names, unsigned count)
{
	const char *word = json_string_value(json_object_get(object, name));
	for (unsigned i = 0; word && i < count; i++)
		if (strcmp(word, names[i]) == 0)
			return i;
	return 0;
}

struct modes modes_of(const json_t *answer)
{
	static const char *const mice[] = {"none", "x10", "vt200", "drag", "any"};
	static const char *const encodings[] = {"default", "sgr", "sgrPixels"};
	static const char *const shapes[] = {"block", "underline", "bar"};
	const json_t *m = json_object_get(answer, "modes");
	const json_t *cursor = json_object_get(answer, "cursor");
	unsigned shape = word_of(cursor, "style", shapes, 3);
	bool blinks = is_on(cursor, "blink");
	return (struct modes){.application_cursor = is_on(m, "applicationCursor"),
		.application_keypad = is_on(m, "applicationKeypad"),
		.bracketed_paste = is_on(m, "bracketedPaste"),
		.focus = is_on(m, "focus"),
		.color_scheme = is_on(m, "colorScheme"),
		.modify_other_keys = number_of(m, "modifyOtherKeys", OTHER_KEYS_MAX),
		.kitty_flags = number_of(m, "kittyKeyboard", KITTY_MAX),
		.mouse = (enum modes_mouse)word_of(m, "mouse", mice, 5),
		.encoding = (enum modes_encoding)word_of(m, "mouseEncoding", encodings, 3),
		.cursor = blinks    ? shape * 2 + 1
			: shape > 0 ? shape * 2 + 2
				    : 0};
}

static void __attribute__((format(printf, 2, 3))) put(struct canvas *c, const char *format, ...)
{
	char text[32];
	va_list list;
	va_start(list, format);
	int n = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	if (n > 0 && n < (int)sizeof text)
		canvas_bytes(c, text, (size_t)n);
}

static void put_private(struct canvas *c, unsigned number, bool from, bool to)
{
	if (from != to)
		put(c, "\033[?%u%c", number, to ? 'h' : 'l');
}

static void put_mouse(struct canvas *c, const struct modes *from, const struct modes *to)
{
	static const unsigned mice[] = {0, 9, 1000, 1002, 1003}, encodings[] = {0, 1006, 1016};
	/* Switch off first: some terminals let any of these switch off all. */
	if (from->mouse != to->mouse && from->mouse != MOUSE_OFF)
		put_private(c, mice[from->mouse], true, false);
	if (from->encoding != to->encoding && from->encoding != MOUSE_BYTES)
		put_private(c, encodings[from->encoding], true, false);
	if (from->encoding != to->encoding && to->encoding != MOUSE_BYTES)
		put_private(c, encodings[to->encoding], false, true);
	if (from->mouse != to->mouse && to->mouse != MOUSE_OFF)
		put_private(c, mice[to->mouse], false, true);
}

void modes_write_changes(struct canvas *c, const struct modes *from, const struct modes *to)
{
	put_private(c, 1, from->application_cursor, to->application_cursor);
	if (from->application_keypad != to->application_keypad)
		put(c, "\033%c", to->application_keypad ? '=' : '>');
	put_private(c, 2004, from->bracketed_paste, to->bracketed_paste);
	put_private(c, 1004, from->focus, to->focus);
	put_private(c, 2031, from->color_scheme, to->color_scheme);
	if (from->modify_other_keys != to->modify_other_keys)
		put(c, "\033[>4;%um", to->modify_other_keys);
	if (from->kitty_flags != to->kitty_flags)
		put(c, "\033[=%u;1u", to->kitty_flags);
	put_mouse(c, from, to);
	if (from->cursor != to->cursor)
		put(c, "\033[%u q", to->cursor);
}
