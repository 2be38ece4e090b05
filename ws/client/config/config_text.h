/*
 * Parses the text of a config file. A line is `name = value`, `name`, `[section]` or a comment that
 * begins with `#`. Blanks around words are ignored. Pure.
 */
#pragma once

#include <stddef.h>

#define CONFIG_TEXT_MAX ((size_t)64 << 10) /* bytes */
#define CONFIG_SETTINGS_MAX 256u

/* One setting; its strings point into the parsed text. */
struct config_setting {
	unsigned line;       /* from 1 on */
	const char *section; /* "": before the first section */
	const char *name;    /* a-z, 0-9 and -; not empty */
	const char *value;   /* NULL: the line has no = */
};

/* The settings of a file, or its first error. */
struct config_text {
	struct config_setting settings[CONFIG_SETTINGS_MAX];
	size_t count;
	unsigned line;   /* of the error */
	const char *why; /* the error; NULL: none */
};

/*
 * Parse length bytes of text and a NUL, which are changed in place. Returns 0, or -EINVAL with line
 * and why in *ret, and no settings.
 */
int config_text_parse(char *text, size_t length, struct config_text *ret);
