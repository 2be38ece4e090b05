/* See mouse.h. No state; an event that the program's encoding cannot express gives no bytes. */
#include "shell/input/mouse.h"

#include "shell/input/keys.h"

#include <stdio.h>

#define CODE_SHIFT 4u
#define CODE_ALT 8u
#define CODE_CTRL 16u
#define CODE_MOVE 32u
#define CODE_WHEEL 64u
#define CODE_RELEASE 3u
#define DEFAULT_BASE 32u
#define DEFAULT_MAX 223u

bool mouse_is_tracked(const struct screen_modes *modes)
{
	return modes->mouse != MOUSE_NONE && modes->mouse_encoding != MOUSE_SGR_PIXELS;
}

static bool is_reported(const struct mouse_event *e, enum mouse_protocol protocol)
{
	switch (protocol) {
	case MOUSE_X10:
		return e->action == MOUSE_PRESS;
	case MOUSE_VT200:
		return e->action != MOUSE_MOVE;
	case MOUSE_DRAG:
		return e->action != MOUSE_MOVE || e->button != MOUSE_NO_BUTTON;
	case MOUSE_ANY:
		return true;
	default:
		return false;
	}
}

static unsigned code_of(const struct mouse_event *e, const struct screen_modes *modes)
{
	unsigned code = (unsigned)e->button;
	if (e->action == MOUSE_SCROLL_UP || e->action == MOUSE_SCROLL_DOWN)
		code = CODE_WHEEL + (e->action == MOUSE_SCROLL_DOWN);
	else if (e->action == MOUSE_MOVE)
		code += CODE_MOVE;
	else if (e->action == MOUSE_RELEASE && modes->mouse_encoding == MOUSE_DEFAULT)
		code = CODE_RELEASE;
	if (modes->mouse == MOUSE_X10)
		return code;
	return code + (e->modifiers & KEY_SHIFT ? CODE_SHIFT : 0) +
		(e->modifiers & KEY_ALT ? CODE_ALT : 0) + (e->modifiers & KEY_CTRL ? CODE_CTRL : 0);
}

size_t mouse_encode(const struct mouse_event *e, const struct screen_modes *modes,
	char ret_bytes[MOUSE_BYTES_MAX])
{
	if (!mouse_is_tracked(modes) || !is_reported(e, modes->mouse))
		return 0;
	unsigned code = code_of(e, modes);
	if (modes->mouse_encoding == MOUSE_SGR)
		return (size_t)snprintf(ret_bytes, MOUSE_BYTES_MAX, "\033[<%u;%u;%u%c", code,
			e->col, e->row, e->action == MOUSE_RELEASE ? 'm' : 'M');
	if (e->col > DEFAULT_MAX || e->row > DEFAULT_MAX)
		return 0;
	return (size_t)snprintf(ret_bytes, MOUSE_BYTES_MAX, "\033[M%c%c%c",
		(char)(code + DEFAULT_BASE), (char)(e->col + DEFAULT_BASE),
		(char)(e->row + DEFAULT_BASE));
}
