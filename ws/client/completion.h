/* completion.bash, as it was when the program was built. */
#pragma once

#include <stddef.h>

extern const char completion_bash[];
extern const size_t completion_bash_length;
