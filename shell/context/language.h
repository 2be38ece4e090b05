/* Languages that contexts are in, and what runs each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum language { LANGUAGE_PYTHON, LANGUAGE_JAVASCRIPT, LANGUAGE_TYPESCRIPT };

/* "python", "py" ..., "javascript" ..., "typescript" ..., in any case. Returns whether it is one. */
bool language_parse(const char *name, enum language *ret_language);

/* "python", "javascript" or "typescript". */
const char *language_name(enum language language);

/* The program that runs it, for people and for $PATH: "python3" or "node". */
const char *language_program(enum language language);

/*
 * What bash is to be told to become its executor: that has the protocol's descriptor as 3 then. It ends with
 * LANGUAGE_MISSING when there is no such program.
 */
#define LANGUAGE_MISSING 127
const char *language_command(enum language language);

/* The executor's source, which it reads first. */
const char *language_source(enum language language, size_t *ret_length);

/* What it reads next: IPython's half in Python, what takes the types out in TypeScript; NULL: nothing. */
const char *language_more(enum language language, size_t *ret_length);
