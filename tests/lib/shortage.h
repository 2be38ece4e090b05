/*
 * An allocator that fails on demand and counts. For programs that are linked with shortage.c and -Wl,--wrap=malloc and
 * so on: the program's own calls are counted, those of shared libraries are not.
 */
#pragma once

#include <stddef.h>

/* From now on, the n-th call (from 0) of malloc(), calloc() and realloc() and all after it return NULL. */
void shortage_after(size_t n);

/* End the shortage. Returns the number of calls that failed. */
size_t shortage_over(void);

/* Start counting. */
void shortage_count(void);

/* Since then: the number of calls, and the most bytes allocated at once. */
size_t shortage_asked(void);
size_t shortage_peak(void);
