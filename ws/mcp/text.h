/* Converts the output of programs to plain text. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_PLAIN_MAX \
	((size_t)1 << 20) /* bytes that mcp_plain() draws; longer output is only filtered */

/*
 * The text that a terminal shows for this output: without colours and escape sequences, and without
 * what was overwritten (progress bars). Returns valid UTF-8 with a NUL, to be freed; NULL if memory
 * is short.
 */
char *mcp_plain(const char *bytes, size_t length, size_t *ret_length);

/*
 * Shorten a text to its head and tail, max bytes together, with a line between them that gives the
 * number of missing bytes, also in *ret_omitted. text: taken, may be NULL. Returns text to be
 * freed; NULL if memory is short or text is NULL.
 */
char *mcp_clip(char *text, size_t max, uint64_t *ret_omitted);

/* mcp_plain() of head and tail, with a line between them that gives the missing bytes. */
char *mcp_join(const char *head, size_t head_length, const char *tail, size_t tail_length,
	uint64_t omitted);

/* The lines of a screen (of the API) without blank ones at the end. A new reference, or NULL. */
json_t *mcp_lines_text(const json_t *lines);

/* Escape invisible characters (visible.h). text: taken. Returns text to be freed, or NULL. */
char *mcp_escape_text(char *text);

/* Escape all strings in a value: programs and guests choose titles, directories and names. */
void mcp_escape_texts(json_t *value);
