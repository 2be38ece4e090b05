/*
 * Memory that runs short when a test says so, and what has been taken of it. For programs that are linked with
 * shortage.c and -Wl,--wrap=malloc and so on: what they are made of asks here, the system's libraries do not.
 */
#pragma once

#include <stddef.h>

/* From now on the n-th of malloc(), calloc() and realloc(), from 0, and all after it return NULL. */
void shortage_after(size_t n);

/* Memory is there again. Returns how many have been refused. */
size_t shortage_over(void);

/* Count anew what is allocated from here on. */
void shortage_count(void);

/* Since then: how often something was asked for, and the most bytes that it came to at once. */
size_t shortage_asked(void);
size_t shortage_peak(void);
