/* The standard descriptors 0 to 2. */
#pragma once

/* Open those that are closed, so that no file of ours becomes standard output. Aborts without /dev/null. */
void standard_open(void);
