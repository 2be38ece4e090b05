/* Checks styles. Any word is accepted as an X11 colour name, because styles are stored, not drawn. */
#include "ws/client/tmux/style.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DELIMITERS " ,\n"
#define WORD_MAX 255u

static bool is_among(const char *word, const char *const list[])
{
	while (*list && strcasecmp(*list, word) != 0)
		list++;
	return *list != NULL;
}

static bool is_attribute(const char *word)
{
	static const char *const list[] = {"acs", "bright", "bold", "dim", "underscore", "blink",
		"reverse", "hidden", "italics", "strikethrough", "double-underscore",
		"curly-underscore", "dotted-underscore", "dashed-underscore", "overline", NULL};
	return is_among(word, list);
}

/* Attributes separated by "|". */
static bool is_attributes(const char *word)
{
	char one[32];
	for (;;) {
		size_t length = strcspn(word, "|");
		if (length == 0 || length >= sizeof one)
			return false;
		memcpy(one, word, length);
		one[length] = '\0';
		if (!is_attribute(one))
			return false;
		if (!word[length])
			return true;
		word += length + 1;
	}
}

static bool is_number(const char *text, long least, long most)
{
	char *end;
	long n = strtol(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && n >= least && n <= most;
}

static bool is_colour(const char *text)
{
	if (*text == '#')
		return strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6;
	if (strncasecmp(text, "colour", 6) == 0)
		return is_number(text + 6, 0, 255);
	if (strncasecmp(text, "color", 5) == 0)
		return is_number(text + 5, 0, 255);
	if (isdigit((unsigned char)*text))
		return is_number(text, 0, 7) || is_number(text, 90, 97);
	return isalpha((unsigned char)*text) &&
		text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] ==
		'\0';
}

static bool is_word(const char *word)
{
	static const char *const words[] = {"default", "ignore", "noignore", "push-default",
		"pop-default", "nolist", "norange", "noalign", "none", "list=on", "list=focus",
		"list=left-marker", "list=right-marker", "range=left", "range=right", "align=left",
		"align=centre", "align=right", "align=absolute-centre", NULL};
	static const char *const colours[] = {"fg=", "bg=", "fill=", NULL};
	if (is_among(word, words))
		return true;
	for (const char *const *c = colours; *c; c++)
		if (strncasecmp(word, *c, strlen(*c)) == 0)
			return is_colour(word + strlen(*c));
	if (strncasecmp(word, "range=window|", 13) == 0)
		return is_number(word + 13, 0, 2147483647);
	if (strncasecmp(word, "no", 2) == 0)
		return is_attributes(word + 2);
	return is_attributes(word);
}

bool style_is_valid(const char *text)
{
	char word[WORD_MAX + 1];
	if (strstr(text, "#{"))
		return true;
	for (text += strspn(text, DELIMITERS); *text; text += strspn(text, DELIMITERS)) {
		size_t length = strcspn(text, DELIMITERS);
		if (length > WORD_MAX)
			return false;
		memcpy(word, text, length);
		word[length] = '\0';
		if (!is_word(word))
			return false;
		text += length;
	}
	return true;
}
