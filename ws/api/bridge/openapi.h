/* The bridge's description, built into the program. */
#pragma once

#include <stddef.h>

/* ws/api/bridge/openapi.json. */
extern const char bridge_openapi[];

/* Bytes of it. */
extern const size_t bridge_openapi_length;
