/*
 * Parameters of a request's query. If the parameter is absent, all return true and *ret_… stays. If it is invalid, they
 * answer r with VALIDATION_FAILED and return false.
 */
#pragma once

#include "ws/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole number of at most max. */
bool query_number(struct request *r, const char *name, uint64_t max, uint64_t *ret_number);

/* query_number() with another error message. */
bool query_number_or(struct request *r, const char *name, uint64_t max, const char *message,
	uint64_t *ret_number);

/* An offset of output, in bytes. */
bool query_offset(struct request *r, const char *name, uint64_t *ret_offset);

/* One of `count` words: *ret_choice is its index. */
bool query_choice(struct request *r, const char *name, const char *const *words, size_t count,
	unsigned *ret_choice);

/* The parameter "encoding", "text" or "base64". */
bool query_encoding(struct request *r, bool *ret_base64);

/* "0" or "1". */
bool query_flag(struct request *r, const char *name, bool *ret_flag);
