/*
 * Tables of names and sequences. A key is encoded by the kitty protocol or by xterm's older forms.
 * No state. Only a name can be invalid; the space for a key's bytes is asserted.
 */
#include "shell/input/keys.h"

#include "ring/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <strings.h>

#define ENTER 13u
#define TAB 9u
#define ESCAPE 27u
#define BACKSPACE 127u

/* https://sw.kovidgoyal.net/kitty/keyboard-protocol/#progressive-enhancement */
enum {
	KITTY_DISAMBIGUATE = 1,
	KITTY_EVENTS = 2,
	KITTY_ALTERNATES = 4,
	KITTY_ALL = 8,
	KITTY_TEXT = 16,
};

static const struct {
	const char *name;
	uint32_t code;
	unsigned modifiers;
} names[] = {
	{"Enter", ENTER, 0},
	{"Return", ENTER, 0},
	{"Tab", TAB, 0},
	{"BTab", TAB, KEY_SHIFT},
	{"Escape", ESCAPE, 0},
	{"Esc", ESCAPE, 0},
	{"Space", ' ', 0},
	{"BSpace", BACKSPACE, 0},
	{"Backspace", BACKSPACE, 0},
	{"Up", KEY_UP, 0},
	{"Down", KEY_DOWN, 0},
	{"Right", KEY_RIGHT, 0},
	{"Left", KEY_LEFT, 0},
	{"Home", KEY_HOME, 0},
	{"End", KEY_END, 0},
	{"IC", KEY_INSERT, 0},
	{"Insert", KEY_INSERT, 0},
	{"DC", KEY_DELETE, 0},
	{"Delete", KEY_DELETE, 0},
	{"PPage", KEY_PAGE_UP, 0},
	{"PageUp", KEY_PAGE_UP, 0},
	{"PgUp", KEY_PAGE_UP, 0},
	{"NPage", KEY_PAGE_DOWN, 0},
	{"PageDown", KEY_PAGE_DOWN, 0},
	{"PgDn", KEY_PAGE_DOWN, 0},
	{"KP.", KEY_KP_DECIMAL, 0},
	{"KP/", KEY_KP_DIVIDE, 0},
	{"KP*", KEY_KP_MULTIPLY, 0},
	{"KP-", KEY_KP_SUBTRACT, 0},
	{"KP+", KEY_KP_ADD, 0},
	{"KPEnter", KEY_KP_ENTER, 0},
	{"KP=", KEY_KP_EQUAL, 0},
	{"KP,", KEY_KP_SEPARATOR, 0},
};

/* The encoding of a key that is not a character: CSI number ; modifiers final. */
struct sequence {
	unsigned number;
	char final;
	bool ss3;   /* SS3 final without modifiers */
	bool arrow; /* SS3 final without modifiers, with application cursor keys */
};

/* xterm ctlseqs: PC-style function keys. */
static const struct sequence legacy[] = {
	[0] = {1, 'A', false, true}, /* KEY_UP */
	[KEY_DOWN - KEY_UP] = {1, 'B', false, true},
	[KEY_RIGHT - KEY_UP] = {1, 'C', false, true},
	[KEY_LEFT - KEY_UP] = {1, 'D', false, true},
	[KEY_HOME - KEY_UP] = {1, 'H', false, true},
	[KEY_END - KEY_UP] = {1, 'F', false, true},
	[KEY_INSERT - KEY_UP] = {2, '~', false, false},
	[KEY_DELETE - KEY_UP] = {3, '~', false, false},
	[KEY_PAGE_UP - KEY_UP] = {5, '~', false, false},
	[KEY_PAGE_DOWN - KEY_UP] = {6, '~', false, false},
	[KEY_F1 - KEY_UP] = {1, 'P', true, false},
	[KEY_F1 + 1 - KEY_UP] = {1, 'Q', true, false},
	[KEY_F1 + 2 - KEY_UP] = {1, 'R', true, false},
	[KEY_F1 + 3 - KEY_UP] = {1, 'S', true, false},
	[KEY_F1 + 4 - KEY_UP] = {15, '~', false, false},
	[KEY_F1 + 5 - KEY_UP] = {17, '~', false, false},
	[KEY_F1 + 6 - KEY_UP] = {18, '~', false, false},
	[KEY_F1 + 7 - KEY_UP] = {19, '~', false, false},
	[KEY_F1 + 8 - KEY_UP] = {20, '~', false, false},
	[KEY_F1 + 9 - KEY_UP] = {21, '~', false, false},
	[KEY_F1 + 10 - KEY_UP] = {23, '~', false, false},
	[KEY_F1 + 11 - KEY_UP] = {24, '~', false, false},
};

/* The numeric keypad: the character, and the final byte of SS3 in application keypad mode. */
static const struct {
	char text, final;
} keypad[] = {{'0', 'p'}, {'1', 'q'}, {'2', 'r'}, {'3', 's'}, {'4', 't'}, {'5', 'u'}, {'6', 'v'},
	{'7', 'w'}, {'8', 'x'}, {'9', 'y'}, {'.', 'n'}, {'/', 'o'}, {'*', 'j'}, {'-', 'm'},
	{'+', 'k'}, {'\r', 'M'}, {'=', 'X'}, {',', 'l'}};

static_assert(sizeof keypad / sizeof *keypad == KEY_CODES_END - KEY_KP_0, "one per key");

#define KITTY_F13 57376u  /* F14 to F24 follow */
#define KITTY_KP_0 57399u /* the rest follows, in the order of enum key_code */

static bool is_upper(uint32_t code)
{
	return code >= 'A' && code <= 'Z';
}

static bool is_lower(uint32_t code)
{
	return code >= 'a' && code <= 'z';
}

static bool is_keypad(uint32_t code)
{
	return code >= KEY_KP_0 && code < KEY_CODES_END;
}

/* Names */

/* Parse a single character. Returns false if text is anything else. */
static bool parse_character(const char *text, size_t length, uint32_t *ret_code)
{
	unsigned char copy[5] = {0};
	if (length == 0 || length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	if (length > 1 || copy[0] >= 0x80)
		return utf8_decode(copy, UTF8_MAX, ret_code) == length && *ret_code >= 0xa0;
	*ret_code = copy[0];
	return true;
}

/* Set the code; a control character becomes the key that produces it. */
static void set_character(struct key *key, uint32_t code)
{
	if (code == 0)
		key->code = ' ';
	else if (code >= 32 || code == ENTER || code == TAB || code == ESCAPE)
		key->code = code;
	else
		key->code = code <= 26 ? code + 96 : code + 64;
	if (key->code != code)
		key->modifiers |= KEY_CTRL;
}

/* Parse F1 to F24, KP0 to KP9. */
static bool parse_numbered(const char *name, size_t length, uint32_t *ret_code)
{
	unsigned number = 0;
	size_t prefix = length > 2 && strncasecmp(name, "KP", 2) == 0 ? 2 : 1;
	if (length <= prefix || length > 3 || (prefix == 1 && name[0] != 'F' && name[0] != 'f'))
		return false;
	for (size_t i = prefix; i < length; i++) {
		if (name[i] < '0' || name[i] > '9')
			return false;
		number = number * 10 + (unsigned)(name[i] - '0');
	}
	if (prefix == 2)
		*ret_code = KEY_KP_0 + number;
	else
		*ret_code = KEY_F1 + number - 1;
	return prefix == 2 ? length == 3 : number >= 1 && number <= 24 && name[1] != '0';
}

static bool parse_name(const char *name, size_t length, struct key *key)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strlen(names[i].name) != length || strncasecmp(names[i].name, name, length) != 0)
			continue;
		key->code = names[i].code;
		key->modifiers |= names[i].modifiers;
		return true;
	}
	return parse_numbered(name, length, &key->code);
}

static unsigned modifier_of(char letter)
{
	switch (letter) {
	case 'C':
	case 'c':
		return KEY_CTRL;
	case 'M':
	case 'm':
		return KEY_ALT;
	case 'S':
	case 's':
		return KEY_SHIFT;
	default:
		return 0;
	}
}

bool keys_parse(const char *name, size_t length, struct key *ret_key)
{
	struct key key = {0};
	uint32_t code;
	for (; length > 2 && name[1] == '-' && modifier_of(name[0]); name += 2, length -= 2)
		key.modifiers |= modifier_of(name[0]);
	if (length == 2 && name[0] == '^' && name[1] > ' ' && (unsigned char)name[1] < BACKSPACE) {
		key.code = (unsigned char)name[1];
		key.modifiers |= KEY_CTRL;
	} else if (parse_character(name, length, &code)) {
		set_character(&key, code);
	} else if (!parse_name(name, length, &key)) {
		return false;
	}
	*ret_key = key;
	return true;
}

/* Bytes */

struct output {
	char *bytes;
	size_t length;
};

static void __attribute__((format(printf, 2, 3))) put(struct output *o, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(o->bytes + o->length, KEYS_BYTES_MAX - o->length, format, arguments);
	va_end(arguments);
	assert(n >= 0 && (size_t)n < KEYS_BYTES_MAX - o->length);
	o->length += (size_t)n;
}

static void put_character(struct output *o, uint32_t code)
{
	o->length += utf8_encode(code, (uint8_t *)o->bytes + o->length);
}

/* What Control makes of a character, see kitty's specification; otherwise the character. */
static uint32_t control(uint32_t code)
{
	static const char from[] = " /2345678?@[\\]^_~";
	static const char to[] = {0, 31, 0, 27, 28, 29, 30, 31, 127, 127, 0, 27, 28, 29, 30, 31, 30};
	if (is_lower(code) || is_upper(code))
		return code & 0x1f;
	if (code == BACKSPACE)
		return 8;
	const char *at = code > 0 && code < 0x80 ? strchr(from, (int)code) : NULL;
	return at ? (uint32_t)to[at - from] : code;
}

static bool has_control(uint32_t code)
{
	return code != BACKSPACE && control(code) != code;
}

static bool is_text(uint32_t code)
{
	return code >= ' ' && code != BACKSPACE && code < KEY_UP;
}

static uint32_t shifted(const struct key *k)
{
	return (k->modifiers & KEY_SHIFT) && is_lower(k->code) ? k->code - 32 : k->code;
}

/*
 * Whether modifyOtherKeys changes the key's encoding. Level 1 keeps keys that have a usual
 * encoding: https://invisible-island.net/xterm/modified-keys.html; Meta alone as in tmux.
 */
static bool is_other_key(const struct key *k, unsigned level)
{
	unsigned modifiers = k->modifiers;
	if (level == 0 || modifiers == 0)
		return false;
	if (modifiers == KEY_SHIFT && is_text(k->code))
		return level > 1 && k->code == ' ';
	if (level > 1)
		return true;
	if (k->code == ENTER)
		return true;
	if (k->code == TAB)
		return modifiers != KEY_SHIFT;
	if (k->code == BACKSPACE || k->code == ESCAPE || modifiers == KEY_ALT)
		return false;
	if (is_lower(k->code))
		modifiers &= ~(unsigned)KEY_SHIFT;
	return modifiers != KEY_CTRL || !has_control(k->code);
}

static void put_legacy_character(struct output *o, const struct key *k, unsigned level)
{
	uint32_t code = shifted(k);
	if (is_other_key(k, level)) {
		unsigned shift = is_upper(code) ? KEY_SHIFT : 0;
		put(o, "\033[27;%u;%u~", 1 + (k->modifiers | shift), code);
		return;
	}
	if (k->modifiers & KEY_ALT)
		put_character(o, ESCAPE);
	if (code == TAB && (k->modifiers & KEY_SHIFT))
		put(o, "\033[Z");
	else
		put_character(o, k->modifiers & KEY_CTRL ? control(code) : code);
}

static void put_sequence(
	struct output *o, const struct sequence *s, unsigned modifiers, bool application)
{
	if (modifiers)
		put(o, "\033[%u;%u%c", s->number, 1 + modifiers, s->final);
	else if (s->final == '~')
		put(o, "\033[%u~", s->number);
	else
		put(o, "\033%c%c", s->ss3 || (s->arrow && application) ? 'O' : '[', s->final);
}

static void put_legacy(struct output *o, const struct key *k, const struct screen_modes *modes)
{
	struct key key = *k;
	if (is_keypad(k->code)) {
		if (modes->application_keypad) {
			put(o, "\033O%c", keypad[k->code - KEY_KP_0].final);
			return;
		}
		key.code = (unsigned char)keypad[k->code - KEY_KP_0].text;
	}
	if (key.code < KEY_UP) {
		put_legacy_character(o, &key, modes->modify_other_keys);
		return;
	}
	if (key.code >= KEY_F1 + 12) {
		key.code -= 12;
		key.modifiers |= KEY_SHIFT;
	}
	put_sequence(o, &legacy[key.code - KEY_UP], key.modifiers, modes->application_cursor);
}

/* The kitty keyboard protocol */

/* Put one event: CSI number : shifted ; 1 + modifiers : event ; text final. */
static void put_event(struct output *o, const struct key *k, unsigned flags, bool release)
{
	struct sequence s = {.number = k->code, .final = 'u'};
	bool text = is_text(k->code) && !(k->modifiers & (KEY_CTRL | KEY_ALT)) && !release &&
		(flags & KITTY_TEXT) && (flags & KITTY_ALL);
	if (k->code >= KEY_F1 + 12 && k->code <= KEY_F24)
		s.number = KITTY_F13 + (k->code - KEY_F1 - 12);
	else if (is_keypad(k->code))
		s.number = KITTY_KP_0 + (k->code - KEY_KP_0);
	else if (k->code == KEY_F1 + 2)
		s = (struct sequence){.number = 13, .final = '~'}; /* CSI R is a cursor position */
	else if (k->code >= KEY_UP)
		s = legacy[k->code - KEY_UP];
	if (s.number == 1 && !k->modifiers && !release) {
		put(o, "\033[%c", s.final);
		return;
	}
	put(o, "\033[%u", s.number);
	if ((flags & KITTY_ALTERNATES) && shifted(k) != k->code)
		put(o, ":%u", shifted(k));
	if (k->modifiers || release)
		put(o, ";%u", 1 + k->modifiers);
	if (release)
		put(o, ":3");
	if (text)
		put(o, k->modifiers ? ";%u" : ";;%u", shifted(k));
	put(o, "%c", s.final);
}

static void put_kitty(struct output *o, const struct key *k, unsigned flags)
{
	struct key key = *k;
	bool all = flags & KITTY_ALL;
	if (is_upper(key.code)) {
		key.code += 32;
		key.modifiers |= KEY_SHIFT;
	}
	uint32_t text = is_keypad(key.code) && key.code != KEY_KP_ENTER
		? (unsigned char)keypad[key.code - KEY_KP_0].text
		: shifted(&key);
	bool plain = key.code == ENTER || key.code == TAB || key.code == BACKSPACE;
	if (!all && plain && key.modifiers == 0)
		put_character(o, key.code);
	else if (!all && is_text(text) && !(key.modifiers & (KEY_CTRL | KEY_ALT)))
		put_character(o, text);
	else
		put_event(o, &key, flags, false);
	if ((flags & KITTY_EVENTS) && (all || !plain))
		put_event(o, &key, flags, true);
}

/* Whether the kernel handles a control character itself, so that programs do not read it. */
static bool is_handled_by_kernel(const struct termios *line, uint32_t c)
{
	bool signals = line->c_lflag & ISIG, lines = line->c_lflag & ICANON;
	if (c == _POSIX_VDISABLE)
		return false;
	return (signals &&
		       (c == line->c_cc[VINTR] || c == line->c_cc[VQUIT] || c == line->c_cc[VSUSP])) ||
		(lines && c == line->c_cc[VEOF]);
}

size_t keys_encode(const struct key *k, const struct screen_modes *modes,
	const struct termios *line, char ret_bytes[KEYS_BYTES_MAX])
{
	struct output o = {.bytes = ret_bytes};
	bool is_control = k->modifiers == KEY_CTRL && k->code < KEY_UP;
	if (is_control && line && is_handled_by_kernel(line, control(k->code)))
		put_character(&o, control(k->code));
	else if (modes->kitty_flags & (KITTY_DISAMBIGUATE | KITTY_ALL))
		put_kitty(&o, k, modes->kitty_flags);
	else
		put_legacy(&o, k, modes);
	return o.length;
}
