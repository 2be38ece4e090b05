/* The bridge's description, ws/api/bridge/openapi.json, built into the program. */
#pragma once

#include <stddef.h>

extern const char bridge_openapi[];
extern const size_t bridge_openapi_length;
