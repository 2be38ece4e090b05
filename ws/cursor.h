/*
 * Places in what a process or a terminal has written, as the Sandbox's preview names them: opaque to clients, and of no use
 * for anything else than what they are of. Pure.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stdint.h>

#define CURSOR_SIZE 232u /* of a cursor, with its NUL */

/* store: the id of what it is a place in, name_is_id(). */
void cursor_format(const char *store, uint64_t offset, char ret_text[CURSOR_SIZE]);

/* Returns whether text is a cursor of that store; of one from the future the offset tells. */
bool cursor_parse(const char *text, const char *store, uint64_t *ret_offset);
