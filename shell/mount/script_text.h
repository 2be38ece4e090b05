/* The script that does the work, as it was when the program was built. */
#pragma once

#include <stddef.h>

extern const char mount_script[];
extern const size_t mount_script_length;
