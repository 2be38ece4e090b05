/* The HTTP headers that MCP uses. */
#pragma once

#include "ws/request.h"

/* Whether the headers of r are checked: it came over HTTP, and not from `ringside mcp` (?stdio=), which sends none. */
static inline bool mcp_has_headers(const struct request *r)
{
	return r->has_headers && !request_param(r, "stdio");
}
