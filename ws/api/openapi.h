/* The API's description, ws/api/openapi.json, built into the program. */
#pragma once

#include <stddef.h>

extern const char openapi_document[];
extern const size_t openapi_document_length;
