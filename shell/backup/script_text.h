/* The scripts that do the work, as they were when the program was built. */
#pragma once

#include <stddef.h>

extern const char backup_create_script[];
extern const size_t backup_create_script_length;

extern const char backup_restore_script[];
extern const size_t backup_restore_script_length;
