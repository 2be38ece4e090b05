/*
 * Names of temporary files and directories beside their target. The usual name depends on the target alone, so
 * that a new server finds what a killed one left behind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether a name is one that temp_name_make() makes. */
bool temp_name_matches(const char *name);

/* Make a name. suffix: its purpose, or "". other: a unique name, for when the usual one is in use. */
void temp_name_make(const char *target, const char *suffix, bool other, char *ret_name, size_t size);
