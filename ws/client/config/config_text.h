/*
 * The text of a config file: `name = value`, or `name` alone, a line; `[section]`; `#` at the beginning of a line is a comment,
 * and blanks around anything are nothing. Pure.
 */
#pragma once

#include <stddef.h>

#define CONFIG_TEXT_MAX ((size_t)64 << 10) /* bytes */
#define CONFIG_SETTINGS_MAX 256u

/* One setting; its texts are parts of what was parsed. */
struct config_setting {
	unsigned line;       /* from 1 on */
	const char *section; /* "": before the first */
	const char *name;    /* a-z, 0-9 and -; not empty */
	const char *value;   /* NULL: there is no = */
};

struct config_text {
	struct config_setting settings[CONFIG_SETTINGS_MAX];
	size_t count;
	/* Of a text that is wrong: */
	unsigned line;
	const char *why;
};

/*
 * Take a text apart, which is changed for that: length bytes and a NUL. Returns 0, or -EINVAL with line and why in *ret, and no
 * settings.
 */
int config_text_parse(char *text, size_t length, struct config_text *ret);
