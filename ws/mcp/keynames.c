/* Removes modifiers, looks up the rest in the aliases, and checks the result with keys_parse(). */
#include "ws/mcp/keynames.h"

#include "ring/utf8.h"
#include "shell/input/keys.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_SIZE 64u
#define NEAR 2u /* maximal edit distance of a suggestion */

static const struct {
	const char *name;
	char is;
} modifiers[] = {{"Ctrl", 'C'}, {"Control", 'C'}, {"Alt", 'M'}, {"Meta", 'M'}, {"Option", 'M'},
	{"Opt", 'M'}, {"Shift", 'S'}, {"C", 'C'}, {"M", 'M'}, {"S", 'S'}};

static const struct {
	const char *name, *is;
} aliases[] = {{"ArrowUp", "Up"}, {"ArrowDown", "Down"}, {"ArrowLeft", "Left"},
	{"ArrowRight", "Right"}, {"Del", "Delete"}, {"Ins", "Insert"}, {"Ret", "Enter"},
	{"CR", "Enter"}, {"Newline", "Enter"}, {"Spacebar", "Space"}, {"BS", "BSpace"},
	{"Page_Up", "PageUp"}, {"Page_Down", "PageDown"}, {"Page-Up", "PageUp"},
	{"Page-Down", "PageDown"}, {"ShiftTab", "BTab"}, {"BackTab", "BTab"}};

static const char *const suggested[] = {"Enter", "Escape", "Tab", "Space", "Backspace", "Up",
	"Down", "Left", "Right", "Home", "End", "PageUp", "PageDown", "Insert", "Delete"};

/* Parse a modifier with its - or + at the beginning of a name. Returns its length; 0: none. */
static size_t parse_modifier(const char *name, char *ret_is)
{
	for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
		size_t n = strlen(modifiers[i].name);
		if (strncasecmp(name, modifiers[i].name, n) != 0 ||
			(name[n] != '-' && name[n] != '+'))
			continue;
		if (!name[n + 1])
			continue;
		*ret_is = modifiers[i].is;
		return n + 1;
	}
	return 0;
}

/* Convert a key name to the API's. Returns false if it is invalid. *ret_modified: has modifiers. */
static bool normal_name(const char *name, char normal[NAME_SIZE], bool *ret_modified)
{
	char bare[NAME_SIZE], is;
	size_t n = 0, consumed, length = strlen(name);
	bool worded = false;
	struct key key;
	if (length == 0 || length >= NAME_SIZE / 2)
		return false;
	bool enclosed = length > 2 && name[0] == '<' && name[length - 1] == '>';
	snprintf(bare, sizeof bare, "%.*s", (int)(enclosed ? length - 2 : length),
		enclosed ? name + 1 : name);
	char *rest = bare;
	for (; (consumed = parse_modifier(rest, &is)) > 0 && n < 8; rest += consumed) {
		normal[n++] = is;
		normal[n++] = '-';
		worded = worded || (is == 'C' && consumed > 2);
	}
	*ret_modified = n > 0;
	/* Ctrl-C means the key c, without Shift. */
	if (worded && rest[0] && !rest[1])
		rest[0] = (char)tolower((unsigned char)rest[0]);
	const char *found = rest;
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strcasecmp(rest, aliases[i].name) == 0)
			found = aliases[i].is;
	snprintf(normal + n, NAME_SIZE - n, "%s", found);
	return keys_parse(normal, strlen(normal), &key);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The edit distance of two names, ignoring case. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_SIZE], length = strlen(b);
	if (strlen(a) >= NAME_SIZE || length + 1 >= NAME_SIZE)
		return NAME_SIZE;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t before = row[0];
		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t above = row[j];
			bool same = tolower((unsigned char)a[i - 1]) ==
				tolower((unsigned char)b[j - 1]);
			row[j] = least(least(above, row[j - 1]) + 1, before + (same ? 0 : 1));
			before = above;
		}
	}
	return row[length];
}

/* Write the most similar key names; "": none is similar. */
static void suggest(const char *name, char text[NAME_SIZE])
{
	size_t best = NEAR + 1, put = 0;
	text[0] = '\0';
	for (size_t i = 0; i < sizeof suggested / sizeof *suggested; i++)
		best = least(best, distance(name, suggested[i]));
	for (size_t i = 0; best <= NEAR && i < sizeof suggested / sizeof *suggested; i++)
		if (distance(name, suggested[i]) == best && put + 24 < NAME_SIZE)
			put += (size_t)snprintf(text + put, NAME_SIZE - put, "%s%s",
				put > 0 ? ", " : "", suggested[i]);
}

static bool refuse(char problem[MCP_KEYS_PROBLEM], const char *name)
{
	char near[NAME_SIZE], seen[NAME_SIZE / 2];
	size_t n = 0;
	for (; name[n] && n + 1 < sizeof seen; n++)
		seen[n] = isprint((unsigned char)name[n]) ? name[n] : '?';
	seen[n] = '\0';
	suggest(name, near);
	snprintf(problem, MCP_KEYS_PROBLEM,
		"keys: \"%s\" is no key%s%s. Keys are Enter, Tab, Escape, Up, PageDown, F5, Ctrl-C, Alt-x or one character; text types words",
		seen, *near ? "; nearest: " : "", near);
	return false;
}

/* Each character of a word is a key. */
static bool add_word(json_t *list, const char *word)
{
	for (size_t n; *word; word += n) {
		uint32_t code;
		n = utf8_decode((const uint8_t *)word, strnlen(word, UTF8_MAX), &code);
		if (n == 0 || json_array_size(list) >= MCP_KEYS_MAX)
			return false;
		json_array_append_new(
			list, *word == ' ' ? json_string("Space") : json_stringn(word, n));
	}
	return true;
}

static bool add_key(json_t *list, const char *name, bool words, char problem[MCP_KEYS_PROBLEM])
{
	char normal[NAME_SIZE], near[NAME_SIZE];
	bool modified = false;
	if (json_array_size(list) >= MCP_KEYS_MAX) {
		snprintf(problem, MCP_KEYS_PROBLEM, "keys: at most %u of them", MCP_KEYS_MAX);
		return false;
	}
	if (normal_name(name, normal, &modified)) {
		json_array_append_new(list, json_string(normal));
		return true;
	}
	suggest(name, near);
	/* A word that looks like a misspelt key is refused, not typed. */
	bool meant = modified || (*near && isupper((unsigned char)*name));
	if (!words || meant || !*name || !add_word(list, name))
		return refuse(problem, name);
	return true;
}

json_t *mcp_keynames(const json_t *keys, char problem[MCP_KEYS_PROBLEM])
{
	json_t *list = json_array();
	const char *text = json_string_value(keys);
	bool good = list != NULL;
	for (text = text ? text + strspn(text, " ") : NULL; good && text && *text;) {
		char name[NAME_SIZE];
		size_t n = strcspn(text, " ");
		snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name,
			text);
		good = add_key(list, name, false, problem);
		text += n + strspn(text + n, " ");
	}
	for (size_t i = 0; good && i < json_array_size(keys); i++) {
		const json_t *one = json_array_get(keys, i);
		const char *name = json_string_value(one);
		bool whole = name && strlen(name) == json_string_length(one);
		good = whole ? add_key(list, name, true, problem)
			     : refuse(problem, name ? name : "");
	}
	if (good)
		return list;
	json_decref(list);
	return NULL;
}
