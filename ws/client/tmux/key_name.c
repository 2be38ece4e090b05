/* Names of keys. */
#include "ws/client/tmux/key_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Translate tmux's name of a key without modifiers, or return NULL. */
static const char *find_name(const char *name)
{
	static const char *const names[][2] = {{"Enter", "Enter"}, {"Escape", "Escape"},
		{"Tab", "Tab"}, {"BTab", "BTab"}, {"Space", "Space"}, {"BSpace", "BSpace"},
		{"Up", "Up"}, {"Down", "Down"}, {"Left", "Left"}, {"Right", "Right"},
		{"Home", "Home"}, {"End", "End"}, {"PageUp", "PageUp"}, {"PgUp", "PageUp"},
		{"PPage", "PageUp"}, {"PageDown", "PageDown"}, {"PgDn", "PageDown"},
		{"NPage", "PageDown"}, {"Insert", "Insert"}, {"IC", "Insert"}, {"Delete", "Delete"},
		{"DC", "Delete"}, {"F1", "F1"}, {"F2", "F2"}, {"F3", "F3"}, {"F4", "F4"},
		{"F5", "F5"}, {"F6", "F6"}, {"F7", "F7"}, {"F8", "F8"}, {"F9", "F9"},
		{"F10", "F10"}, {"F11", "F11"}, {"F12", "F12"}, {"KP/", "KP/"}, {"KP*", "KP*"},
		{"KP-", "KP-"}, {"KP7", "KP7"}, {"KP8", "KP8"}, {"KP9", "KP9"}, {"KP+", "KP+"},
		{"KP4", "KP4"}, {"KP5", "KP5"}, {"KP6", "KP6"}, {"KP1", "KP1"}, {"KP2", "KP2"},
		{"KP3", "KP3"}, {"KPEnter", "KPEnter"}, {"KP0", "KP0"}, {"KP.", "KP."}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(names[i][0], name) == 0)
			return names[i][1];
	return NULL;
}

static bool is_one_character(const char *text)
{
	size_t n = strlen(text);
	unsigned char c = (unsigned char)*text;
	return n == 1 ||
		(c >= 0xc2 &&
			((n == 2 && c < 0xe0) || (n == 3 && (c & 0xf0) == 0xe0) ||
				(n == 4 && c >= 0xf0)));
}

char *key_name_find(struct arena *a, const char *word)
{
	bool ctrl = false, meta = false, shift = false;
	if (word[0] == '^' && word[1]) {
		ctrl = true;
		word++;
	}
	for (; word[0] && word[1] == '-'; word += 2) {
		char c = (char)toupper((unsigned char)word[0]);
		if (c != 'C' && c != 'M' && c != 'S')
			return NULL;
		ctrl = ctrl || c == 'C';
		meta = meta || c == 'M';
		shift = shift || c == 'S';
	}
	const char *name = find_name(word);
	bool plain = !ctrl && !meta && !shift;
	if (!name && (!is_one_character(word) || plain))
		return NULL;
	return arena_print(a, "%s%s%s%s", ctrl ? "C-" : "", meta ? "M-" : "", shift ? "S-" : "",
		name ? name : word);
}
