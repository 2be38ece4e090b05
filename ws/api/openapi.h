/* The API's description, ws/api/openapi.json, built into the program (ws/embed.mjs writes the bytes). */
#pragma once

#include <stddef.h>

extern const unsigned char openapi_document[];
extern const size_t openapi_document_length;
