/* The tools for files. */
#pragma once

#include "ws/mcp/call.h"

/* First step of the tool read_file. */
void mcp_read_file(struct mcp_call *c, const struct mcp_answer *a);

/* First step of the tool write_file. */
void mcp_write_file(struct mcp_call *c, const struct mcp_answer *a);
