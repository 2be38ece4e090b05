/* An entered place (shell/files/place.h) in a temporary directory. */
#pragma once

#include "shell/files/place.h"
#include "tests/lib/folder.h"
#include "tests/lib/leak.h"

static inline void placed_enter(struct place *p, struct folder *f)
{
	folder_make(f);
	cr_assert(place_of_directory(p, f->path));
	cr_assert_eq(place_enter(p), 0);
}

static inline void placed_leave(struct place *p, struct folder *f)
{
	place_leave(p);
	folder_remove(f);
	ASSERT_NO_LEAKS();
}
