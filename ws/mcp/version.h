/* The supported revisions of MCP. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#define MCP_VERSION "2026-07-28"        /* without sessions */
#define MCP_VERSION_LEGACY "2025-11-25" /* the newest of those that begin with `initialize` */

/* Whether it is a supported revision that begins with `initialize`. */
bool mcp_version_is_legacy(const char *version);

/* All supported revisions, newest first. Returns a new reference. */
json_t *mcp_versions_json(void);
