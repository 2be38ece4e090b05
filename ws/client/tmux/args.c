/* Parses command lines as args_parse() of tmux: flags end at the first argument. Pure. */
#include "ws/client/tmux/args.h"

#include <ctype.h>
#include <string.h>

/* Parse one word of flags. Returns NULL, or an error text. */
static char *parse_flags(struct arena *a, const char *letters, char **argv, unsigned argc,
	unsigned *at, struct args *into)
{
	const char *word = argv[*at];
	for (const char *c = word + 1; *c; c++) {
		const char *known = isalnum((unsigned char)*c) ? strchr(letters, *c) : NULL;
		if (*c == '?')
			return arena_copy(a, "usage");
		if (!known)
			return arena_print(a,
				isalnum((unsigned char)*c) ? "unknown flag -%c" : "invalid flag -%c",
				*c);
		struct args_flag *flag = &into->flags[into->flag_count++];
		flag->letter = *c;
		if (known[1] != ':')
			continue;
		if (c[1])
			flag->value = c + 1;
		else if (*at + 1 < argc)
			flag->value = argv[++*at];
		else
			return arena_print(a, "-%c expects an argument", *c);
		break;
	}
	return NULL;
}

char *args_parse(
	struct arena *a, const char *letters, char **argv, unsigned argc, struct args *ret_args)
{
	unsigned i = 0;
	size_t size = 1;
	for (unsigned k = 0; k < argc; k++)
		size += strlen(argv[k]) + 1;
	*ret_args = (struct args){.flags = arena_alloc(a, size * sizeof *ret_args->flags)};
	for (; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			break;
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		char *wrong = parse_flags(a, letters, argv, argc, &i, ret_args);
		if (wrong)
			return wrong;
	}
	ret_args->items = argv + i;
	ret_args->count = argc - i;
	return NULL;
}

bool args_has(const struct args *a, char letter)
{
	for (unsigned i = 0; i < a->flag_count; i++)
		if (a->flags[i].letter == letter)
			return true;
	return false;
}

const char *args_value(const struct args *a, char letter)
{
	const char *value = NULL;
	for (unsigned i = 0; i < a->flag_count; i++)
		if (a->flags[i].letter == letter && a->flags[i].value)
			value = a->flags[i].value;
	return value;
}

const char *args_item(const struct args *a, unsigned i)
{
	return i < a->count ? a->items[i] : "";
}
