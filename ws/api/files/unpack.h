/* PUT /api/file/PATH with a tar archive: see unpack.c. */
#pragma once

#include "ws/request.h"

#include <stdbool.h>

/* Whether r brings an archive that is to be unpacked. Returns false when r has been answered, which is wrong. */
bool unpack_is_meant(struct request *r, bool *ret_meant);

/* Handle it. */
void unpack_upload(struct request *r);
