#include "ws/client/config/option_help.h"

#include <stdlib.h>
#include <string.h>

static void copy_word(char *to, size_t size, const char *from, size_t length)
{
	snprintf(to, size, "%.*s", (int)(length < size ? length : size - 1), from);
}

/* Parse one option of a line, "-n, --name VALUE", at p. Returns its end; NULL: there is none. */
static const char *parse_option(const char *p, struct option_help *o)
{
	*o = (struct option_help){.name = ""};
	while (*p == ' ' || *p == ',')
		p++;
	if (p[0] == '-' && p[1] != '-') {
		size_t letters = strcspn(p, " ,\n");
		if (letters == 2)
			copy_word(o->brief, sizeof o->brief, p, letters);
		p += letters;
		while (*p == ' ' || *p == ',')
			p++;
	}
	if (strncmp(p, "--", 2) != 0)
		return NULL;
	size_t length = strcspn(p, " ,[\n");
	copy_word(o->name, sizeof o->name, p, length);
	p += length;
	o->optional = *p == '[';
	if (*p == ' ' && p[1] != ' ' && p[1] != '-') {
		length = strcspn(p + 1, " ,\n");
		copy_word(o->value, sizeof o->value, p + 1, length);
		p += 1 + length;
	}
	return p;
}

void option_help_each(
	const char *help, void (*found)(void *user, const struct option_help *o), void *user)
{
	for (const char *line = help; line; line = strchr(line, '\n')) {
		struct option_help o;
		line += *line == '\n';
		if (strncmp(line, "  -", 3) != 0)
			continue;
		const char *end = line + strcspn(line, "\n"), *gap = strstr(line + 2, "  ");
		const char *words = gap && gap < end ? gap + strspn(gap, " ") : end;
		for (const char *p = line; p && p < end;) {
			p = parse_option(p, &o);
			if (!p)
				break;
			copy_word(o.words, sizeof o.words, words, (size_t)(end - words));
			found(user, &o);
		}
	}
}

char *option_help_text(const struct command *c, void (*print)(FILE *out))
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	if (f && c)
		cli_print_help(f, c);
	else if (f && print)
		print(f);
	if (f && fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
