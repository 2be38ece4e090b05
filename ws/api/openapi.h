/* The API's description, ws/api/openapi.json, built into the program. */
#pragma once

#include <stddef.h>

/* The JSON text. */
extern const char openapi_document[];

/* Bytes of openapi_document. */
extern const size_t openapi_document_length;
