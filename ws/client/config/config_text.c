/* Line by line, in place: words are NUL-terminated. Parsing stops at the first error. */
#include "ws/client/config/config_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"

static char *trim(char *from, char *end)
{
	while (from < end && (*from == ' ' || *from == '\t'))
		from++;
	while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	*end = '\0';
	return from;
}

static bool is_text(const char *line)
{
	for (; *line; line++)
		if (((unsigned char)*line < ' ' && *line != '\t') || *line == 0x7f)
			return false;
	return true;
}

static bool is_name(const char *word)
{
	return *word && word[strspn(word, NAME_CHARACTERS)] == '\0';
}

/* Returns the name in "[name]", or NULL. */
static char *parse_section(char *line)
{
	size_t length = strlen(line);
	if (length < 3 || line[length - 1] != ']')
		return NULL;
	char *name = trim(line + 1, line + length - 1);
	return is_name(name) ? name : NULL;
}

/* Parse a line. Returns what is wrong with it, or NULL. */
static const char *parse_line(struct config_text *t, const char **section, char *line)
{
	if (*line == '\0' || *line == '#')
		return NULL;
	if (!is_text(line))
		return "has control characters";
	if (*line == '[') {
		*section = parse_section(line);
		return *section ? NULL : "is no [section]";
	}
	char *equals = strchr(line, '='), *end = equals ? equals : line + strlen(line);
	char *value = equals ? trim(equals + 1, equals + 1 + strlen(equals + 1)) : NULL;
	char *name = trim(line, end);
	if (!is_name(name))
		return "is not NAME = VALUE, with the name of an option without its dashes";
	if (value && *value == '\0')
		return "has no value behind =";
	if (t->count == CONFIG_SETTINGS_MAX)
		return "is one setting too many";
	t->settings[t->count++] = (struct config_setting){t->line, *section, name, value};
	return NULL;
}

int config_text_parse(char *text, size_t length, struct config_text *ret)
{
	const char *section = "";
	char *end = text + length;
	*ret = (struct config_text){.count = 0};
	for (char *line = text; line < end && !ret->why;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *stop = newline ? newline : end;
		ret->line++;
		if (length > CONFIG_TEXT_MAX)
			ret->why = "is in a file of more than 64 KiB";
		else if (memchr(line, '\0', (size_t)(stop - line)))
			ret->why = "has a NUL in it";
		else
			ret->why = parse_line(ret, &section, trim(line, stop));
		line = stop + 1;
	}
	if (!ret->why)
		return 0;
	ret->count = 0;
	return -EINVAL;
}
