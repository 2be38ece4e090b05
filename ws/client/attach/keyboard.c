/*
 * What the terminal sends: a machine over its bytes, in the states of struct keyboard. Bytes come in any pieces; what
 * looks like a sequence and is none goes to the session as it is. It cannot fail.
 */
#include "ws/client/attach/keyboard.h"

#include <stdio.h>
#include <string.h>

bool keyboard_parse(const char *name, int *ret_key)
{
	size_t length = strlen(name);
	if (strcmp(name, "none") == 0) {
		*ret_key = -1;
		return true;
	}
	bool control = length == 3 && (name[0] == 'C' || name[0] == 'c') && name[1] == '-';
	bool caret = length == 2 && name[0] == '^';
	if (!control && !caret)
		return false;
	char c = name[length - 1];
	if (c >= 'a' && c <= 'z')
		c = (char)(c - 'a' + 'A');
	if (c < '@' || c > '_')
		return false;
	*ret_key = c - '@';
	return true;
}

void keyboard_name(int key, char name[8])
{
	char c = (char)(key + '@');
	snprintf(name, 8, "C-%c", c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Control, whatever locks are on: 1 + 4, and 64 and 128 of Caps and Num Lock (kitty's keyboard protocol). */
static bool is_control(unsigned modifiers)
{
	return modifiers > 0 && ((modifiers - 1) & 0x3fu) == 4;
}

/* A number at *p, which moves behind it; 0 if there is none. */
static unsigned take_number(const char **p)
{
	unsigned n = 0;
	for (; **p >= '0' && **p <= '9'; (*p)++)
		n = n < 1000000 ? n * 10 + (unsigned)(**p - '0') : n;
	return n;
}

/* The key in the words of kitty's protocol, CSI code[:…];modifiers[:event][;…]u, or xterm's, CSI 27;modifiers;code~ */
static bool is_encoded(const char *bytes, size_t length, int key)
{
	char text[48];
	unsigned upper = (unsigned)key + '@', event = 1;
	unsigned lower = upper >= 'A' && upper <= 'Z' ? upper + 32 : upper;
	snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1),
		bytes);
	if (strncmp(text, "\033[", 2) != 0)
		return false;
	const char *p = text + 2;
	unsigned code = take_number(&p);
	p += strspn(p, ":0123456789"); /* shifted, and as on other layouts */
	if (*p++ != ';')
		return false;
	unsigned modifiers = take_number(&p);
	if (code == 27 && *p == ';') {
		p++;
		code = take_number(&p);
		return *p == '~' && is_control(modifiers) && (code == upper || code == lower);
	}
	if (*p == ':') {
		p++;
		event = take_number(&p);
	}
	p += *p == ';' ? strspn(p, ";:0123456789") : 0; /* the text of the key */
	return *p == 'u' && event == 1 && is_control(modifiers) && (code == upper || code == lower);
}

/* The state behind a byte that is part of a sequence, or begins one. */
static int next_state(int state, char c)
{
	if (c == '\033')
		return KEYBOARD_ESCAPE;
	switch (state) {
	case KEYBOARD_ESCAPE:
		return c == '['                   ? KEYBOARD_CSI
			: c == 'O'                ? KEYBOARD_ONE
			: c && strchr("]P_^X", c) ? KEYBOARD_STRING
						  : KEYBOARD_TEXT;
	case KEYBOARD_CSI:
		return c >= '@' && c <= '~' ? KEYBOARD_TEXT : KEYBOARD_CSI;
	case KEYBOARD_STRING:
		return c == '\a' ? KEYBOARD_TEXT : KEYBOARD_STRING;
	default:
		return KEYBOARD_TEXT;
	}
}

/*
 * Drop the sequences up to the answer: all that a terminal says of itself is one. Keeps the rest in place, moves
 * *ret_taken behind what it has looked at, and returns the bytes that it has kept.
 */
static size_t pass_fence(struct keyboard *k, char *bytes, size_t length, size_t *ret_taken)
{
	static const char answer[] = KEYBOARD_FENCED;
	size_t i = 0, kept = 0;
	while (i < length && k->fenced) {
		char c = bytes[i++];
		bool typed = k->state == KEYBOARD_TEXT && c != '\033';
		k->state = next_state(k->state, c);
		k->matched = c == answer[k->matched] ? k->matched + 1 : c == answer[0];
		k->fenced = k->matched < sizeof answer - 1;
		if (typed)
			bytes[kept++] = c;
	}
	if (!k->fenced && k->asked > 0)
		k->asked--;
	*ret_taken = i;
	return kept;
}

/* Take late answers out. Returns what is left of the length. */
static size_t drop_answers(struct keyboard *k, char *bytes, size_t length)
{
	size_t n = sizeof KEYBOARD_FENCED - 1;
	for (size_t i = 0; i + n <= length;) {
		if (memcmp(bytes + i, KEYBOARD_FENCED, n) != 0) {
			i++;
			continue;
		}
		memmove(bytes + i, bytes + i + n, length - i - n);
		length -= n;
		if (k->asked > 0)
			k->asked--;
	}
	return length;
}

size_t keyboard_filter(struct keyboard *k, char *bytes, size_t length, bool *ret_detach)
{
	size_t kept = 0;
	*ret_detach = false;
	for (size_t i = 0; i < length && k->detach >= 0; i++) {
		*ret_detach = bytes[i] == k->detach ||
			(bytes[i] == '\033' && is_encoded(bytes + i, length - i, k->detach));
		if (*ret_detach)
			length = i;
	}
	size_t taken = 0;
	if (k->fenced)
		kept = pass_fence(k, bytes, length, &taken);
	memmove(bytes + kept, bytes + taken, length - taken);
	kept += length - taken;
	return drop_answers(k, bytes, kept);
}
