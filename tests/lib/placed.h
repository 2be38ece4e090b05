/* An entered place (shell/files/place.h) in a temporary directory. */
#pragma once

#include "shell/files/place.h"
#include "tests/lib/folder.h"

static struct folder folder;
static struct place place;

/* .init of a suite. */
static inline void placed_enter(void)
{
	folder_make(&folder);
	cr_assert(place_of_directory(&place, folder.path));
	cr_assert_eq(place_enter(&place), 0);
}

/* Its .fini. */
static inline void placed_leave(void)
{
	place_leave(&place);
	folder_remove(&folder);
}
