/*
 * Parameters of a request's query, as ws/api/read/body.h has them of bodies: what is absent leaves *ret_… as it is; what is
 * wrong is answered, and false returned.
 */
#pragma once

#include "ws/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole number of at most max. */
bool query_number(struct request *r, const char *name, uint64_t max, uint64_t *ret_number);

/* The same, with what is said of one that is wrong. */
bool query_number_or(struct request *r, const char *name, uint64_t max, const char *message,
	uint64_t *ret_number);

/* An offset of output. */
bool query_offset(struct request *r, const char *name, uint64_t *ret_offset);

/* One of a few words: *ret_choice is which. */
bool query_choice(struct request *r, const char *name, const char *const *words, size_t count,
	unsigned *ret_choice);

/* "0" or "1". */
bool query_flag(struct request *r, const char *name, bool *ret_flag);
