/* Languages of contexts, and the programs that run them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A language. */
enum language { LANGUAGE_PYTHON, LANGUAGE_JAVASCRIPT, LANGUAGE_TYPESCRIPT };

/* Parse a name or an alias ("py", "js", "ts" ...), ignoring case. Returns whether it is known. */
bool language_parse(const char *name, enum language *ret_language);

/* "python", "javascript" or "typescript". */
const char *language_name(enum language language);

/* The program that runs it, looked up in $PATH: "python3" or "node". */
const char *language_program(enum language language);

/* Exit code of language_command() if the program is not installed. */
#define LANGUAGE_MISSING 127

/* The bash command that executes the executor. Standard input, the protocol's socket, becomes descriptor 3. */
const char *language_command(enum language language);

/* The executor's source, which it reads first. */
const char *language_source(enum language language, size_t *ret_length);

/* The source that it reads next: ipython.py, or types.mjs for TypeScript; NULL: none. */
const char *language_extra_source(enum language language, size_t *ret_length);
