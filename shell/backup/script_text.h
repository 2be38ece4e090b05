/* The scripts, built into the program. */
#pragma once

#include <stddef.h>

/* create.bash. */
extern const char backup_create_script[];
extern const size_t backup_create_script_length;

/* restore.bash. */
extern const char backup_restore_script[];
extern const size_t backup_restore_script_length;
