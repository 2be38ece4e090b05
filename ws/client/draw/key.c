/* Letters, and sequences of arrow and editing keys, with or without modifiers. */
#include "ws/client/draw/key.h"

#define NUMBER_MAX 1000u

static enum key parse_text(struct key_reader *k, unsigned char byte)
{
	switch (byte) {
	case 033:
		k->state = KEY_IN_ESCAPE;
		return KEY_NONE;
	case '\r':
	case '\n':
		return KEY_ENTER;
	case 'h':
		return KEY_LEFT;
	case 'j':
		return KEY_DOWN;
	case 'k':
		return KEY_UP;
	case 'l':
	case '\t':
		return KEY_RIGHT;
	case 'g':
		return KEY_FIRST;
	case 'G':
		return KEY_LAST;
	case ' ':
		return KEY_PAGE_DOWN;
	case 'b':
		return KEY_PAGE_UP;
	case 014: /* C-l */
		return KEY_REDRAW;
	case 'q':
	case 003: /* C-c */
	case 004: /* C-d */
	case 034: /* C-\ detaches in an attachment */
		return KEY_LEAVE;
	default:
		return KEY_NONE;
	}
}

static enum key key_of_final(const struct key_reader *k, unsigned char byte)
{
	switch (byte) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
	case 'Z': /* Shift-Tab */
		return KEY_LEFT;
	case 'H':
		return KEY_FIRST;
	case 'F':
		return KEY_LAST;
	case 'M': /* keypad Enter; in a CSI a mouse report */
		return k->state == KEY_IN_SS3 ? KEY_ENTER : KEY_NONE;
	case '~':
		break;
	default:
		return KEY_NONE;
	}
	switch (k->number) {
	case 1:
	case 7:
		return KEY_FIRST;
	case 4:
	case 8:
		return KEY_LAST;
	case 5:
		return KEY_PAGE_UP;
	case 6:
		return KEY_PAGE_DOWN;
	default:
		return KEY_NONE;
	}
}

static enum key parse_sequence(struct key_reader *k, unsigned char byte)
{
	if (byte == 033) {
		k->state = KEY_IN_ESCAPE;
		return KEY_NONE;
	}
	if (byte >= '0' && byte <= '9') {
		if (k->first && k->number < NUMBER_MAX)
			k->number = k->number * 10 + (byte - '0');
		return KEY_NONE;
	}
	k->first = false;
	if (byte >= 0x20 && byte < 0x40)
		return KEY_NONE;
	enum key key = key_of_final(k, byte);
	k->state = KEY_IN_TEXT;
	return key;
}

enum key key_feed(struct key_reader *k, unsigned char byte)
{
	switch (k->state) {
	case KEY_IN_TEXT:
		return parse_text(k, byte);
	case KEY_IN_ESCAPE:
		if (byte == 033)
			return KEY_NONE;
		k->state = byte == '[' ? KEY_IN_CSI : byte == 'O' ? KEY_IN_SS3 : KEY_IN_TEXT;
		k->number = 0;
		k->first = true;
		/* Alt and a key, or Escape followed by one. */
		return k->state == KEY_IN_TEXT ? parse_text(k, byte) : KEY_NONE;
	default:
		return parse_sequence(k, byte);
	}
}
