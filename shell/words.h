/* Lists of strings that end with NULL, such as argv and environments. */
#pragma once

/* Copy a list. Returns a list for words_free(), or NULL if memory is short. */
char **words_copy(const char *const *words);

/* Free a list with its strings; NULL is ok. */
void words_free(char **words);
