/* The fixture of tests with a temporary directory. */
#pragma once

#include "tests/lib/folder.h"

static struct folder folder;

static inline void folder_set_up(void)
{
	folder_make(&folder);
}

static inline void folder_tear_down(void)
{
	folder_remove(&folder);
}

#define FOLDER_SUITE .init = folder_set_up, .fini = folder_tear_down
