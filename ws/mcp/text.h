/* What a program's output looks like as text to be read. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_PLAIN_MAX ((size_t)1 << 20) /* bytes that mcp_plain() takes */

/*
 * What a terminal shows of output: without colours and escape sequences, with what was overwritten left out
 * (progress bars). Valid UTF-8 that ends with a NUL, to be freed; NULL when memory is short.
 */
char *mcp_plain(const char *bytes, size_t length, size_t *ret_length);

/*
 * The head and the tail of a text of more than max bytes, with a line between that says how much is
 * missing, which goes to *ret_omitted as well. text is taken. Returns one to be freed, NULL when memory is
 * short or text is NULL.
 */
char *mcp_clip(char *text, size_t max, uint64_t *ret_omitted);

/* The same of what has been cut already: head and tail bytes of output, and what is missing between. */
char *mcp_join(const char *head, size_t head_length, const char *tail, size_t tail_length,
	uint64_t omitted);

/* Lines of the API as one text, without the blank ones at its end. Returns a new reference, or NULL. */
json_t *mcp_lines_text(const json_t *lines);

/* Have a text made visible; it is taken. The caller's; NULL when memory is short. */
char *mcp_show_text(char *text);

/* Have all texts in a value made visible (visible.h), whatever they are: programs and guests choose titles, directories, names. */
void mcp_show_texts(json_t *value);
