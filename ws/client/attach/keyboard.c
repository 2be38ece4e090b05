/*
 * Sequences may be split over calls. Bytes that only look like a sequence of ours go to the
 * session.
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

/* Whether Control is the only modifier, besides Caps and Num Lock (kitty: 1 + 4, 64, 128). */
static bool is_control(unsigned modifiers)
{
	return modifiers > 0 && ((modifiers - 1) & 0x3fu) == 4;
}

/* Parse a number and advance *p; 0 if there is none. */
static unsigned parse_number(const char **p)
{
	unsigned n = 0;
	for (; **p >= '0' && **p <= '9'; (*p)++)
		n = n < 1000000 ? n * 10 + (unsigned)(**p - '0') : n;
	return n;
}

/* A key in the encoding of a keyboard protocol. */
struct encoded {
	unsigned code, shifted; /* without and with Shift; shifted 0: not sent */
	unsigned modifiers;     /* + 1 */
	unsigned event;         /* 1: press, 2: repeat, 3: release */
	size_t length;          /* bytes */
};

/*
 * Parse kitty's CSI code[:shifted[:base]][;modifiers[:event][;text]]u or xterm's CSI
 * 27;modifiers;code~
 */
static bool parse_encoded(const char *bytes, size_t length, struct encoded *ret)
{
	char text[KEYBOARD_SEQUENCE_MAX];
	struct encoded e = {.modifiers = 1, .event = 1};
	snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1),
		bytes);
	if (strncmp(text, "\033[", 2) != 0)
		return false;
	const char *p = text + 2;
	e.code = parse_number(&p);
	if (*p == ':') {
		p++;
		e.shifted = parse_number(&p);
	}
	p += strspn(p, ":0123456789"); /* base layout */
	if (*p == ';') {
		p++;
		e.modifiers = parse_number(&p);
	}
	if (e.code == 27 && *p == ';') {
		p++;
		e.code = parse_number(&p);
		e.length = (size_t)(p + 1 - text);
		*ret = e;
		return *p == '~';
	}
	if (*p == ':') {
		p++;
		e.event = parse_number(&p);
	}
	p += *p == ';' ? strspn(p, ";:0123456789") : 0; /* the text of the key */
	e.length = (size_t)(p + 1 - text);
	*ret = e;
	return *p == 'u';
}

/* The length of the key at the beginning of the bytes; 0: it is another key. */
static size_t measure_key(const char *bytes, size_t length, int key)
{
	struct encoded e;
	unsigned upper = (unsigned)key + '@';
	unsigned lower = upper >= 'A' && upper <= 'Z' ? upper + 32 : upper;
	if (bytes[0] == key)
		return 1;
	if (bytes[0] != '\033' || !parse_encoded(bytes, length, &e))
		return 0;
	bool pressed = e.event == 1 && is_control(e.modifiers);
	return pressed && (e.code == upper || e.code == lower) ? e.length : 0;
}

/* The state after a byte of a sequence. */
static enum keyboard_state next_state(enum keyboard_state state, char c)
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
 * Drop sequences up to the answer of the fence, which are reports of the terminal. Compacts the
 * text, and returns its length. *ret_taken: bytes parsed.
 */
static size_t drop_reports(struct keyboard *k, char *bytes, size_t length, size_t *ret_taken)
{
	static const char answer[] = KEYBOARD_FENCE_ANSWER;
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

/* Remove late answers. Returns the new length. */
static size_t drop_answers(struct keyboard *k, char *bytes, size_t length)
{
	size_t n = sizeof KEYBOARD_FENCE_ANSWER - 1;
	for (size_t i = 0; i + n <= length;) {
		if (memcmp(bytes + i, KEYBOARD_FENCE_ANSWER, n) != 0) {
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

/* How far a key behind the prefix has been parsed. */
enum progress {
	MORE,      /* not complete yet */
	NOT_A_KEY, /* a report: the key is yet to come */
	KEY,
};

/* Modifier and lock keys, which kitty's protocol reports as keys. */
static bool is_modifier(unsigned code)
{
	return (code >= 57358 && code <= 57360) || (code >= 57441 && code <= 57454);
}

static enum progress end_encoded(const struct encoded *e, int *ret_key)
{
	unsigned modifiers = (e->modifiers > 0 ? e->modifiers - 1 : 0) & 0x3fu;
	bool shift = modifiers == 1, lower = e->code >= 'a' && e->code <= 'z';
	unsigned code = !shift ? e->code : e->shifted > 0 ? e->shifted : e->code - (lower ? 32 : 0);
	if (e->event == 3 || is_modifier(e->code))
		return NOT_A_KEY;
	if (modifiers == 4 && code >= '@' && code <= 'z')
		*ret_key = (int)(code & 0x1f);
	else if (modifiers <= 1 && code < 0x7f)
		*ret_key = (int)code;
	return KEY;
}

/* Reports of the terminal, such as mouse and focus. */
static bool is_report(const char *sequence, size_t length)
{
	return strchr("IOMmRncyt", sequence[length - 1]) != NULL;
}

static enum progress end_csi(const char *sequence, size_t length, int *ret_key)
{
	struct encoded e;
	if (length < 3 || sequence[length - 1] < '@' || sequence[length - 1] > '~')
		return MORE;
	if (parse_encoded(sequence, length, &e) && e.length == length)
		return end_encoded(&e, ret_key);
	return is_report(sequence, length) ? NOT_A_KEY : KEY;
}

/* The length of a UTF-8 character that begins with this byte. */
static size_t measure_character(char c)
{
	unsigned char byte = (unsigned char)c;
	return byte < 0xc2 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/* Parse the key behind the prefix. last: no further byte has been received. */
static enum progress parse_key(const char *sequence, size_t length, bool last, int *ret_key)
{
	*ret_key = KEYBOARD_UNKNOWN;
	if (sequence[0] != '\033') {
		if (measure_character(sequence[0]) == 1)
			*ret_key = (unsigned char)sequence[0];
		return length < measure_character(sequence[0]) ? MORE : KEY;
	}
	if (length == 1 && last)
		*ret_key = '\033'; /* Escape: sequences arrive as a whole */
	if (length == 1)
		return last ? KEY : MORE;
	if (sequence[1] == '[')
		return end_csi(sequence, length, ret_key);
	return sequence[1] == 'O' && length == 2 ? MORE : KEY;
}

/* Parse bytes behind the prefix. Returns how many; *ret_found has the key once it is complete. */
static size_t parse_command(
	struct keyboard *k, const char *bytes, size_t length, struct keyboard_found *ret_found)
{
	for (size_t i = 0; i < length;) {
		int key;
		k->sequence[k->sequence_length++] = bytes[i++];
		enum progress p = parse_key(k->sequence, k->sequence_length, i == length, &key);
		if (p == MORE && k->sequence_length == sizeof k->sequence)
			p = KEY;
		if (p == MORE)
			continue;
		k->sequence_length = 0;
		if (p == NOT_A_KEY)
			continue;
		k->prefixed = false;
		ret_found->what = KEYBOARD_COMMAND;
		ret_found->key = key;
		return i;
	}
	return length;
}

/* Track whether we are inside of a bracketed paste. */
static void track_paste(struct keyboard *k, char c)
{
	static const char mark[] = "\033[200~";
	bool ends = k->bracketed == 4 && c == '1';
	if (k->bracketed == 4 && (c == '0' || c == '1'))
		k->bracketed = ends ? 14 : 5;
	else if (k->bracketed % 9 == 5 && c == '~')
		k->pasted = k->bracketed == 5, k->bracketed = 0;
	else
		k->bracketed = k->bracketed < 4 && c == mark[k->bracketed] ? k->bracketed + 1
			: c == mark[0]                                     ? 1
									   : 0;
}

/* Find the first key of ours. Returns its offset, or length; *ret_length: its bytes. */
static size_t find_key(struct keyboard *k, const char *bytes, size_t length, size_t *ret_length,
	enum keyboard_what *ret_what)
{
	for (size_t i = 0; i < length; i++) {
		size_t n = k->detach >= 0 ? measure_key(bytes + i, length - i, k->detach) : 0;
		bool is_prefix = n == 0 && k->prefix > 0 && !k->pasted &&
			(n = measure_key(bytes + i, length - i, k->prefix)) > 0;
		if (n > 0) {
			*ret_length = n;
			*ret_what = is_prefix ? KEYBOARD_COMMAND : KEYBOARD_DETACH_KEY;
			return i;
		}
		track_paste(k, bytes[i]);
	}
	*ret_length = 0;
	*ret_what = KEYBOARD_NOTHING;
	return length;
}

static size_t keep(struct keyboard *k, char *bytes, size_t length)
{
	size_t kept = 0, taken = 0;
	if (k->fenced)
		kept = drop_reports(k, bytes, length, &taken);
	memmove(bytes + kept, bytes + taken, length - taken);
	return drop_answers(k, bytes, kept + length - taken);
}

size_t keyboard_filter(
	struct keyboard *k, char *bytes, size_t length, struct keyboard_found *ret_found)
{
	enum keyboard_what what;
	size_t n;
	*ret_found = (struct keyboard_found){.what = KEYBOARD_NOTHING};
	if (k->prefixed && length > 0 && k->detach >= 0 && k->sequence_length == 0 &&
		bytes[0] == k->detach)
		k->prefixed = false; /* the detach key works behind the prefix too */
	if (k->prefixed) {
		ret_found->rest = length - parse_command(k, bytes, length, ret_found);
		return 0;
	}
	size_t at = find_key(k, bytes, length, &n, &what);
	k->prefixed = what == KEYBOARD_COMMAND;
	ret_found->what = what == KEYBOARD_DETACH_KEY ? what : KEYBOARD_NOTHING;
	ret_found->rest = length - at - n;
	return keep(k, bytes, at);
}
