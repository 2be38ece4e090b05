/*
 * Names for what is put together beside its target: always the same for the same target, so that what a killed server has left
 * is found by the next one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a name is one that a stage has, or a file that replaces another, while it is made. */
bool beside_is_name(const char *name);

/* The number of a target that is in it. */
uint64_t beside_hash(const char *target);

/* The name. suffix: what it is for, or "". other: not the usual one, which somebody has just now, but one that nobody has. */
void beside_name(const char *target, const char *suffix, bool other, char *ret_name, size_t size);
