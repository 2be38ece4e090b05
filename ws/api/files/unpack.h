/* PUT /api/file/PATH with a tar archive. */
#pragma once

#include "ws/request.h"

#include <stdbool.h>

/* Whether r uploads an archive to unpack. Returns false after it has answered an invalid request. */
bool unpack_is_requested(struct request *r, bool *ret_meant);

/* Handle such a request. */
void unpack_upload(struct request *r);
